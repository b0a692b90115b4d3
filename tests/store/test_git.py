"""git is run so that bytes come back as they are, whatever the user's settings."""

import os
import re
import shutil
from pathlib import Path

import pytest

from lanewright.store.git import GitError, Repository, create
from lanewright.store.objects import read_blobs
from lanewright.store.write import write_blobs
from tests.conftest import World
from tests.process import finish, start
from tests.upstream.diff import git

CONTENTS = [
    b"",
    b"\n",
    b"no newline at the end",
    b"two at the end\n\n",
    b"a\r\nb\r\n\r",
    b"\0\1\0\n",
    b"caf\xe9 in Latin-1\n",
    b"\xef\xbb\xbf\xff\xfe",
]


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return create(tmp_path / "objects.git")


@pytest.mark.parametrize("content", CONTENTS, ids=repr)
def test_bytes_come_back_as_they_went_in(repository: Repository, content: bytes) -> None:
    [blob] = write_blobs(repository, [content])
    assert repository.run("cat-file", "blob", blob).stdout == content


def test_many_blobs_in_one_call_keep_their_bytes(repository: Repository) -> None:
    ids = write_blobs(repository, CONTENTS)
    assert list(read_blobs(repository, ids).values()) == CONTENTS


def test_creating_twice_keeps_what_is_there(tmp_path: Path, repository: Repository) -> None:
    [blob] = write_blobs(repository, [b"kept\n"])
    again = create(tmp_path / "objects.git")
    assert again == repository
    assert again.run("cat-file", "blob", blob).stdout == b"kept\n"


def test_a_store_whose_creation_was_cut_short_is_completed(tmp_path: Path) -> None:
    folder = tmp_path / "objects.git"
    folder.mkdir()
    (folder / "HEAD").write_text("ref: refs/heads/master\n")  # git init writes it first
    assert write_blobs(create(folder), [b""]) == ["e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"]


def test_a_failed_call_says_which_and_why(repository: Repository) -> None:
    with pytest.raises(GitError, match=r"git cat-file blob 0{40} ended with 128: .*bad file"):
        repository.run("cat-file", "blob", "0" * 40)


def test_no_index_is_touched_unless_one_is_named(repository: Repository) -> None:
    before = sorted(repository.path.iterdir())
    with pytest.raises(GitError):
        repository.run("write-tree", "--missing-ok", "--prefix=x")
    assert sorted(repository.path.iterdir()) == before


GITCONFIG = """\
[diff]
    noprefix = true
    external = false
    renames = copies
[core]
    autocrlf = true
    eol = crlf
    quotePath = false
    attributesFile = {home}/attributes
    bare = false
[merge]
    conflictStyle = merge
    renames = true
[init]
    defaultObjectFormat = sha256
    templateDir = {home}/template
[user]
    useConfigOnly = true
"""


def hostile(name: str, home: Path) -> dict[str, str]:
    """Settings that a user may have, one kind at a time."""
    user = home / "own"
    if name == "repository":
        return {
            "GIT_DIR": str(user / ".git"),
            "GIT_WORK_TREE": str(user),
            "GIT_INDEX_FILE": str(user / ".git/index"),
            "GIT_OBJECT_DIRECTORY": str(user / ".git/objects"),
            "GIT_CEILING_DIRECTORIES": str(home),
        }
    if name == "configuration":
        (home / ".gitconfig").write_text(GITCONFIG.format(home=home))
        (home / "attributes").write_text("*.py merge=union text eol=crlf -diff\n")
        (home / "template").mkdir()
        return {"GIT_CONFIG_GLOBAL": str(home / ".gitconfig")}
    if name == "attributes":
        (home / ".config/git").mkdir(parents=True)
        (home / ".config/git/attributes").write_text("* merge=union text eol=crlf\n")
        return {"XDG_CONFIG_HOME": str(home / ".config")}
    return {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.autocrlf",
        "GIT_CONFIG_VALUE_0": "true",
        "GIT_CONFIG_PARAMETERS": "'merge.renames=true'",
        "GIT_EXTERNAL_DIFF": "false",
        "GIT_AUTHOR_DATE": "yesterday",
        "GIT_COMMITTER_NAME": "someone else",
        "GIT_DEFAULT_HASH": "sha256",
        "GIT_TRACE": "1",
        "TZ": "Asia/Tokyo",
    }


@pytest.mark.parametrize("name", ["repository", "configuration", "attributes", "variables"])
def test_the_users_settings_change_no_byte_of_a_lock(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    assert world.run("build") == 0
    expected = world.lock.read_bytes()
    world.lock.unlink()
    home = tmp_path / "home"
    own = home / "own"
    own.mkdir(parents=True)
    git(own, "init", "--quiet")
    before = sorted(own.rglob("*"))
    other = tmp_path / "another store"
    shutil.copytree(world.places.wheels, other / "wheels")
    monkeypatch.setenv("LANEWRIGHT_STORE", str(other))
    for key, value in hostile(name, home).items():
        monkeypatch.setenv(key, value)
    monkeypatch.chdir(own)
    assert world.run("build") == 0
    assert world.lock.read_bytes() == expected
    assert sorted(own.rglob("*")) == before


def test_attributes_of_the_user_do_not_settle_a_conflict(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    for key, value in hostile("attributes", home).items():
        monkeypatch.setenv(key, value)
    world.edit("series/sample.toml", "release:1.1", "release:1.2")
    assert world.run("build") == 3


@pytest.mark.parametrize("switch", ["option", "variable"])
def test_trace_prints_each_call_and_its_time(
    world: World,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    switch: str,
) -> None:
    if switch == "variable":
        monkeypatch.setenv("LANEWRIGHT_TRACE", "1")
    assert world.run(*(["--trace"] if switch == "option" else []), "build") == 0
    captured = capfd.readouterr()
    assert re.search(r"^git merge-tree .*  \[0, \d+\.\d ms\]$", captured.err, re.MULTILINE)
    assert re.fullmatch(r"[0-9a-f]{40}\n", captured.out)


def test_missing_git_is_said_and_is_no_bug(world: World, tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "env").symlink_to(shutil.which("env") or "")
    code, _, talk = finish(start(world.root, "build", env={"PATH": str(programs)}))
    assert code == 1
    assert "cannot start git" in talk
    assert "install git" in talk
    assert "Traceback" not in talk


def test_git_runs_where_the_working_folder_is_gone(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert world.run("build") == 0
    assert not os.path.lexists(gone)
