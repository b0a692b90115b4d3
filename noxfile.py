"""What can be run here: ``nox -l`` lists it."""

import os
import re
import shlex
from pathlib import Path

import nox
from nox.command import CommandFailed

nox.needs_version = ">=2025.5"
nox.options.default_venv_backend = "virtualenv"
nox.options.reuse_venv = "yes"
nox.options.sessions = ["lint", "typing", "tests"]

PROJECT = nox.project.load_toml()
MEMORY = Path("/dev/shm")  # noqa: S108 - pytest makes a folder of the user's own in it
ROOM = 4 * 2**30
# The queue, what each feature costs, what following traffic wins, how fast a replay is, and what rows and counts cost
# on a GPU.
BENCHMARKS = {
    "queue": "queue",
    "counter": "usage_counter",
    "banks": "two_bank",
    "switch": "traffic_switch",
    "price": "cold_price",
    "stage": "staged_bytes",
    "replay": "trace_replay",
    "device": "device",
}
# Of what needs hardware that is not here; told, and no failure among others.
NO_HARDWARE = 6
# Of a rebase some lanes of which stay, while the locks of others are written.
SOME_STAY = {1, 3}
ENDED = re.compile(r"Returned code (-?\d+)")
FAST = "not engine and not engine_full and not image and not gpu and not browser"


def dependencies(group: str) -> tuple[str, ...]:
    """What a dependency group of pyproject.toml asks for."""
    return nox.project.dependency_groups(PROJECT, group)


def in_memory() -> dict[str, str]:
    """Temporary files in memory where that has room: the tests make very many small ones."""
    if not MEMORY.is_dir():
        return {}
    info = os.statvfs(MEMORY)
    fits = info.f_bavail * info.f_frsize >= ROOM and not info.f_flag & os.ST_NOEXEC
    return {"TMPDIR": str(MEMORY)} if fits else {}


def install(session: nox.Session) -> None:
    """Install lanewright; without a package index go on with what an earlier session installed.

    That is this folder, so that it runs as it is now.
    """
    try:
        session.install("-e", ".")
    except CommandFailed:
        if not Path(session.bin, "lanewright").exists():
            raise
        session.warn("pip installs nothing: goes on with the lanewright that is there")


class Steps:
    """Commands of a session, of which one that fails does not keep it from the next.

    Attributes:
        session: It.
        failed: Exit codes by what was run.
    """

    def __init__(self, session: nox.Session) -> None:
        self.session = session
        self.failed: dict[str, int] = {}

    def run(self, *words: str) -> int:
        """Run a command of lanewright; its exit code."""
        try:
            self.session.run("lanewright", *words)
        except CommandFailed as error:
            ended = ENDED.fullmatch(error.reason or "")
            if ended is None:
                raise
            code = int(ended[1])
            # Of a signal, as a shell has it.
            code = code if code > 0 else 128 - code
            self.failed[f"lanewright {' '.join(words)}"] = code
            return code
        return 0

    def end(self) -> None:
        """End the session with the worst that there was; a failure is worse than no hardware."""
        if not self.failed:
            return
        what, code = max(self.failed.items(), key=lambda each: (each[1] != NO_HARDWARE, each[1]))
        # ci/nightly reads the last line of this form.
        self.session.warn(f"{what} failed with exit code {code}")
        self.session.error(", ".join(f"{what}: {code}" for what, code in self.failed.items()))


@nox.session(name="build-image", default=False)
def build_image(session: nox.Session) -> None:
    """Build a lane and its image, boot it, compare it with its pin: -- [LANE] [--base IMAGE]."""
    install(session)
    if session.posargs[-1:] == ["--base"]:
        session.error("--base takes an image: -- LANE --base IMAGE")
    lane, base = with_base(session.posargs)
    try:
        session.run("lanewright", "build", *lane)
    except CommandFailed:
        again = shlex.join(["nox", "-s", "build-image", "--", *session.posargs])
        session.error(f"no lane was built: type what `next:` above names, then `{again}` again")
    steps = Steps(session)
    if not base:
        steps.run("image", "mirror", "--optional", *lane)
        steps.run("image", "base", "--optional", *lane)
    made = steps.run("image", *lane, *base) == 0
    # Most lanes prove themselves without an image; a container needs it, and what that has shown.
    proven = steps.run("boot", "--equal", *lane) == 0
    if made and proven:
        steps.run("image", "smoke", "--optional", *lane)
    steps.end()


