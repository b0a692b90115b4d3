"""Which text a model is trained on, and that it is that or none."""

import hashlib
import re
from pathlib import Path
from typing import Any

import pytest
from training.apart import PASSAGE, passages, unseen, without_twins
from training.text import Text, TextError, text_of

from lanewright.serve.texts import TEXTS

LOCK = Path(__file__).parents[2] / "environments" / "cpu.txt"
DESCRIBED = b"Metadata-Version: 2.1\nName: lorem\nVersion: 1.0\n\nA description.\n\nIts end.\n"
FILES = {
    "lorem-1.0.dist-info/METADATA": DESCRIBED,
    "lorem-1.0.dist-info/licenses/LICENSE.txt": b"All others have it too.",
    "lorem/b.py": b"b = 1\n",
    "lorem/a.py": b"a = 1\n",
    "lorem/__init__.py": b"",
    "lorem/notes.md": b"# Notes\n",
    "lorem/vendored-2.0.dist-info/METADATA": DESCRIBED,
    "lorem/data.bin": b"\xff",
}
PYTHON = (b"a = 1\n", b"b = 1\n")
ENGLISH = (b"A description.\n\nIts end.\n", b"# Notes\n")


def digest(*documents: bytes) -> str:
    whole = b"".join(len(each).to_bytes(8, "little") + each for each in documents)
    return hashlib.sha256(whole).hexdigest()


def told(sha256: str, *suffixes: str, version: str = "1.0") -> dict[str, Any]:
    return {
        "distributions": {"lorem": version},
        "suffixes": suffixes,
        "without": "^b.*$",
        "sha256": sha256,
    }


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on Python's path that holds a distribution as pip lays it."""
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    record = "".join(f"{name},,\n" for name in reversed(FILES))
    (tmp_path / "lorem-1.0.dist-info" / "RECORD").write_text(record)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


@pytest.mark.usefixtures("installed")
def test_files_are_taken_by_path_and_of_the_metadata_its_description() -> None:
    assert text_of("python", told(digest(*PYTHON), ".py")).trained == ("a = 1\n", "")
    english = text_of("english", told(digest(*ENGLISH), "METADATA", ".md", ".txt"))
    assert english.trained == tuple(each.decode() for each in ENGLISH)


def test_every_third_document_is_held_out_and_never_trained_on(installed: Path) -> None:
    names = [f"lorem/m{number}.py" for number in range(9)]
    for name in names:
        (installed / name).write_text(f"{name}\n")
    record = installed / "lorem-1.0.dist-info" / "RECORD"
    record.write_text("".join(f"{name},,\n" for name in names))
    found = text_of("python", told(digest(*(f"{name}\n".encode() for name in names)), ".py"))
    assert found.held_out == ("lorem/m2.py\n", "lorem/m5.py\n", "lorem/m8.py\n")
    assert found.trained == tuple(f"{n}\n" for n in names if f"{n}\n" not in found.held_out)
    assert isinstance(found, Text)


def words(first: int, count: int = 40) -> str:
    """Text of which no passage is in that of other numbers."""
    return " ".join(f"w{number:04}" for number in range(first, first + count))


def test_a_document_that_repeats_an_earlier_one_is_left_out() -> None:
    one, other = words(0), words(100)
    twin = f"{one[:-10]}{words(200, 2)}"
    nearly = f"{words(300, 200)} {words(0, 12)}"
    assert without_twins([one, other, twin, nearly, one, "", ""]) == [one, other, nearly, "", ""]


def test_a_paragraph_that_repeats_what_is_trained_on_or_what_came_before_is_left_out() -> None:
    trained, new, later = words(0), words(100), words(200)
    documents = [f"{new}\n\n{trained}", f"{new}\n\n{later}", new, "short"]
    assert unseen(documents, [trained]) == [new, later, "short"]


def test_what_two_texts_share_are_passages_of_fifty_characters() -> None:
    text = words(0)
    assert PASSAGE == 50
    assert passages(text[:49]) == set()
    assert passages(text[:51]) == {text[:50], text[1:51]}


def test_held_out_text_shares_no_passage_with_what_is_trained_on(installed: Path) -> None:
    # Three files: the third is held out, but for the half that the first has, too.
    texts = {"a": words(0, 200), "b": words(300), "c": f"{words(0, 16)}\n\n{words(600, 200)}"}
    for name, text in texts.items():
        (installed / "lorem" / f"{name}.py").write_text(text)
    record = "".join(f"lorem/{name}.py,,\n" for name in texts)
    (installed / "lorem-1.0.dist-info" / "RECORD").write_text(record)
    wanted = digest(*(text.encode() for text in texts.values()))
    found = text_of("python", told(wanted, ".py"))
    assert found == Text((texts["a"], texts["b"]), (words(600, 200),))


@pytest.mark.parametrize(
    ("version", "sha256", "why"),
    [
        ("1.1", digest(*PYTHON), "needs lorem 1.1, and 1.0 is installed"),
        ("1.0", digest(b"a = 1\n"), f"2 documents of SHA-256 {digest(*PYTHON)}"),
    ],
)
@pytest.mark.usefixtures("installed")
def test_another_text_is_refused(version: str, sha256: str, why: str) -> None:
    with pytest.raises(TextError, match=re.escape(why)):
        text_of("python", told(sha256, ".py", version=version))


def test_what_is_missing_is_named(installed: Path) -> None:
    (installed / "lorem" / "a.py").unlink()
    with pytest.raises(TextError, match=r"lorem 1\.0 lacks lorem/a\.py: No such file"):
        text_of("python", told(digest(*PYTHON), ".py"))
    absent = {**told("", ".py"), "distributions": {"no-such-distribution": "1"}}
    with pytest.raises(TextError, match="needs no-such-distribution 1, which is not installed"):
        text_of("python", absent)


@pytest.mark.parametrize("kind", TEXTS)
def test_texts_are_of_what_the_environment_locks(kind: str) -> None:
    locked = dict(re.findall(r"^([^\s=]+)==(\S+)", LOCK.read_text(), re.MULTILINE))
    wanted = TEXTS[kind]["distributions"]
    assert {name: locked.get(name) for name in wanted} == wanted
