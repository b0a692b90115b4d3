"""Methods with equal bodies: a hunk goes into its own method, or a person is asked."""

from pathlib import Path

import pytest

from lanewright.errors import ConflictError
from lanewright.queue.build import build
from lanewright.store.objects import files, read_blobs
from tests.conftest import AddRelease, World
from tests.upstream.diff import own_patch

BODY = """\
        self.check()
        value = self.load()
        self.store(value)
        return value

"""


def twins(names: str, edited: str = "") -> bytes:
    """A class with one method per letter, all of one body save the edited one."""
    text = "class A:\n"
    for name in names:
        body = BODY.replace("value)", "value + 1)") if name == edited else BODY
        text += f"    def {name}(self):\n{body}"
    return text.encode()


@pytest.fixture
def carried(world: World, release: AddRelease, tmp_path: Path) -> World:
    """A patch that edits the second of three twins."""
    release("2.0", {"vllm/twins.py": twins("abc")})
    patch = own_patch(
        tmp_path / "twins",
        {"vllm/twins.py": twins("abc")},
        {"vllm/twins.py": twins("abc", "b")},
        base="release:2.0",
    )
    (world.root / "patches/own/hook.patch").write_bytes(patch)
    world.edit("series/sample.toml", "release:1.1", "release:2.1")
    return world


@pytest.mark.parametrize("upstream", ["zabc", "azbc", "abzc", "xbc", "abcz"])
def test_the_right_method_is_edited(carried: World, release: AddRelease, upstream: str) -> None:
    release("2.1", {"vllm/twins.py": twins(upstream)})
    lock = build(carried.project, carried.places, "sample").lock
    file = files(carried.repository, lock.tree)["vllm/twins.py"]
    found = read_blobs(carried.repository, [file.blob])[file.blob]
    assert found == twins(upstream, "b")


@pytest.mark.parametrize("upstream", ["ac", "bac", "acb", "c", "a", "adc"])
def test_a_person_is_asked(carried: World, release: AddRelease, upstream: str) -> None:
    release("2.1", {"vllm/twins.py": twins(upstream)})
    with pytest.raises(ConflictError, match=r"vllm/twins\.py, hunk \w{10} in A\.b: conflict"):
        build(carried.project, carried.places, "sample")
    assert not carried.lock.exists()


def test_the_cause_names_the_other_method(
    carried: World, release: AddRelease, capfd: pytest.CaptureFixture[str]
) -> None:
    release("2.1", {"vllm/twins.py": twins("bac")})
    assert carried.run("build") == 3
    assert "git would put it into A.a instead of A.b" in capfd.readouterr().err
