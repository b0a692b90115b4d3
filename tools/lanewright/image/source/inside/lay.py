"""Put a lane's source together from upstream's; run by the Python of the image that is built.

Every file that the lane changes must be the pin's before and the lane's after, by git's id of its
content. The first that is not ends the build.
"""

import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NoReturn

SHOWN = 5


def main(arguments: list[str]) -> None:
    """Lay the source, or what stands beside ``vllm/`` once that is installed."""
    what, folder = arguments[0], Path(arguments[1])
    lane = json.loads((folder / "lane.json").read_text("utf-8"))
    if what == "source":
        lay_source(lane, folder, Path(arguments[2]), Path(arguments[3]), arguments[4])
    else:
        lay_beside(lane, folder)


def lay_source(lane: dict[str, Any], folder: Path, source: Path, clone: Path, remote: str) -> None:
    """Fetch the pin, and apply what the lane changes.

    Args:
        lane: What ``lane.json`` says.
        folder: Where it and the changes lie.
        source: Where the source goes to.
        clone: A clone of upstream; empty where the pin is to be fetched from the remote.
        remote: Upstream's url.
    """
    if shutil.which("git") is None:
        stop(lane, "the base image has no git")
    whence = str(clone) if any(clone.iterdir()) else remote
    source.mkdir(parents=True)
    git(source, "init", "--quiet")
    fetched = git(source, "fetch", "--quiet", "--depth", "1", "--", whence, lane["ref"], ok=False)
    if fetched is None:
        stop(lane, f"{lane['ref']} cannot be fetched from {whence}")
    git(source, "checkout", "--quiet", "--detach", "FETCH_HEAD")
    require_pin(lane, source)
    for pull in lane["pulls"]:
        apply(lane, source, folder, pull, pull["name"])
    apply(lane, source, folder, lane["change"], "its change of vllm/")
    if lane["commit"] and git(source, "write-tree", "--prefix=vllm/") != lane["tree"]:
        stop(lane, f"its vllm/ came out as another tree than {lane['tree']}")
    say(lane, f"source of {lane['ref']}, {len(lane['change']['files'])} files of vllm/ changed")


def require_pin(lane: dict[str, Any], source: Path) -> None:
    """See that the source is the pin's, whole for a commit, its modules for a release."""
    if lane["commit"]:
        found = [git(source, "rev-parse", name) for name in ("HEAD", "HEAD:vllm")]
        if found != [lane["commit"], lane["pin_tree"]]:
            stop(lane, f"the source is commit {found[0]}, not {lane['commit']}")
        return
    here = index(source)
    modules = {path: blob for path, blob in lane["modules"].items() if path in here}
    other = [path for path, blob in modules.items() if here[path] != blob]
    if other or not modules:
        told = ", ".join(other[:SHOWN]) or "none of them is there"
        stop(lane, f"{lane['ref']} is not what the release was made of: {told}")
    made = len(lane["modules"]) - len(modules)
    say(lane, f"{len(modules)} modules are the release's; {made} more come of building it")


def apply(
    lane: dict[str, Any], source: Path, folder: Path, change: dict[str, Any], name: str
) -> None:
    """Apply one change, exactly: its files are the ones that it was made of, or the build ends."""
    if not change["files"]:
        return
    require_ids(lane, source, change["files"], 0, f"{name} cannot be applied")
    flags = ("--index", "--whitespace=nowarn")
    if git(source, "apply", *flags, str((folder / change["patch"]).resolve()), ok=False) is None:
        stop(lane, f"{name} cannot be applied")
    require_ids(lane, source, change["files"], 1, f"{name} came out otherwise")


def require_ids(
    lane: dict[str, Any], source: Path, files: dict[str, list[str | None]], side: int, what: str
) -> None:
    """Compare ids of contents, None for a file that is not there."""
    here = index(source)
    told = [
        f"{path} is {here.get(path) or 'not there'}, not {sides[side] or 'absent'}"
        for path, sides in files.items()
        if here.get(path) != sides[side]
    ]
    if told:
        stop(lane, f"{what}: {'; '.join(told[:SHOWN])}")


def lay_beside(lane: dict[str, Any], folder: Path) -> None:
    """Lay packages beside the installed ``vllm/``, whose changed modules must be the lane's."""
    found = importlib.util.find_spec("vllm")
    if found is None or found.origin is None:
        stop(lane, "vllm is not installed")
    site = Path(found.origin).parents[1]
    for path, (_, blob) in lane["change"]["files"].items():
        if path.endswith(".py") and installed(site / path) != blob:
            stop(lane, f"{site / path} is not the lane's, once it is installed")
    shutil.copytree(folder / "beside", site, dirs_exist_ok=True)
    say(lane, f"installed in {site}")


def installed(path: Path) -> str | None:
    """The id that git gives the content of a file; None where there is none."""
    if not path.is_file():
        return None
    content = path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()  # noqa: S324 - git's


def index(source: Path) -> dict[str, str]:
    """Ids of all contents, by path."""
    listed = git(source, "ls-files", "--stage", "-z").split("\0")
    return {path: head.split(" ")[1] for head, _, path in (e.partition("\t") for e in listed if e)}


def git(source: Path, *arguments: str, ok: bool = True) -> Any:  # noqa: ANN401 - None where it may fail
    """What git prints; None where it failed and may."""
    outside = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    with tempfile.TemporaryDirectory() as home:
        # A clone that is handed over is owned by somebody else than who builds.
        Path(home, ".gitconfig").write_text("[safe]\n\tdirectory = *\n", "utf-8")
        done = subprocess.run(
            ["git", *arguments],
            cwd=source,
            env={**outside, "HOME": home, "GIT_TERMINAL_PROMPT": "0"},
            stdout=subprocess.PIPE,
            encoding="utf-8",
            errors="surrogateescape",
            check=ok,
        )
    return None if done.returncode else done.stdout.strip("\n")


def say(lane: dict[str, Any], what: str) -> None:
    """Tell how far it is."""
    print(f"lane {lane['lane']}: {what}", flush=True)


def stop(lane: dict[str, Any], why: str) -> NoReturn:
    """End the build."""
    sys.exit(f"lane {lane['lane']}: {why}")


if __name__ == "__main__":
    main(sys.argv[1:])
