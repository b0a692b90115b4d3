"""Checks of two banks asleep, in memory that really goes: ``sleep.py RESULT``; needs torch, not vLLM."""

import random
from dataclasses import replace

from checks import tell
from mapped_pool import bytes_at, dies, moved
from sleep_beds import BACKED_UP, Bed, bed, same_but, swap, unused, whole
from small_banks import MODES, picks, raised

from expert_bank.forced import Forced
from expert_bank.plan import Mode
from expert_bank.poison import NAN
from expert_bank.ranges import Range
from expert_bank.refused import Refused
from expert_bank.sizes import told
from expert_bank.sleep_rows import against_waking
from expert_bank.staging.making import stage
from expert_bank.staging.room import stage_room
from expert_bank.steering import follow, force, freeze, hot_experts, set_map
from expert_bank.swaps import Swap


def all_is_as_before_whatever_the_layout() -> None:
    """Rows, tables, addresses and every other byte of the weights; swaps before, between and after."""
    for seed in range(LAYOUTS):
        draw = random.Random(seed)  # noqa: S311 - no secret
        mode, poison = MODES[seed % 2], seed % 4 < 2
        of = bed([draw.randrange(10), draw.randrange(10)], mode, seed, poison=poison)
        banks = of.made.two_bank.swapper.banks
        addresses = [each.addresses() for each in banks]
        for _ in range(ROUNDS):
            swap(of, draw, 6)
            table = of.made.two_bank.table.host.copy()
            before, runtime = of.pool.seen(), of.pool.seen("runtime")
            ids = picks(seed, 6)
            answer = of.made.forward(ids)
            asleep = of.fall()
            of.pool.sleep(BACKED_UP[mode])
            assert not asleep.mapped()
            of.pool.wake()
            assert asleep.mapped()
            hot = zip(banks, hot_experts(of.made.two_bank), strict=True)
            assert asleep.end() == sum(len(each) for bank, each in hot if bank.mirrors)
            asleep.kept.close()
            of.require_nothing_kept()
            assert same_but(before, of, unused(of)), (seed, mode)
            assert all(blank(of, each) for each in unused(of))
            assert runtime[0].equal(of.pool.seen("runtime")[0])
            assert (table == of.made.two_bank.table.host).all()
            assert addresses == [each.addresses() for each in banks]
            whole(of)
            assert of.made.forward(ids).equal(answer)
        swap(of, draw, 6)
        whole(of)


ROUNDS, LAYOUTS = 3, 24


def blank(of: Bed, rows: Range) -> bool:
    """Whether nothing stale is in rows that no entry points to."""
    fill = NAN if of.poisoned else 0
    return bool((bytes_at(rows) == fill).all())


def hot_rows_are_kept_by_the_mirror_alone() -> None:
    """Host memory takes the weights without them, to the byte; a layer that is all hot has no mirror."""
    for hot, mirrored in (([4, 3], (0, 1)), ([9, 3], (1,)), ([0, 9], ())):
        of = bed(hot, "mirror")
        weights = sum(each.place.length for each in of.pool.held if each.tag == "weights")
        banks = of.made.two_bank.swapper.banks
        rows = sum(each.hot.nbytes for layer in mirrored for each in banks[layer].tensors)
        asleep = of.fall()
        assert asleep.line == (
            f"{told(weights - rows)} of weights kept in host memory, {told(rows)} of hot rows left to"
            " the mirror"
        )
        assert asleep.kept.size == weights - rows
        assert [each.asked for each in of.pages] == [weights - rows]
        of.pool.sleep(BACKED_UP["mirror"])
        of.pool.wake()
        asleep.end()
        whole(of)


def a_staging_buffer_is_not_kept_and_is_staged_into_again() -> None:
    """It has nothing that is not copied anew; behind a sleep as before it."""
    of = bed([4, 3], "mirror")
    two_bank = of.made.two_bank
    swapper, cold = two_bank.swapper, [5, 6]
    size = swapper.banks[0].row_bytes
    room = stage_room("2", cold=cold, row_bytes=[size, size])
    rows = {
        each.name: of.pool.room(room.rows * each.hot[0].nbytes)
        .view(each.hot.dtype)
        .view(room.rows, *each.hot.shape[1:])
        for each in swapper.banks[0].tensors
    }
    swapper.banks = tuple(
        replace(bank, tensors=tuple(replace(each, stage=rows[each.name]) for each in bank.tensors))
        for bank in swapper.banks
    )
    stage(two_bank, room, poison=False)
    hot = sum(each.hot.nbytes for bank in swapper.banks for each in bank.tensors)
    weights = sum(each.place.length for each in of.pool.held if each.tag == "weights")
    for number in (1, 2):
        asleep = of.fall()
        assert asleep.kept.size == weights - hot - room.bytes
        assert asleep.line.endswith(f"{told(room.bytes)} of staging buffer let go")
        of.pool.sleep(BACKED_UP["mirror"])
        of.pool.wake()
        asleep.end()
        asleep.kept.close()
        whole(of)
        staging = two_bank.staging
        assert staging is not None
        with two_bank.step(10_000, prefill=True):
            for layer in range(2):
                assert staging.enter(layer) is staging.layers[layer].table
        assert (staging.off, staging.done.bytes) == ("", number * sum(cold) * size)