def with_base(given: list[str]) -> tuple[list[str], list[str]]:
    """Tell a lane from ``--base`` and the image behind it, in any order."""
    if "--base" not in given:
        return [word for word in given if not word.startswith("--base=")], [
            word for word in given if word.startswith("--base=")
        ]
    place = given.index("--base")
    return given[:place] + given[place + 2 :], given[place : place + 2]


@nox.session(default=False)
def boot(session: nox.Session) -> None:
    """Boot a built lane: -- [LANE] [--port N] [--no-server] [--equal [--resume]]."""
    install(session)
    session.run("lanewright", "boot", *session.posargs)


@nox.session(default=False)
def rebase(session: nox.Session) -> None:
    """Take lanes to where upstream is now: -- [--to REF] [--lane LANE] [--check] [--keep-going]."""
    install(session)
    steps = Steps(session)
    ended = steps.run("rebase", *session.posargs)
    if "--check" not in session.posargs and ended in {0, *SOME_STAY}:
        # Upstream keeps its newest images alone: a base that a lane names is kept as it is named.
        steps.run("image", "mirror", "--optional", "--every")
    steps.end()


@nox.session(default=False)
def nightly(session: nox.Session) -> None:
    """Try lanes as a night does, each step by itself: -- [LANE...] [--resume]."""
    install(session)
    steps = Steps(session)
    steps.run("nightly", *session.posargs)
    steps.end()


@nox.session(default=False)
def report(session: nox.Session) -> None:
    """Say what becomes of every hunk, and why: -- [LANE] [--format FORM]."""
    install(session)
    session.run("lanewright", "report", *session.posargs, stderr=None)  # stdout is data


@nox.session
def tests(session: nox.Session) -> None:
    """Run the fast tests; another tier with -- -m engine."""
    session.install("-e", ".", *dependencies("test"))
    fast = "-m" not in session.posargs
    tier = ["-m", FAST] if fast else []
    # An engine of a tiny model keeps one core busy. A file's tests share theirs.
    if fast or session.posargs[:2] == ["-m", "engine"]:
        tier += ["--numprocesses", "2", "--dist", "load" if fast else "loadfile"]
        tier += [] if fast else ["--no-loadscope-reorder"]
    # Of the thousand Pythons that the tests start each would compile all that it imports.
    env = {"PYTHONDONTWRITEBYTECODE": None, **(in_memory() if fast else {})}
    session.run("pytest", *tier, *session.posargs, env=env)


@nox.session(default=False)
def browser(session: nox.Session) -> None:
    """Open pages in a headless Chromium: as others' words, for axe, by keys, on paper."""
    # Playwright's driver is 45 MB that no other test needs; the Chromium is the machine's.
    session.install("-e", ".", *dependencies("browser"))
    session.run("pytest", "-m", "browser", "tests/page", *session.posargs, env=in_memory())


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and format, then what is not Python: Containerfiles, workflows, shell scripts."""
    session.install(*dependencies("lint"))
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")
    session.run("ci/lint", external=True)


@nox.session
def typing(session: nox.Session) -> None:
    """Check types, strictly."""
    session.install("-e", ".", *dependencies("typing"))
    session.run("mypy")


@nox.session(default=False)
def bench(session: nox.Session) -> None:
    """Measure: -- [queue [--repeats N] | counter|banks [LANE] [--blocks N] | switch | price | stage | replay | device]."""
    install(session)
    only, *rest = session.posargs or [""]
    if only not in ("", *BENCHMARKS):
        session.error(f"{only} is no benchmark: there are {', '.join(BENCHMARKS)}")
    passes, failed = [0] if only else [0, NO_HARDWARE], []
    for name in [only] if only else BENCHMARKS:
        command = ["python", "-m", f"benchmarks.{BENCHMARKS[name]}", *rest]
        try:
            session.run(*command, success_codes=passes)
        except CommandFailed:
            failed.append(name)
    if failed:
        session.error(f"failed: {', '.join(failed)}")


@nox.session(default=False)
def probe(session: nox.Session) -> None:
    """Probe the machine: -- e1|e2 [--blocks N] [--out FILE]; e1 is what counting costs, e2 what a copy saves."""
    install(session)
    session.run("python", "-m", "benchmarks.probe", *session.posargs)
