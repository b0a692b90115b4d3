"""What a stand-in upstream is made from: the files of two releases."""

from collections.abc import Mapping
from pathlib import Path

from lanewright.store.git import Repository
from lanewright.store.objects import CommitId, TreeId, commit_and_tree, files, read_blobs
from lanewright.store.odb import object_id
from lanewright.store.wheel import members
from lanewright.store.write import Content

Tree = Mapping[str, Content]


def of_wheel(wheel: Path) -> dict[str, Content]:
    """The ``vllm/`` tree of a wheel, without what is compiled or written at build time."""
    return {
        member.path: Content(member.mode, member.content) for member in members(wheel, source=True)
    }


def of_commit(repository: Repository, commit: CommitId) -> dict[str, Content]:
    """The tree of a release that a store has imported."""
    found = commit_and_tree(repository, commit)
    assert found is not None, f"{repository.path} has no {commit}"
    present = files(repository, found[1])
    contents = read_blobs(repository, [file.blob for file in present.values()])
    return {path: Content(file.mode, contents[file.blob]) for path, file in present.items()}


def of_texts(texts: Mapping[str, bytes]) -> dict[str, Content]:
    """A tree of plain files."""
    return {path: Content("100644", raw) for path, raw in texts.items()}


def tree_id(tree: Tree) -> TreeId:
    """The id that git gives this tree, worked out without git."""
    folders: dict[str, dict[str, Content]] = {}
    entries: list[tuple[bytes, bytes]] = []
    for path, content in tree.items():
        name, inside, rest = path.partition("/")
        if inside:
            folders.setdefault(name, {})[rest] = content
        else:
            entries.append(_entry(name, content.mode, object_id("blob", content.raw)))
    entries += [_entry(name, "40000", tree_id(each)) for name, each in folders.items()]
    return TreeId(object_id("tree", b"".join(raw for _, raw in sorted(entries))))


def _entry(name: str, mode: str, object_name: str) -> tuple[bytes, bytes]:
    raw = name.encode("utf-8", "surrogateescape")
    # git sorts a folder as if its name ended with a slash
    key = raw + b"/" if mode == "40000" else raw
    return key, f"{mode} ".encode() + raw + b"\0" + bytes.fromhex(object_name)