def exclusive_banks_leave_all_to_vllm() -> None:
    """Nothing is kept twice."""
    of = bed([4, 3], "exclusive")
    asleep = of.fall()
    assert (asleep.kept.size, of.pages, of.pool.moves) == (0, [], 0)
    weights = sum(each.place.length for each in of.pool.held if each.tag == "weights")
    assert asleep.line == f"vLLM backs up {told(weights)} of weights"
    of.pool.sleep(BACKED_UP["exclusive"])
    of.pool.wake()
    assert asleep.end() == 0
    whole(of)


def without_any_of_it_all_hot_rows_and_entries_are_named() -> None:
    """The negative control: discarded, and awake again."""
    of = bed([4, 3], "mirror")
    of.pool.sleep(BACKED_UP["mirror"])
    of.pool.wake()
    found = [*against_waking(of.made.two_bank)]
    rows = [each for each in found if "is not what was loaded" in each]
    entries = [each for each in found if "the device's table has it elsewhere" in each]
    assert (len(rows), len(entries)) == (7, 18)


def what_is_asleep_is_not_touched() -> None:
    """Reading it would end the process; what may be asked meanwhile goes on, or is refused."""
    for mode in MODES:
        asked_asleep(bed([4, 3], mode), mode)


def asked_asleep(of: Bed, mode: Mode) -> None:
    """Ask for all of it."""
    two_bank = of.made.two_bank
    hot = hot_experts(two_bank)
    follow(two_bank, "8")
    asleep = of.fall()
    of.pool.sleep(BACKED_UP[mode])
    assert dies(of.made.wrong)
    two_bank.table.is_hot()
    promote, demote = min({*range(9)} - {*hot[0]}), hot[0][0]
    refused = "no row may be swapped during sleep"
    assert raised(Refused, lambda: two_bank.barrier.swap([Swap(0, promote, demote)])) == refused
    other = [sorted({promote, *hot[0]} - {demote}), hot[1]]
    assert raised(Refused, lambda: set_map(two_bank, other)) == refused
    said = raised(Refused, lambda: two_bank.require_awake("the audit"))
    assert said == "the audit: the weights are asleep\nwake_up brings them back"
    freeze(two_bank, frozen=True)
    follow(two_bank, "16")
    force(two_bank, Forced(1, 1, 1))
    two_bank.barrier.forward()
    two_bank.barrier.limit(100, None)
    assert two_bank.told()["closed"] == ["sleep"]
    assert two_bank.barrier.totals.swaps == 0
    assert hot_experts(two_bank) == hot
    of.pool.wake()
    asleep.end()
    two_bank.require_awake("the audit")
    whole(of)
    two_bank.barrier.forward()
    assert two_bank.barrier.totals.swaps > 0
    whole(of)


def weights_that_wake_last_are_waited_for() -> None:
    """And those that wake first are whole while the rest sleeps; then all sleeps again."""
    of = bed([4, 3], "mirror")
    asleep = of.fall()
    of.pool.sleep(BACKED_UP["mirror"])
    of.pool.wake(["kv_cache", "runtime"])
    assert not asleep.mapped()
    assert of.made.two_bank.barrier.closed == ["sleep"]
    of.pool.sleep(BACKED_UP["mirror"])
    of.pool.wake(["weights"])
    assert asleep.mapped()
    asleep.end()
    whole(of)
    swap(of, random.Random(3), 4)  # noqa: S311 - no secret
    again = of.fall()
    of.pool.sleep(BACKED_UP["mirror"])
    of.pool.wake()
    again.end()
    whole(of)


def the_device_is_drained_before_a_byte_is_read() -> None:
    """And before what was put back is read."""
    of = bed([4, 3], "mirror")
    happened: list[str] = []
    of.made.two_bank.barrier.drain = lambda: happened.append("drained")

    def told(to: int, source: int, length: int) -> None:
        happened.append("moved")
        moved(to, source, length)

    of.pool.move_with = told
    asleep = of.fall()
    assert happened[:2] == ["drained", "moved"]
    of.pool.sleep(BACKED_UP["mirror"])
    of.pool.wake()
    happened.clear()
    asleep.end()
    assert happened[-1] == "drained"
    assert set(happened[:-1]) == {"moved"}


CHECKS = (
    all_is_as_before_whatever_the_layout,
    hot_rows_are_kept_by_the_mirror_alone,
    a_staging_buffer_is_not_kept_and_is_staged_into_again,
    exclusive_banks_leave_all_to_vllm,
    without_any_of_it_all_hot_rows_and_entries_are_named,
    what_is_asleep_is_not_touched,
    weights_that_wake_last_are_waited_for,
    the_device_is_drained_before_a_byte_is_read,
)


if __name__ == "__main__":
    tell(CHECKS)
