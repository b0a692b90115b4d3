"""A record, told in a few lines."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from lanewright.queue.lock import LockedEntry
from lanewright.report.outcome import in_one_line
from lanewright.serve.equality import told

SHOWN_IDS = 8


def summary(record: Mapping[str, Any]) -> str:
    """Tell a record to a person.

    Args:
        record: As ``record.schema.json`` has it.
    """
    return "\n".join(lines(record))


def lines(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of a summary."""
    pin, environment = record["pin"], record["environment"]
    yield f"lane {record['lane']}: {record['verdict']}"
    yield f"  pin      {pin['ref']} (commit {pin['commit'][:12]})"
    yield f"  tree     {record['tree']}"
    if record["layer"]:
        yield f"  layer    {record['layer']['digest']} ({record['layer']['size']} bytes)"
    for entry in record["entries"]:
        carried = msgspec.convert(entry, LockedEntry)
        yield f"  {carried.kind:<8} {carried.name}: {in_one_line(carried)}"
    yield (
        f"  runs on  vLLM {environment['vllm']}, torch {environment['torch']}, "
        f"Python {environment['python']}, {environment['machine']}"
    )
    if environment["base"].startswith("sha256:"):
        yield f"  image    {environment['base']}: it ran in containers of that"
    if record.get("shims"):
        yield f"  shims    {', '.join(record['shims'])}: of this machine, under pin and lane alike"
    if record["model"]:
        yield f"  model    {record['model']['name']}"
    yield from offline(record["boots"]["offline"])
    yield from server(record["boots"]["server"], agree=record["agree"])
    yield from equal(record["equality"])
    if record["usage"]:
        yield f"  usage    {record['folder']}/{record['usage']}"
    if record["error"]:
        first, *_ = record["error"]["message"].splitlines()
        yield f"  error    {first}"
    yield f"  record   {record['folder']}/record.json"


def offline(boot: Mapping[str, Any] | None) -> Iterator[str]:
    """Tell an offline boot."""
    if boot is None:
        return
    yield f"  offline  {answers(boot)}; {seconds(boot)}"
    first = boot["completions"][0]
    shown = " ".join(map(str, first["ids"][:SHOWN_IDS]))
    yield f"           {first['prompt']!r} -> {shown} ..."
    yield from proof(boot)


def server(boot: Mapping[str, Any] | None, *, agree: bool | None) -> Iterator[str]:
    """Tell a server boot."""
    if boot is None:
        return
    yield f"  server   port {boot['port']}, healthy, {answers(boot)}; {seconds(boot)}"
    yield f"           the same tokens as offline: {'yes' if agree else 'no (told, not judged)'}"
    yield from proof(boot)


def answers(boot: Mapping[str, Any]) -> str:
    """Count completions and tokens."""
    count = sum(len(each["ids"]) for each in boot["completions"])
    return f"{len(boot['completions'])} greedy completions, {count} tokens"


def seconds(boot: Mapping[str, Any]) -> str:
    """Tell a boot's times."""
    return ", ".join(f"{name} {took:.1f} s" for name, took in boot["seconds"].items())


def proof(boot: Mapping[str, Any]) -> Iterator[str]:
    """Tell what is proven of each feature, and of which workers."""
    workers = ", ".join(str(worker["pid"]) for worker in boot["status"])
    for each in boot["proofs"]:
        yield f"           proof of {each['feature']}, worker {workers}: {each['text']}"


def equal(equality: Mapping[str, Any] | None) -> Iterator[str]:
    """Tell how the lane's answers compare with its baseline's."""
    if equality is None:
        return
    less = ", of less than by default" if equality.get("fewer") else ""
    resumed = ", resumed" if equality.get("resumed") else ""
    yield (
        f"  equality {equality['verdict']}{less}{resumed}: baseline is the unpatched pin's tree"
        f" {equality['baseline'][:12]}, {equality['tokens']} tokens a prompt; exchanged: the first"
        f" and last expert's rows in {equality['exchanged']}"
    )
    yield from (f"           {line}" for line in told.lines(equality))
    for arm, proofs in equality["proofs"].items():
        for each in proofs:
            yield f"           proof of {each['feature']} in {arm}: {each['text']}"
