"""The commands of the queue, each with the state that it starts from."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass

from tests.upstream.fixtures import Carrying
from tests.upstream.stand_in.force_push import force_push

POOL, ROWS, BATCH = "96177", "97943", "91474"
TO = ("rebase", "--to", "0.32.0")


@dataclass(frozen=True)
class Scenario:
    """A command, and where it starts from.

    Attributes:
        name: Of the scenario.
        argv: The command.
        prepare: Brings the project there.
        code: What the command ends with.
        again: What it ends with where it was done already; None where it is not run twice.
    """

    name: str
    argv: tuple[str, ...]
    prepare: Callable[[Carrying], None]
    code: int = 0
    again: int | None = 0


def carried(carrying: Carrying, *numbers: str) -> None:
    for number in numbers or (ROWS, BATCH):
        assert carrying.run("add", number) == 0


def in_conflict(carrying: Carrying) -> None:
    carried(carrying, ROWS, BATCH, POOL)


def pushed(carrying: Carrying) -> None:
    carried(carrying, POOL)
    force_push(carrying.upstream, int(POOL))


def stopped(carrying: Carrying) -> None:
    carried(carrying, ROWS, POOL)
    assert carrying.run(*TO) == 3


def laid_out(carrying: Carrying) -> None:
    stopped(carrying)
    carrying.unmark(POOL)


def resolved(carrying: Carrying) -> None:
    carried(carrying, ROWS, POOL)
    assert carrying.run(*TO) == 3
    carrying.settle(POOL)


def rebased(carrying: Carrying) -> None:
    carried(carrying)
    assert carrying.run(*TO) == 0


def not_built(carrying: Carrying) -> None:
    carried(carrying)
    tree = carrying.lock.tree
    (carrying.root / "series/sample.lock").unlink()
    carrying.repository.run("update-ref", "-d", f"refs/trees/{tree}")
    carrying.repository.run("prune", "--expire=now")


def not_fetched(carrying: Carrying) -> None:
    carried(carrying)
    for ref in ("pulls", "trees", "upstream"):
        shutil.rmtree(carrying.places.objects / "refs" / ref)
    carrying.repository.run("prune", "--expire=now")


def exported(carrying: Carrying) -> None:
    carried(carrying)
    assert carrying.run("export", "--out", str(carrying.root / "../kept")) == 0
    shutil.rmtree(carrying.places.objects)


SCENARIOS = [
    Scenario("rebase that is clean", TO, carried),
    Scenario("rebase that conflicts", TO, in_conflict, code=3, again=3),
    Scenario("rebase --keep-going", (*TO, "--keep-going"), in_conflict, code=3, again=3),
    Scenario("rebase with fixes", TO, resolved),
    Scenario("add", ("add", BATCH), lambda c: carried(c, ROWS), again=1),
    Scenario("add --update", ("add", POOL, "--update"), pushed, again=1),
    Scenario("drop", ("drop", BATCH), carried, again=1),
    Scenario("resolve", ("resolve", POOL), stopped),
    Scenario("resolve --done", ("resolve", POOL, "--done"), laid_out, again=1),
    Scenario("undo", ("undo",), rebased, again=None),
    Scenario("build", ("build",), not_built),
    Scenario("export", ("export", "--out", "../export"), carried, again=1),
    Scenario("fetch", ("fetch",), not_fetched),
    Scenario("fetch --bundle", ("fetch", "--bundle", "../kept/sample.bundle"), exported),
]
