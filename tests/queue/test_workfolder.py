"""What a person finds in a work folder, by the kind of conflict."""

import json

import pytest

from lanewright.store.objects import files
from lanewright.store.write import Content
from tests.upstream.clash import Clash, clash
from tests.upstream.fixtures import Carrying

PATH = "vllm/settled.py"
BASE = b"a = 1\nb = 1\nc = 1\n"
OURS = b"a = 1\nb = 2\nc = 1\n"
THEIRS = b"a = 1\nb = 3\nc = 1\n"


@pytest.fixture
def opened(carrying: Carrying) -> Clash:
    """One file, one conflict, laid out."""
    made = clash(carrying, {PATH: BASE}, {PATH: OURS}, {PATH: THEIRS})
    assert carrying.run("resolve", "5") == 0
    return made


def test_the_file_has_diff3_markers_and_each_side_lies_beside_it(opened: Clash) -> None:
    folder = opened.folder()
    assert (folder / PATH).read_bytes() == (
        b"a = 1\n<<<<<<< ours\nb = 2\n||||||| base\nb = 1\n=======\nb = 3\n>>>>>>> theirs\nc = 1\n"
    )
    sides = {side.name: (side / PATH).read_bytes() for side in (folder / "sides").iterdir()}
    assert sides == {"base": BASE, "ours": OURS, "theirs": THEIRS}
    manifest = json.loads((folder / "conflict.json").read_bytes())
    assert (manifest["lane"], manifest["entry"]) == ("sample", "5")
    assert manifest["pin"] in opened.world.series.read_text()
    assert [each["path"] for each in manifest["files"]] == [PATH]


def test_resolving_again_keeps_edits_until_they_may_go(
    opened: Clash, capfd: pytest.CaptureFixture[str]
) -> None:
    file = opened.folder() / PATH
    marked = file.read_bytes()
    file.write_bytes(b"mine = 1\n")
    assert opened.world.run("resolve", "5") == 0
    assert "still open, as you left it" in capfd.readouterr().err
    assert file.read_bytes() == b"mine = 1\n"
    assert opened.world.run("resolve", "5", "--again") == 0
    assert file.read_bytes() == marked
    assert not [p for p in opened.folder().parent.iterdir() if p != opened.folder()]


def test_the_only_entry_that_waits_needs_no_name(opened: Clash) -> None:
    (opened.folder() / PATH).write_bytes(b"mine = 1\n")
    assert opened.world.run("resolve", "--done") == 0
    assert opened.built()[PATH] == b"mine = 1\n"
    assert not opened.folder().exists()


@pytest.mark.parametrize("what", ["", "{", '{"lane": 1}'])
def test_a_folder_without_a_sound_manifest_is_refused(
    opened: Clash, what: str, capfd: pytest.CaptureFixture[str]
) -> None:
    manifest = opened.folder() / "conflict.json"
    if what:
        manifest.write_text(what)
    else:
        manifest.unlink()
    for more in ([], ["--again"], ["--done"]):
        assert opened.world.run("resolve", "5", *more) == 1
        assert f"keep your edits elsewhere, remove {opened.folder()}" in capfd.readouterr().err
    assert (opened.folder() / PATH).exists()


# Name: base, ours, theirs, what the marked file has, what a person makes of it.
KINDS: dict[str, tuple[bytes | None, bytes, bytes, bytes, bytes | None]] = {
    "crlf": (b"a\r\nb\r\n", b"a\r\nx\r\n", b"a\r\ny\r\n", b"=======\r\n", b"a\r\nz\r\n"),
    "no_newline": (b"a\nb", b"a\nx", b"a\ny", b"y\n>>>>>>> theirs", b"a\nz"),
    "latin1": (b"\xe4\nb\n", b"\xe4\nx\n", b"\xe4\n\xf6\n", b"\xf6\n", b"\xe4\n\xfc\n"),
    "emptied_by_hand": (b"a\n", b"x\n", b"y\n", b"x\n", b""),
    "emptied_upstream": (b"a\n", b"", b"y\n", b"y\n", b"z\n"),
    "removed_by_hand": (b"a\n", b"x\n", b"y\n", b"x\n", None),
    "both_added": (None, b"x\n", b"y\n", b"x\n||||||| base\n=======\ny\n", b"x\ny\n"),
    "binary": (b"\0a", b"\0b", b"\0c", b"<<<<<<< no text, and ", b"\0c"),
}


