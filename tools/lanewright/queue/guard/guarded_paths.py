"""Files that do more than be imported: what a path alone says of a change."""

import re
from collections.abc import Iterator

from lanewright.invisible import INVISIBLE, named
from lanewright.queue.guard.path_twins import fold
from lanewright.queue.guard.rules import Rule

ATTRIBUTES = {".gitattributes", ".gitmodules", ".gitignore", ".gitconfig", ".lfsconfig", ".mailmap"}
CI = {
    *(".github", ".buildkite", ".circleci", ".gitlab", ".jenkins", ".azure-pipelines", ".husky"),
    *(".forgejo", ".gitea"),
    *(".gitlab-ci.yml", ".travis.yml", ".drone.yml", ".cirrus.yml", ".appveyor.yml"),
    *("appveyor.yml", "azure-pipelines.yml", "jenkinsfile"),
    *(".pre-commit-config.yaml", ".pre-commit-hooks.yaml", ".readthedocs.yaml", ".woodpecker"),
}
PACKAGING = {
    *("pyproject.toml", "setup.py", "setup.cfg", "manifest.in", "entry_points.txt"),
    *(
        "cmakelists.txt",
        "pipfile",
        "pipfile.lock",
        "poetry.lock",
        "uv.lock",
        "uv.toml",
        "pylock.toml",
    ),
    *(
        "conftest.py",
        "pytest.ini",
        ".pytest.ini",
        "pytest.toml",
        "tox.ini",
        "noxfile.py",
        "dockerfile",
        "containerfile",
    ),
}
# A name that an installer, a build or the interpreter goes by; bytecode runs in its source's place.
PACKAGING_NAME = re.compile(
    r"(requirements|constraints)[^/]*\.(txt|in)|.*\.(pth|cmake|pyc|pyo)|.*\.(dist|egg)-info"
    r"|(site|user)customize(\.[^/]*)?|.*\.dockerfile|__pycache__"
    r"|(docker|container)file\.(?!pyi?$).+"
)
# An extension module of a source's name runs in its place.
COMPILED_NAME = re.compile(r".*\.(so|pyd|dll|dylib)(\.[\d.]+)?")


def rules_of_path(path: str, *, is_new: bool) -> Iterator[tuple[Rule, str]]:
    """The rules that a path breaks, each with what is to be said of it.

    Args:
        path: Of a file that a change makes, edits or removes.
        is_new: Whether the change brings it.
    """
    parts = [fold(part) for part in path.split("/")]
    if parts[-1] in ATTRIBUTES:
        yield "attributes", "a file of git's, which can change how others are read"
    if not CI.isdisjoint(parts):
        yield "ci", "it steers what a CI or a hook runs"
    if parts[-1] in PACKAGING or any(PACKAGING_NAME.fullmatch(part) for part in parts):
        yield (
            "packaging",
            "it is read when a package is built, installed or tested, or Python starts",
        )
    if COMPILED_NAME.fullmatch(parts[-1]):
        yield "packaging", "it is compiled code, which runs as it is and cannot be read"
    found = INVISIBLE.search(path)
    if found and is_new:
        yield "bidi", f"its path has {named(found[0])}"
