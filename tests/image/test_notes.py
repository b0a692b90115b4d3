"""What the store notes of a base's layers spares the reading, and is no proof."""

from pathlib import Path

import pytest

from lanewright.image.opened.image import open_image
from lanewright.queue.lock import Lock
from tests.conftest import World
from tests.image.bases import Base, of_pin
from tests.image.conftest import ROOT


def test_verify_reads_the_base_again(
    imaged: World, lock: Lock, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    good = of_pin(imaged.repository, lock)
    path = next(
        path for path in good if path.startswith(f"{ROOT}/vllm/") and path.endswith("__init__.py")
    )
    edited = Base([{**good, path: b"edited = 1\n"}]).lay(tmp_path / "edited")
    assert imaged.run("image", "--base", str(edited)) == 1
    assert imaged.run("image", "--base", str(Base([good]).lay(tmp_path / "good"))) == 0
    assert imaged.run("verify", "--image") == 0
    # The edited layer is noted as the good one: what makes an image goes by that, and a proof must not.
    notes = imaged.places.base_images / "contents"
    names = [
        layer.blob.digest.removeprefix("sha256:")
        for folder in ("good", "edited")
        for layer in open_image(tmp_path / folder, None).layers[:1]
    ]
    good_note, edited_note = ((notes / f"{name}.json") for name in names)
    assert edited_note.exists()
    edited_note.write_text(good_note.read_text().replace(names[0], names[1]))
    assert imaged.run("image", "--base", str(edited)) == 0
    capfd.readouterr()
    assert imaged.run("verify", "--image") == 5
    assert f"{path.removeprefix(ROOT + '/')} is " in capfd.readouterr().err
