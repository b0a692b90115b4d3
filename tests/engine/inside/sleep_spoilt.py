"""Checks of sleeps with a row, an entry or a table that is not what it was; run by ``sleep_faults``."""

from unittest.mock import patch

from mapped_pool import moved
from sleep_beds import BACKED_UP, bed, same_but, whole
from small_banks import raised

from expert_bank.asleep import NotRestored
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


CHECKS = (
    a_mirrors_row_that_was_spoilt_meanwhile_is_named,
    a_mirrors_row_that_was_spoilt_before_keeps_the_hot_one,
    an_entry_that_is_not_the_hosts_is_named,
    a_table_that_is_not_whole_by_its_own_check_is_told,
    an_entry_that_is_torn_is_mended_first_or_refused,
)
