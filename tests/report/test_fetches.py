"""How often the report goes to upstream: a partial clone over the loopback, and 2,000 commits."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from lanewright.store.git import Repository
from lanewright.store.write import Content
from tests.report.conftest import Told
from tests.report.reading import entry_of, hunk_at, turns_of
from tests.upstream.clash import MAIN
from tests.upstream.daemon import serving
from tests.upstream.diff import git
from tests.upstream.fixtures import Carrying
from tests.upstream.stand_in.stream import HOUR, START, NewCommit, write_commits

COMMITS = 2000
FILES = [f"vllm/part_{number}.py" for number in range(40)]
PULLS = range(1, 7)
Fetches = Callable[[Carrying], int]
FETCH = re.compile(r"^git fetch ", re.MULTILINE)


def text(number: int, value: int) -> bytes:
    return b"".join(
        b"def f_%d_%d():\n    return %d\n\n\n" % (number, n, value if n == 2 else n)
        for n in range(5)
    )


@pytest.fixture
def long_way(carrying: Carrying) -> tuple[Carrying, list[str]]:
    """Upstream's branch of 2,000 commits, each of which edits a file; six pull requests on its first.

    Pull request N edits the files N and 6 + N; the lane stands on the last commit.
    """
    upstream = Repository(carrying.upstream)
    made = {path: Content("100644", text(n, -1)) for n, path in enumerate(FILES)}
    commits = [NewCommit(MAIN, "upstream", START, "All of it", (carrying.main[0],), made)]
    for number in range(1, COMMITS):
        which = number % len(FILES)
        change = {FILES[which]: Content("100644", text(which, number))}
        commits.append(
            NewCommit(MAIN, "upstream", START + number * HOUR, f"Edit {which}", (), change)
        )
    main = write_commits(upstream, commits)
    for number in PULLS:
        edits = {FILES[n]: Content("100644", text(n, -9)) for n in (number, 6 + number)}
        ref = f"refs/pull/{number}/head"
        write_commits(upstream, [NewCommit(ref, "c", START, "a change", (main[0],), edits)])
    return carrying, list(main)


@pytest.fixture
def fetches(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Fetches:
    """Report on a lane in conflict; how often git fetched for it, by the trace."""

    def count(carrying: Carrying) -> int:
        capfd.readouterr()
        with monkeypatch.context() as traced:
            traced.setenv("LANEWRIGHT_TRACE", "1")
            assert carrying.run("report") == 3
        return len(FETCH.findall(capfd.readouterr().err))

    return count


def test_a_report_from_an_empty_store_needs_three_fetches(
    long_way: tuple[Carrying, list[str]],
    told: Told,
    fetches: Fetches,
) -> None:
    carrying, main = long_way
    with serving(carrying.upstream.parent) as url:
        _stand(carrying, f"{url}/{carrying.upstream.name}", main)
        assert [fetches(carrying) for _ in range(2)] == [3, 0]
    report = told(carrying)
    for number in PULLS:
        first, second = number, 6 + number
        assert turns_of(report, str(number)) == [(False, main[first], False)]
        assert hunk_at(report, FILES[first], str(number))["cause"]["commit"]["id"] == main[first]
        assert hunk_at(report, FILES[second], str(number))["cause"]["commit"]["id"] == main[second]
        assert entry_of(report, str(number))["tried"] == 2 * COMMITS // len(FILES)


def test_without_upstream_the_report_says_what_it_cannot_tell(
    long_way: tuple[Carrying, list[str]], told: Told
) -> None:
    carrying, main = long_way
    with serving(carrying.upstream.parent) as url:
        _stand(carrying, f"{url}/{carrying.upstream.name}", main)
        assert carrying.run("fetch") == 0
    report = told(carrying)
    assert [entry["verdict"] for entry in report["entries"]] == ["2 files need hand fixes"] * 6
    assert "cannot reach" in entry_of(report, "1")["notes"][0]
    assert turns_of(report, "1") == []


def _stand(carrying: Carrying, url: str, main: list[str]) -> None:
    """Write a lane on upstream's last commit that carries all six."""
    project = (carrying.root / "upstream.toml").read_text()
    (carrying.root / "upstream.toml").write_text(
        re.sub(r'^url = ".*"$', f'url = "{url}"', project, flags=re.MULTILINE)
    )
    series = carrying.series.read_text()
    pin = f'pin = "git:{main[-1]}"\nrelease = "0.31.0"\n'
    series = re.sub(r"^pin = .*\n", pin, series, flags=re.MULTILINE)
    for number in PULLS:
        head = (
            git(Path(carrying.upstream), "rev-parse", f"refs/pull/{number}/head").decode().strip()
        )
        series += f'\n[[entry]]\npull = {number}\nhead = "{head}"\nbase = "{main[0]}"\n'
    carrying.series.write_text(series)


def test_a_release_from_an_empty_store_needs_three_fetches_too(
    carrying: Carrying,
    told: Told,
    fetches: Fetches,
) -> None:
    series = carrying.series.read_text().replace("0.31.0", "0.32.0")
    numbers = (96177, 92060, 97190)
    for number in numbers:
        ref = f"refs/pull/{number}/head"
        head, base = (
            git(carrying.upstream, *words).decode().strip()
            for words in (("rev-parse", ref), ("merge-base", "main", ref))
        )
        series += f'\n[[entry]]\npull = {number}\nhead = "{head}"\nbase = "{base}"\n'
    carrying.series.write_text(series)
    assert [fetches(carrying) for _ in range(2)] == [3, 0]
    report = told(carrying)
    assert report["upstream"] == carrying.main[-1]
    for number in numbers:
        assert turns_of(report, str(number))
