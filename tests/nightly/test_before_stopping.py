"""What no boot could run is found before what serves is stopped for it."""

from collections.abc import Callable

import pytest

from tests.conftest import World
from tests.nightly.gpu import in_its_image, on_a_gpu, with_a_gpu
from tests.nightly.nights import night, step_of, verdicts
from tests.nightly.steps import Quick
from tests.nightly.test_window import said, serving, stopped_here

IDLE = ":"


def named(world: World) -> None:
    """Have the sample lane serve a model that is not here."""
    series = world.root / "series/sample.toml"
    text = series.read_text()
    assert 'recipe = "qwen3-moe-tiny"' in text
    series.write_text(text.replace('recipe = "qwen3-moe-tiny"', 'name = "nobody/nothing"'))


def on_a_gpu_by_a_list(world: World) -> None:
    """Have it be one on a GPU that boots in an environment of this machine."""
    on_a_gpu(world)
    (world.root / "environments").mkdir()
    (world.root / "environments/cuda.txt").touch()


def test_an_image_that_failed_stops_nothing(quick: Quick, monkeypatch: pytest.MonkeyPatch) -> None:
    world = quick(image="sys.exit(1)")
    in_its_image(world)
    with_a_gpu(world, monkeypatch, IDLE)
    told = serving(world)
    assert world.run("nightly") == 1
    assert said(told) == []
    found = night(world)
    for name in ("window", "boot"):
        step = step_of(found, "sample", name)
        assert (step["verdict"], step["why"]) == ("left out", "image: failed")


def test_a_cpu_lane_boots_without_its_image(quick: Quick) -> None:
    world = quick(image="sys.exit(1)")
    series = world.root / "series/sample.toml"
    table = '[image]\nsite_packages = "/usr/lib/python3/dist-packages"\n\n'
    series.write_text(series.read_text().replace("[engine]\n", f"{table}[engine]\n"))
    told = serving(world)
    assert world.run("nightly") == 1
    assert said(told) == ["drain", "stop", "restore"]
    assert verdicts(night(world), "sample")["boot"] == "passed"


def test_an_image_that_is_not_there_stops_nothing(
    quick: Quick, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its step passed, by all that the night knows."""
    world = quick()
    in_its_image(world)
    with_a_gpu(world, monkeypatch, IDLE)
    told = serving(world)
    assert world.run("nightly") == 1
    assert said(told) == []
    assert verdicts(night(world), "sample")["window"] == "failed"


@pytest.mark.parametrize("device", [lambda _: None, on_a_gpu_by_a_list], ids=["cpu", "gpu"])
def test_a_model_that_is_not_here_stops_nothing(
    quick: Quick, monkeypatch: pytest.MonkeyPatch, device: Callable[[World], None]
) -> None:
    world = quick()
    named(world)
    device(world)
    with_a_gpu(world, monkeypatch, IDLE)
    told = serving(world)
    assert world.run("nightly") == 1
    assert said(told) == []
    window = step_of(night(world), "sample", "window")
    assert window["verdict"] == "failed"
    assert window["why"].startswith("lane sample: there is no nobody/nothing in ")


def test_a_driver_that_does_not_tell_stops_nothing(
    quick: Quick, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = quick()
    on_a_gpu_by_a_list(world)
    with_a_gpu(world, monkeypatch, "exit 9")
    told = serving(world)
    assert world.run("nightly") == 1
    assert said(told) == []
    window = step_of(night(world), "sample", "window")
    assert (window["verdict"], window["why"]) == ("failed", "nvidia-smi ended with 9: ")


@pytest.mark.parametrize("min_free", ["", "1MiB", "9000000GiB"])
def test_anothers_work_behind_the_stop_is_told_and_what_serves_restored(
    quick: Quick, monkeypatch: pytest.MonkeyPatch, min_free: str
) -> None:
    world = quick()
    on_a_gpu_by_a_list(world)
    tells = 'case "$1" in *free*) echo 100000;; *) echo 4242, train;; esac'
    with_a_gpu(world, monkeypatch, tells)
    told = serving(world, seconds=1, **({"min_free": min_free} if min_free else {}))
    assert world.run("nightly") == 6
    assert said(told) == ["drain", "stop", "restore"]
    window = step_of(night(world), "sample", "window")
    assert (window["verdict"], window["why"]) == ("not run", "in use: 4242, train")
    assert verdicts(night(world), "sample")["boot"] == "left out"
    assert not stopped_here(world)


def test_what_was_stopped_may_take_a_while_to_be_gone(
    quick: Quick, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = quick()
    on_a_gpu_by_a_list(world)
    asked = world.root.parent / "asked"
    tells = f'echo >>{asked}; test "$(wc -l <{asked})" -gt 3 || echo 4242, vllm'
    with_a_gpu(world, monkeypatch, tells)
    told = serving(world)
    assert world.run("nightly") == 0
    assert said(told) == ["drain", "stop", "restore"]
    assert verdicts(night(world), "sample")["boot"] == "passed"
