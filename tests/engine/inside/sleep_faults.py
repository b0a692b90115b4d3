"""Checks of sleeps that something stands against: ``sleep_faults.py RESULT``; needs torch, not vLLM."""

from collections.abc import Callable
from functools import partial

from checks import tell
from mapped_pool import moved
from sleep_beds import BACKED_UP, Bed, bed, same_but, unused, whole
from sleep_spoilt import CHECKS as SPOILT
from small_banks import MODES, raised

from expert_bank.barrier import Moved
from expert_bank.refused import Refused


def refused(act: Callable[[], object], of: Bed, error: type[Exception] = Refused) -> str:
    """What is said of what must leave all as it was."""
    before = of.pool.seen()
    try:
        act()
    except error as told:
        # Within: what the error holds is not gone yet.
        of.require_nothing_kept()
        assert same_but(before, of, [])
        assert not any(each.asleep for each in of.pool.held)
        whole(of)
        return str(told)
    raise AssertionError(f"no {error.__name__}")


def host_memory_without_room_is_told_before_anything_is_taken() -> None:
    """By its numbers; of exclusive banks what vLLM takes, in powers of two."""
    for mode in MODES:
        of = bed([4, 3], mode)
        sizes = [each.place.length for each in of.pool.held if each.tag == "weights"]
        runtime = [each.place.length for each in of.pool.held if each.tag == "runtime"]
        rows = sum(t.hot.nbytes for b in of.made.two_bank.swapper.banks for t in b.tensors)
        backed = sum(1 << (each - 1).bit_length() for each in runtime)
        if mode == "mirror":
            need = sum(sizes) - rows + backed
        else:
            need = backed + sum(1 << (each - 1).bit_length() for each in sizes)
        of.left = need - 1
        told = refused(of.fall, of)
        assert "of host memory are needed" in told
        assert "the machine: " in told
        assert ("moe_cold_rows mirror" in told) == (mode == "exclusive")
        assert (of.pages, of.pool.moves) == ([], 0)
        of.left, of.reusable = need - backed, 2 * backed
        if mode == "mirror":
            of.fall()
        else:
            of.left = need - of.reusable - 1
            assert "of host memory are needed" in refused(of.fall, of)
            of.left += 1
            of.fall()


def a_copy_that_fails_midway_leaves_all_as_it_was() -> None:
    """Wherever it fails; and so does host memory that the device does not take."""
    of = bed([4, 3], "mirror", poison=True)
    asleep = of.fall()
    copies = of.pool.moves
    assert copies > 3
    of.pool.sleep(BACKED_UP["mirror"])
    of.pool.wake()
    asleep.end()
    asleep.kept.close()

    def fails(at: int, to: int, source: int, length: int) -> None:
        if of.pool.moves == at:
            raise RuntimeError("an illegal memory access was encountered")
        moved(to, source, length)

    for at in range(1, copies + 1):
        of.pool.moves, of.pool.move_with = 0, partial(fails, at)
        assert "illegal memory access" in refused(of.fall, of, RuntimeError)
    of.refuses = True
    of.pool.move_with = moved
    of.known.clear()
    told = raised(Refused, of.fall)
    assert "status 1" in told
    assert of.made.two_bank.barrier.closed == []
    assert all(each.closed for each in of.pages)


def a_copy_back_that_fails_can_be_made_again() -> None:
    """What is kept stays, and so does the closed barrier."""
    of = bed([4, 3], "mirror")
    before = of.pool.seen()
    asleep = of.fall()
    of.pool.sleep(BACKED_UP["mirror"])
    of.pool.wake()

    def fails(_to: int, _source: int, _length: int) -> None:
        raise RuntimeError("no")

    of.pool.move_with = fails
    assert raised(RuntimeError, asleep.end) == "no"
    assert of.made.two_bank.barrier.closed == ["sleep"]
    of.pool.move_with = moved
    asleep.end()
    assert same_but(before, of, unused(of))
    whole(of)


def a_pool_or_a_bank_that_is_elsewhere_is_told() -> None:
    """A graph would go on reading the old place."""
    for which in ("pool", "bank"):
        of = bed([4, 3], "mirror")
        asleep = of.fall()
        of.pool.sleep(BACKED_UP["mirror"])
        of.pool.wake()
        if which == "pool":
            first = next(each for each in of.pool.held if each.tag == "weights")
            of.pool.held.remove(first)
            told = raised(Moved, asleep.end)
            assert f"at {first.place.start:#x} are none of vLLM's any more" in told
        else:
            rows = of.made.two_bank.swapper.banks[1].tensors[0]
            rows.hot.data = rows.hot.clone()
            assert "a bank or a table moved" in raised(Moved, asleep.end)
        assert of.made.two_bank.barrier.closed == ["sleep"]


CHECKS = (
    *SPOILT,
    host_memory_without_room_is_told_before_anything_is_taken,
    a_copy_that_fails_midway_leaves_all_as_it_was,
    a_copy_back_that_fails_can_be_made_again,
    a_pool_or_a_bank_that_is_elsewhere_is_told,
)


if __name__ == "__main__":
    tell(CHECKS)
