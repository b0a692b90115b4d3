"""What an image says of itself that a tool of others builds: such a tool keeps what the base says."""

import platform
import shlex
from pathlib import Path

import pytest

from lanewright.image.backend.build import build_by
from lanewright.image.oci import ARCHITECTURES
from lanewright.image.opened.image import open_image
from lanewright.image.stamps import REVISION, stamps
from lanewright.queue.lock import Lock
from tests.conftest import World
from tests.image import onto
from tests.image.bases import Base, of_pin
from tests.image.inspecting import alone, image, labels

__all__ = ["image"]
Capture = pytest.CaptureFixture[str]
# Has every base, and keeps what it is to build with.
BUILDAH = '#!/bin/sh\n[ "$1" = build ] && printf "%s\\n" "$@" >{told}\necho sha256:{id}\n'


@pytest.mark.parametrize(
    ("says", "told"), [({REVISION: "8" * 40}, ""), ({REVISION: ""}, ""), ({"more": "1"}, None)]
)
def test_the_bases_revision_is_not_inherited(
    imaged: World,
    lock: Lock,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    says: dict[str, str],
    told: str | None,
) -> None:
    own = ARCHITECTURES[platform.machine()]
    base = Base([of_pin(imaged.repository, lock)], architectures=[own], run={"Labels": says})
    buildah, given = tmp_path / "bin/buildah", tmp_path / "given"
    buildah.parent.mkdir()
    buildah.write_text(BUILDAH.format(told=shlex.quote(str(given)), id="5" * 64))
    buildah.chmod(0o755)
    monkeypatch.setenv("PATH", str(buildah.parent), prepend=":")
    folder = base.lay(tmp_path / "base")
    built = build_by(imaged.places, lock, open_image(folder, None), "buildah")
    assert built.id == "5" * 64
    lines = given.read_text().splitlines()
    said = dict(
        line.removeprefix("--label=").split("=", 1) for line in lines if line.startswith("--label=")
    )
    assert said.get(REVISION) == told
    assert stamps(lock).items() <= said.items()


@pytest.mark.parametrize(
    ("pin", "revision", "told"),
    [
        ("release:1.1", "8" * 40, f"'{'8' * 40}'"),
        ("release:1.1", "a\n" + "x" * 600, f"'a\\\\n{'x' * 78}...'"),
        ("release:1.1", "", None),
        ("git:{commit}", "{commit}", None),
        ("git:{commit}", "8" * 40, f"'{'8' * 40}'"),
    ],
)
def test_one_of_its_base_is_told(
    image: Path,
    amd64: Lock,
    capfd: Capture,
    monkeypatch: pytest.MonkeyPatch,
    pin: str,
    revision: str,
    told: str | None,
) -> None:
    commit = amd64.pin.commit
    said = {
        "dev.lanewright.pin": pin.format(commit=commit),
        REVISION: revision.format(commit=commit),
    }
    labels(image, lambda each: each.update(said))
    capfd.readouterr()
    assert alone(image, monkeypatch) == 0
    lines = [line for line in capfd.readouterr().out.splitlines() if "revision" in line]
    assert lines == ([f"  revision  {told} is its base's, and not that of the pin"] if told else [])
    assert onto.config_of(image)["config"]["Labels"][REVISION] == said[REVISION]
