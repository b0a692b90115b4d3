"""Checks of sleeps that something stands against: ``sleep_faults.py RESULT``; needs torch, not vLLM."""

from collections.abc import Callable
from functools import partial
from unittest.mock import patch

from checks import tell
from mapped_pool import moved
from sleep_beds import BACKED_UP, Bed, bed, same_but, unused, whole
from small_banks import MODES, raised

from expert_bank.asleep import NotRestored
from expert_bank.barrier import Moved
from expert_bank.refused import Refused
from expert_bank.steering import hot_experts


def a_mirrors_row_that_was_spoilt_meanwhile_is_named() -> None:
    """By layer and expert; the barrier stays closed, and what mends it can be tried."""
    of = bed([4, 3], "mirror")
    expert = hot_experts(of.made.two_bank)[1][2]
    asleep = of.fall()
    of.pool.sleep(BACKED_UP["mirror"])
    of.spoil(1, expert)
    of.pool.wake()
    for _ in range(2):
        told = raised(NotRestored, asleep.end)
        assert f"layers.1.experts, expert {expert}: hot row" in told
        assert "of w13_weight is not what was loaded" in told
        assert "layers.0" not in told
        assert of.made.two_bank.barrier.closed == ["sleep"]
    of.spoil(1, expert)
    asleep.end()
    whole(of)


def a_mirrors_row_that_was_spoilt_before_keeps_the_hot_one() -> None:
    """It is refused before anything is let go, and named."""
    of = bed([4, 3], "mirror")
    expert = hot_experts(of.made.two_bank)[0][1]
    before = of.pool.seen()
    of.spoil(0, expert)
    told = raised(Refused, of.fall)
    assert f"layers.0.experts, expert {expert}: cold row {expert} of w13_weight is not" in told
    assert "nothing was discarded" in told
    of.require_nothing_kept()
    assert same_but(before, of, [])
    of.spoil(0, expert)
    whole(of)


def an_entry_that_is_not_the_hosts_is_named() -> None:
    """One that came back otherwise, and one that was otherwise before."""
    of = bed([4, 3], "mirror")
    table = of.made.two_bank.table.device[1]
    asleep = of.fall()
    of.pool.sleep(BACKED_UP["mirror"])
    of.pool.wake()

    def elsewhere(to: int, source: int, length: int) -> None:
        moved(to, source, length)
        if to <= table.data_ptr() < to + length:
            table[2, 5] += 1

    of.pool.move_with = elsewhere
    told = raised(NotRestored, asleep.end)
    assert "layers.1.experts, expert 5: the device's table has it elsewhere" in told
    of.pool.move_with = moved
    asleep.end()
    table[2, 5] += 1
    told = raised(Refused, of.fall)
    assert "layers.1.experts, expert 5: the device's table has it elsewhere" in told
    assert of.made.two_bank.barrier.closed == []


def a_table_that_is_not_whole_by_its_own_check_is_told() -> None:
    """A pull request's has more than entries."""
    of = bed([4, 3], "mirror")
    asleep = of.fall()
    of.pool.sleep(BACKED_UP["mirror"])
    of.pool.wake()
    with patch.object(of.made.two_bank.table, "agrees", lambda: False):
        told = raised(NotRestored, asleep.end)
        assert "not as before: the device's table is not whole by its own check\n" in told
    asleep.end()
    with patch.object(of.made.two_bank.table, "agrees", lambda: False):
        assert "is not whole by its own check" in raised(Refused, of.fall)
    whole(of)


def an_entry_that_is_torn_is_mended_first_or_refused() -> None:
    """Else the device would have another after waking, and nobody could tell whether it was so."""
    of = bed([4, 3], "mirror")
    table = of.made.two_bank.table
    writes, good = [0], table.write_entry

    def fails(layer: int, expert: int) -> None:
        writes[0] += 1
        raise OSError(f"no write {writes[0]} of {layer}, {expert}")

    table.write_entry = fails  # type: ignore[method-assign]
    assert raised(OSError, lambda: table.point(0, 2, 1, 2))
    assert table.torn[0] == {2}
    told = raised(Refused, of.fall)
    assert "layers.0.experts: an entry's failed change cannot be taken back: OSError" in told
    of.require_nothing_kept()
    table.write_entry = good  # type: ignore[method-assign]
    asleep = of.fall()
    assert table.torn[0] == set()
    of.pool.sleep(BACKED_UP["mirror"])
    of.pool.wake()
    asleep.end()
    whole(of)


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
    a_mirrors_row_that_was_spoilt_meanwhile_is_named,
    a_mirrors_row_that_was_spoilt_before_keeps_the_hot_one,
    an_entry_that_is_not_the_hosts_is_named,
    a_table_that_is_not_whole_by_its_own_check_is_told,
    an_entry_that_is_torn_is_mended_first_or_refused,
    host_memory_without_room_is_told_before_anything_is_taken,
    a_copy_that_fails_midway_leaves_all_as_it_was,
    a_copy_back_that_fails_can_be_made_again,
    a_pool_or_a_bank_that_is_elsewhere_is_told,
)


if __name__ == "__main__":
    tell(CHECKS)
