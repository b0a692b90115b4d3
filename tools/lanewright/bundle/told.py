"""A run in Markdown: what ran, what is carried, and what was proven of it."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from lanewright.bundle.recorded import Carried, Recorded
from lanewright.history.band import BASELINE
from lanewright.history.forms import Equality, Proof, Record
from lanewright.history.measured import Measured
from lanewright.report.marks import plain, table
from lanewright.report.outcome import counted


def run_told(
    found: Recorded, beside: Mapping[str, str], autotune: Sequence[str], level: str
) -> list[str]:
    """Tell a run; what there is nothing of is said.

    Args:
        found: The run.
        beside: What the bundle has of it beside its folder, or why it has not, by what that is.
        autotune: Digests of what it tuned.
        level: Marks of the heading.
    """
    lane, name = found.run.key
    lines = [f"{level} Lane {plain(lane)}, run {plain(name)}", ""]
    facts = [*_facts(found), *beside.items()]
    facts.append(("autotune file", "; ".join(autotune) or "not known: no log names one"))
    lines += [*table(("", ""), ((what, plain(told)) for what, told in facts)), ""]
    record = found.record
    if record is None or found.facts is None:
        return lines
    for title, part in (
        ("What it carries", _entries(found.facts.entries)),
        ("Equality with the unpatched pin", _equality(record.equality)),
        ("What is proven", [*_proofs(record)]),
        ("Throughput", _speeds(found.measured)),
    ):
        told = part or ["Nothing: the run did not come so far, or was not asked to."]
        lines += [f"{level}# {title}", "", *told, ""]
    return lines


def _facts(found: Recorded) -> Iterator[tuple[str, str]]:
    record, facts = found.record, found.facts
    if record is None or facts is None:
        yield "record", found.why
        return
    environment = facts.environment
    yield "verdict", record.verdict
    if record.error:
        yield f"error, exit code {record.error.exit_code}", record.error.message
    yield "pin", f"{record.pin.ref} (commit {record.pin.commit})"
    yield "tree", record.tree
    yield "layer", record.layer.digest if record.layer else "none"
    yield "equality", record.equality.verdict if record.equality else "not compared"
    yield "began, ended", f"{record.started}, {record.finished}"
    yield "lanewright", record.lanewright
    ran = [
        f"{what} {version or 'not known'}"
        for what, version in (
            ("vLLM", environment.vllm),
            ("torch", environment.torch),
            ("Python", environment.python),
        )
    ]
    yield "versions", ", ".join(ran)
    yield "machine", f"{environment.machine}, environment {environment.base}"
    if facts.shims:
        yield "shims", f"{', '.join(facts.shims)}: stand in for what this machine lacks"
    yield "model", f"{facts.model.name} ({facts.model.hash})" if facts.model else "none was served"


def _entries(entries: Sequence[Carried]) -> list[str]:
    head = ("entry", "what it is", "pull request", "head", "what became of it")
    rows = []
    for entry in entries:
        outcomes = Counter(hunk.outcome for hunk in entry.hunks)
        came_to = ", ".join(f"{count} {outcome}" for outcome, count in outcomes.items())
        pull = entry.pull
        cells = [
            *(entry.name, f"{entry.kind} {entry.source}"),
            *((f"#{pull.number}", pull.head) if pull else ("", "")),
            came_to or f"{counted(len(entry.files), 'file')} laid in",
        ]
        rows.append(map(plain, cells))
    return table(head, rows)


def _equality(equality: Equality | None) -> list[str]:
    if equality is None:
        return []
    head = ("mode", "verdict", "arm", "role", "equal", "first divergence")
    rows = [
        map(
            plain,
            (
                *(mode.mode, mode.verdict, row.arm, row.role, f"{row.equal}/{row.prompts}"),
                f"index {row.first.index}" if row.first else "",
            ),
        )
        for mode in equality.modes
        for row in mode.rows
    ]
    resumed = [
        f"{plain(arm)} was booted in run {plain(origin.run)}.  "
        for arm, origin in equality.resumed.items()
    ]
    return [*table(head, rows), *([""] if resumed else []), *resumed]


def _proofs(record: Record) -> Iterator[str]:
    for place, boot in (("offline", record.boots.offline), ("server", record.boots.server)):
        yield from (_proof(place, proof) for proof in (boot.proofs if boot else ()))
    for arm, proofs in (record.equality.proofs if record.equality else {}).items():
        yield from (_proof(arm, proof) for proof in proofs)


def _proof(place: str, proof: Proof) -> str:
    return f"- {plain(place)}, {plain(proof.feature)} {'on' if proof.on else 'off'}: {plain(proof.text)}"


def _speeds(measured: Sequence[Measured]) -> list[str]:
    """Tokens a second; beside the baseline's of the same mode where one run measured both."""
    head = ("boot or arm", "tokens", "seconds", "tokens/s", "of the baseline's")
    rates = [
        (each, took, each.tokens / took)
        for each in measured
        if (took := each.seconds.get(each.answering))
    ]
    bases = {each.mode: (each.run, rate) for each, _, rate in rates if each.arm == BASELINE}
    rows = []
    for each, took, rate in rates:
        run, base = bases.get(each.mode, (each.run, 0.0))
        beside = f"{rate / base:.3f}" if base > 0 and run == each.run else ""
        cells = (each.place, f"{each.tokens}", f"{took:.1f}", f"{rate:.1f}", beside)
        rows.append(map(plain, cells))
    return table(head, rows)