def test_bytes_are_kept_of_every_kind_of_file(
    carrying: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    paths = {name: f"vllm/{name}.txt" for name in KINDS}
    base, ours, theirs = (
        {paths[name]: content for name, kind in KINDS.items() if (content := kind[n]) is not None}
        for n in range(3)
    )
    made = clash(carrying, base, ours, theirs)
    assert carrying.run("resolve", "5") == 0
    for name, path in paths.items():
        assert KINDS[name][3] in (made.folder() / path).read_bytes()
    capfd.readouterr()
    assert carrying.run("resolve", "5", "--done") == 3
    error = capfd.readouterr().err
    assert all(f"{made.folder()}/{path}, line " in error for path in paths.values())
    made.settle({paths[name]: kind[4] for name, kind in KINDS.items()})
    built = made.built()
    assert {name: built.get(path) for name, path in paths.items()} == {
        name: kind[4] for name, kind in KINDS.items()
    }
    assert made.outcomes() == {"fixed"}


def test_a_file_that_one_side_removed_stays_or_goes_as_the_person_says(carrying: Carrying) -> None:
    cases = {
        f"vllm/{who}_{end}.py": (who, end)
        for who in ("upstream", "entry")
        for end in ("keep", "go")
    }
    ours = {path: OURS if who == "entry" else None for path, (who, _) in cases.items()}
    theirs = {path: THEIRS if who == "upstream" else None for path, (who, _) in cases.items()}
    made = clash(carrying, dict.fromkeys(cases, BASE), ours, theirs)
    assert carrying.run("resolve", "5") == 0
    for path in cases:
        note, _, rest = (made.folder() / path).read_bytes().partition(b"\n")
        assert note.startswith(b"<<<<<<< ")
        assert b"delete" in note
        assert rest == (ours[path] or theirs[path])
    assert carrying.run("resolve", "5", "--done") == 3  # the notes are still there
    kept = {
        path: (ours[path] or theirs[path]) if end == "keep" else None
        for path, (_, end) in cases.items()
    }
    made.settle(kept)
    built = made.built()
    assert {path: built.get(path) for path in cases} == kept
    assert made.world.run("build", "--check") == 0


def test_the_mode_that_a_side_changed_is_kept(carrying: Carrying) -> None:
    plain, run = "100644", "100755"
    modes = {(plain, run, plain): run, (plain, plain, run): run, (run, plain, run): plain}
    named = {f"vllm/{number}.sh": sides for number, sides in enumerate(modes)}
    base, ours, theirs = (
        {path: Content(sides[n], content) for path, sides in named.items()}
        for n, content in enumerate((BASE, OURS, THEIRS))
    )
    made = clash(carrying, base, ours, theirs)
    made.settle(dict.fromkeys(named, b"mine\n"))
    made.built()
    found = files(carrying.repository, carrying.lock.tree, named)
    assert {path: file.mode for path, file in found.items()} == {
        path: modes[sides] for path, sides in named.items()
    }


def test_a_symlink_on_a_side_is_for_the_series_to_settle(
    carrying: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    contents = ({PATH: Content("120000", name)} for name in (b"a.py", b"b.py", b"c.py"))
    made = clash(carrying, *contents, code=1)
    assert carrying.run("add", "5", "--allow", f"link:{PATH}") == 3
    capfd.readouterr()
    assert carrying.run("resolve", "5") == 1
    error = capfd.readouterr().err
    assert f"entry 5: {PATH} is a symlink" in error
    assert f"lanewright drop 5:{PATH}" in error
    assert not made.folder().exists()


TWIN = b"    def {}(self):\n        self.check()\n        value = self.load()\n        return value\n\n"


def _twins(names: str, edited: str = "") -> bytes:
    methods = [
        TWIN.replace(b"{}", n.encode()).replace(
            b"value\n", b"value + 1\n" if n == edited else b"value\n"
        )
        for n in names
    ]
    return b"class A:\n" + b"".join(methods)


def test_a_hunk_that_git_would_put_into_a_twin_has_a_note_to_take_out(
    carrying: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    made = clash(carrying, {PATH: _twins("abc")}, {PATH: _twins("adc")}, {PATH: _twins("abc", "b")})
    assert carrying.run("resolve", "5") == 0
    note, _, rest = (made.folder() / PATH).read_bytes().partition(b"\n")
    assert note.startswith(b"<<<<<<< git merged this, but: ")
    assert rest == _twins("adc", "d")
    capfd.readouterr()
    assert carrying.run("resolve", "5", "--done") == 3
    assert f"{PATH}, line 1: a conflict marker was left" in capfd.readouterr().err
    made.settle({PATH: _twins("adc")})
    assert made.built()[PATH] == _twins("adc")


MARKED = b"TEXT = '''\n<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> topic\n'''\n"


def test_upstreams_own_markers_are_no_leavings(
    carrying: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    made = clash(carrying, {PATH: MARKED + BASE}, {PATH: MARKED + OURS}, {PATH: MARKED + THEIRS})
    assert carrying.run("resolve", "5") == 0
    marked = (made.folder() / PATH).read_bytes()
    assert carrying.run("resolve", "5", "--done") == 3
    line = marked[: marked.index(b"<<<<<<< ours")].count(b"\n") + 1
    assert f"{made.folder()}/{PATH}, line {line}: a conflict marker" in capfd.readouterr().err
    # One of upstream's for one of git's: the count alone would not tell.
    swapped = marked.replace(b"<<<<<<< HEAD\n", b"").replace(b"||||||| base\nb = 1\n", b"")
    swapped = swapped.replace(b">>>>>>> theirs\n", b"").replace(b"<<<<<<< ours", b"# <<<<<<< ours")
    (made.folder() / PATH).write_bytes(
        swapped.replace(b"# <<<<<<< ours", b"D = '''\n<<<<<<< ours\n'''")
    )
    assert carrying.run("resolve", "5", "--done") == 3
    made.settle({PATH: MARKED + b"b = 4\n"})
    assert made.built()[PATH] == MARKED + b"b = 4\n"


def test_a_file_without_a_place_can_only_be_left_out(
    carrying: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    new = "vllm/thing/new.txt"
    made = clash(carrying, {}, {"vllm/thing": b"a file\n"}, {new: b"theirs\n", PATH: MARKED})
    assert carrying.run("resolve", "5") == 0
    (made.folder() / new).write_bytes(b"mine\n")
    capfd.readouterr()
    assert carrying.run("resolve", "5", "--done") == 3
    assert f"{new}: vllm/thing is in the way there; delete it" in capfd.readouterr().err
    made.settle({new: None})
    built = made.built()
    assert built["vllm/thing"] == b"a file\n"
    assert built[PATH] == MARKED
    assert new not in built
