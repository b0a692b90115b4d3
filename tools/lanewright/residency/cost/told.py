"""An estimate for people."""

from collections.abc import Iterator

from expert_bank.sizes import told
from lanewright.residency.cost.estimate import Estimate
from lanewright.residency.cost.fit_told import fit_lines
from lanewright.residency.cost.tiers import Tiers
from lanewright.residency.cost.times import of_step, time, times

NOT_SAID = "is not said: say [machine]"


def lines(found: Estimate) -> Iterator[str]:
    """Tell an estimate, part by part."""
    model, machine = found.model, found.machine.machine
    yield (
        f"{model.name}: {model.layers} MoE layers of {model.experts} experts, {model.picks} a token;"
        f" {told(model.row)} each ({model.row_is}), {told(model.layer_bytes)} a layer, {told(model.bytes)}"
    )
    yield (
        f"hot {told(model.hot_bytes)}, cold {told(model.cold_bytes)};"
        f" {machine.device} of device memory, {machine.host} of host memory"
    )
    yield ""
    yield from _tier_lines(found.tiers)
    yield ""
    yield from _token_lines(found)
    yield ""
    yield from _step_lines(found)
    yield ""
    yield from _slot_lines(found)
    yield from _copy_lines(found)
    yield from _cache_lines(found)
    yield from _disk_lines(found)
    yield from _counter_lines(found)
    if found.fit:
        yield ""
        yield from fit_lines(found.fit)


def _tier_lines(found: Tiers) -> Iterator[str]:
    yield "one expert"
    yield (
        f"  from device memory {NOT_SAID} hbm"
        if found.hbm_row is None
        else f"  from device memory {time(found.hbm_row)}"
    )
    yield f"  from host memory   {time(found.link_row)}, in place or copied; a whole layer {time(found.link_layer)}"
    if found.nvme_row is None or found.nvme_rows is None or found.nvme_layer is None:
        yield f"  from the disk      {NOT_SAID} nvme"
        return
    low, high = found.nvme_rows
    yield (
        f"  from the disk      {times(found.nvme_row)}, {low:.0f} to {high:.0f} times as long;"
        f" a whole layer {times(found.nvme_layer)}"
    )


def _token_lines(found: Estimate) -> Iterator[str]:
    yield "cold reads of one token (each pick read once, no overlap), and from the disk"
    width = max(map(len, found.token), default=0)
    for name, each in found.token.items():
        share = "" if each.of_step is None else f", {each.of_step:.1%} of a step"
        disk = "" if each.nvme_seconds is None else f"; {times(each.nvme_seconds)} from the disk"
        yield (
            f"  {name:<{width}}  {each.cold_share:6.1%} cold: {time(each.seconds):>8}{share},"
            f" {told(int(each.bytes))}{disk}"
        )
    if 1 not in found.machine.steps:
        yield "  what that is of a step is not said: say [steps] 1 in a machine file"


def _step_lines(found: Estimate) -> Iterator[str]:
    reading = found.reading
    whence = {
        "given": "as asked for",
        "fitted": "fitted on one user, see below",
        "one": "for nothing says more: give --tokens",
    }[found.tokens_from]
    yield (
        f"cold reads of a step: different experts of {reading.tokens:.2f} tokens a user ({whence}),"
        f" {reading.overlap:.0%} hidden, skew {reading.skew:g}"
    )
    width = max(map(len, found.steps), default=0)
    for name, by_users in found.steps.items():
        for users, each in by_users.items():
            share = (
                "" if each.step is None else f", {of_step(each.of_step)} of its {time(each.step)}"
            )
            yield (
                f"  {name:<{width}}  {_users(users):>8}: {each.layer_rows:5.1f} rows a layer, {each.rows:6.0f}"
                f" in all, {time(each.seconds):>8}{share}"
            )
    if found.fit or found.machine.steps:
        yield "  steps are as they were measured, with the map of that time: colder picks make them longer"


def _slot_lines(found: Estimate) -> Iterator[str]:
    slots = found.slots
    line = (
        f"{slots.of_layer} slots a layer: {slots.rows} rows, {told(slots.bytes)} of device memory"
    )
    if slots.kv_tokens is None:
        yield f"{line}; what that is of KV cache {NOT_SAID} kv_tokens"
        return
    line += f", {slots.kv_tokens / 1e6:.2f} M tokens of KV cache"
    if slots.of_pool is None or slots.pool_tokens is None or slots.left_tokens is None:
        yield f"{line}; how much there is {NOT_SAID} kv_pool"
        return
    yield (
        f"{line}: {slots.of_pool:.0%} of {slots.pool_tokens / 1e6:.2f} M,"
        f" {slots.left_tokens / 1e6:.2f} M are left"
    )


def _copy_lines(found: Estimate) -> Iterator[str]:
    each = found.copies
    yield (
        f"a copy pays {NOT_SAID} hbm"
        if each.break_even_reads is None
        else f"a copy pays from {each.break_even_reads:.2f} reads of the row on: at the {_th(each.reads)} one;"
        " copied ahead of a right guess, at the first"
    )
    yield (
        f"turnover: {each.rows_per_second:.0f} rows a second, the whole cold bank in"
        f" {time(each.bank_seconds)}; {each.swaps} swaps in a barrier of {told(each.budget)}, {time(each.barrier_seconds)};"
        f" counts to read there {told(each.counts_bytes)}"
    )


def _cache_lines(found: Estimate) -> Iterator[str]:
    if found.cache is None:
        yield f"the device's last cache {NOT_SAID} l2"
        return
    yield f"cold bytes of a layer's step are more than the last cache ({told(found.cache.bytes)})"
    width = max(map(len, found.cache.over_from), default=0)
    for name, users in found.cache.over_from.items():
        yield f"  {name:<{width}}  {'with no number of users' if users is None else f'from {_users(users)} on'}"


def _disk_lines(found: Estimate) -> Iterator[str]:
    each = found.disk
    if each is None:
        yield f"what a disk is good for {NOT_SAID} nvme"
        return
    if each.needed:
        yield (
            f"disk: a tier for capacity: {told(each.experts)} of experts are more than the"
            f" {told(each.room)} that hot bank and host memory have"
        )
    else:
        yield (
            f"disk: no tier, a place to load from: {told(each.experts)} of experts fit; from {told(each.room)} on"
            " (hot bank and host memory) some must be there"
        )
    if each.gb_per_second is not None:
        yield (
            f"  for a token's cold reads to take a tenth of a step it had to read"
            f" {each.gb_per_second:.0f} GB/s, at the smallest cold share"
        )


def _counter_lines(found: Estimate) -> Iterator[str]:
    for each in found.counter.values():
        share = "" if each.of_step is None else f", {each.of_step:.2%} of a step"
        yield (
            f"a counter, as measured at {each.tokens} tokens ({each.picks} picks a layer):"
            f" {time(each.seconds)} a step{share}"
        )


def _users(users: int) -> str:
    return "1 user" if users == 1 else f"{users} users"


def _th(number: int | None) -> str:
    return {1: "first", 2: "second", 3: "third"}.get(number or 0, f"{number}th")
