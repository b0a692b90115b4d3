"""An entry that only adds modules is refused unless the lane, a seam or a test uses one of them."""

import pytest

from tests.queue.told import written
from tests.upstream.diff import git, own_patch
from tests.upstream.fixtures import Carrying

Capture = pytest.CaptureFixture[str]
BANK, TABLE = "vllm/rows/bank.py", "vllm/rows/table.py"
PACKAGE = "vllm/rows/__init__.py"
KNOWN = "vllm/config/offload.py"
BROUGHT: dict[str, bytes | None] = {
    PACKAGE: b"from .bank import rows\n",
    BANK: b"rows = 1\n",
}
PR_FILE = """\
number = 7
brings = "Rows"
provides = ["HostRows"]
{tests}
[sources]
brings = "upstream's page"
provides = "upstream's page"
"""


@pytest.fixture
def banked(carrying: Carrying) -> Carrying:
    """A lane, and #7, which adds a package that nothing imports."""
    return brings(carrying, BROUGHT)


def brings(lane: Carrying, changes: dict[str, bytes | None], tests: str = "") -> Carrying:
    lane.push(7, lane.main[0], changes)
    (lane.root / "patches/7/pr.toml").write_text(PR_FILE.format(tests=tests))
    (lane.root / "tests/test_carried.py").unlink()
    return lane


def upstream_text(lane: Carrying, path: str) -> bytes:
    return git(lane.upstream, "show", f"{lane.main[0]}:{path}")


def test_what_nothing_uses_is_refused_with_what_would_use_it(
    banked: Carrying, capfd: Capture
) -> None:
    before = banked.series.read_bytes()
    assert banked.run("add", "7") == 1
    error = capfd.readouterr().err
    assert (
        f"series/sample.toml: entry 1 (7) is dead weight: all that it does is to add {PACKAGE}, {BANK}"
        in error
    )
    assert (
        "no other file of the lane imports that, no seam of the lane names the entry, and no test does"
        in error
    )
    assert "nothing is written\n" in error
    assert error.endswith("next: write these lines, then: lanewright add 7\n")
    assert banked.series.read_bytes() == before
    assert "pr.toml" not in error


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("has_seams", [True, False])
@pytest.mark.parametrize("part", ["", f":{BANK}"])
def test_the_lines_that_it_tells_mend_it(
    banked: Carrying, capfd: Capture, part: str, *, known: bool, has_seams: bool
) -> None:
    if not known:
        (banked.root / "patches/7/pr.toml").unlink()
    if has_seams:
        (banked.root / "overlay/ours").mkdir()
        (banked.root / "overlay/ours/__init__.py").write_bytes(b"")
        with banked.series.open("a") as file:
            file.write('\n[[entry]]\noverlay = "ours"\n\n[seams]\nRowTable = "own"\n')
    assert banked.run("add", f"7{part}") == 1
    error = capfd.readouterr().err
    if not known:
        text = written(error, "patches/7/pr.toml")
        (banked.root / "patches/7/pr.toml").write_text(text)
    text = banked.series.read_text()
    if has_seams:
        text += written(error, "in series/sample.toml, below [seams]")
    text += written(error, "at the end of series/sample.toml")
    banked.series.write_text(text)
    assert error.endswith("next: write these lines, then: lanewright add 7\n")
    assert banked.run("add", "7") == 0
    assert (PACKAGE in banked.read(banked.lock.tree)) == (not part)


def test_what_is_known_and_provides_nothing_can_be_tested(banked: Carrying, capfd: Capture) -> None:
    file = banked.root / "patches/7/pr.toml"
    text = "".join(line for line in PR_FILE.splitlines(keepends=True) if "provides" not in line)
    file.write_text(text.format(tests=""))
    assert banked.run("add", "7") == 1
    assert (
        "next: say in patches/7/pr.toml which seams it provides, or what tests it,"
        " then: lanewright add 7\n"
    ) in capfd.readouterr().err


def test_what_it_says_to_write_mends_it(banked: Carrying, capfd: Capture) -> None:
    with banked.series.open("a") as file:
        file.write('\n[engine]\nmoe_hot_experts = "5"\n')
        file.write('\n[seams]\nHostRows = "7"\n\n[[entry]]\npull = 7\n')
    assert banked.run("add", "7") == 0
    assert banked.run("build", "--check") == 0
    text = banked.series.read_text().replace('HostRows = "7"\n', "")
    banked.series.write_text(text)
    capfd.readouterr()
    for command in ("build", "report", "rebase --to 0.32.0"):
        assert banked.run(*command.split()) == 1
        error = capfd.readouterr().err
        assert error.endswith("next: lanewright drop 7, or write these lines\n")
        assert '  [seams]\n    HostRows = "7"\n' in error


@pytest.mark.parametrize(
    "use",
    [
        b"import vllm.rows.bank\n",
        b"from vllm.rows import bank\n",
        b"from vllm.rows.bank import rows\n",
        b"def f():\n    from ..rows import bank\n",
        b"try:\n    from vllm import rows\nexcept ImportError:\n    rows = None\n",
        b'import importlib\n\nimportlib.import_module("vllm.rows.bank")\n',
        b'PLACES = {"rows": "vllm.rows.bank:rows"}\n',
    ],
)
def test_another_entry_may_use_it(carrying: Carrying, use: bytes) -> None:
    text = upstream_text(carrying, KNOWN) + b"\n\n" + use
    carrying.push(8, carrying.main[0], {KNOWN: text})
    brings(carrying, BROUGHT)
    assert carrying.run("add", "8", "7") == 0


@pytest.mark.parametrize(
    "word",
    [
        b"# vllm.rows.bank\n",
        b'"""As vllm.rows.bank has them."""\n',
        b"rows = bank = 1\n",
        b"from vllm.v1 import bank, rows\n",
    ],
)
def test_words_alone_are_no_use(carrying: Carrying, capfd: Capture, word: bytes) -> None:
    text = upstream_text(carrying, KNOWN) + b"\n\n" + word
    carrying.push(8, carrying.main[0], {KNOWN: text})
    brings(carrying, BROUGHT)
    assert carrying.run("add", "8", "7") == 1
    assert "(7) is dead weight" in capfd.readouterr().err


def test_dropping_what_uses_it_says_to_drop_both(carrying: Carrying, capfd: Capture) -> None:
    text = upstream_text(carrying, KNOWN) + b"\n\nfrom vllm.rows import bank\n"
    carrying.push(8, carrying.main[0], {KNOWN: text})
    brings(carrying, BROUGHT)
    assert carrying.run("add", "7", "8") == 0
    assert carrying.run("drop", "8") == 1
    assert "nothing is written\n  next: lanewright drop 8 7\n" in capfd.readouterr().err
    assert carrying.run("drop", "8", "7") == 0


def test_an_overlay_may_use_it(banked: Carrying) -> None:
    (banked.root / "overlay/ours").mkdir()
    (banked.root / "overlay/ours/__init__.py").write_bytes(b"from vllm.rows.bank import rows\n")
    with banked.series.open("a") as file:
        file.write('\n[[entry]]\noverlay = "ours"\n')
    assert banked.run("add", "7") == 0


def test_a_test_may_use_it(carrying: Carrying, capfd: Capture) -> None:
    brings(carrying, BROUGHT, 'tests = ["tests/test_rows.py"]\n')
    assert carrying.run("add", "7") == 1
    told = "patches/7/pr.toml: cannot read the test tests/test_rows.py that it names"
    assert told in capfd.readouterr().err
    test = carrying.root / "tests/test_rows.py"
    test.write_text("import vllm.v1\n")
    assert carrying.run("add", "7") == 1
    assert "is dead weight" in capfd.readouterr().err
    test.write_text("from vllm.rows.bank import rows\n")
    assert carrying.run("add", "7") == 0


def test_what_changes_a_file_or_is_read_by_name_is_not_judged(carrying: Carrying) -> None:
    text = upstream_text(carrying, KNOWN) + b"\nVALUE = 1\n"
    brings(carrying, {**BROUGHT, KNOWN: text})
    assert carrying.run("add", "7") == 0
    assert carrying.run("drop", "7") == 0
    brings(carrying, {"vllm/model_executor/layers/fused_moe/configs/E=8.json": b"{}\n"})
    (carrying.root / "tests").joinpath("test_carried.py").unlink(missing_ok=True)
    assert carrying.run("add", "7") == 0


def test_what_an_entry_in_conflict_uses_is_used(carrying: Carrying) -> None:
    changed = "vllm/config/cache.py"
    text = upstream_text(carrying, changed).replace(
        b"    threshold: float = 0.5\n", b"    threshold: float = 1.5\n"
    )
    assert text != upstream_text(carrying, changed)
    carrying.push(8, carrying.main[0], {changed: text + b"\n\nfrom vllm.rows import bank\n"})
    brings(carrying, BROUGHT)
    assert carrying.run("add", "7", "8") == 0
    assert carrying.run("rebase", "--to", "0.32.0") == 3


def test_an_own_patch_is_judged_too(carrying: Carrying, capfd: Capture) -> None:
    before = {"vllm/__init__.py": upstream_text(carrying, "vllm/__init__.py")}
    after = {**before, TABLE: b"table = 1\n"}
    patch = own_patch(carrying.root / "scratch", before, after, base="release:0.31.0")
    file = carrying.root / "patches/own/table.patch"
    file.write_bytes(patch)
    with carrying.series.open("a") as series:
        series.write('\n[[entry]]\npatch = "own/table.patch"\n')
    assert carrying.run("build") == 1
    assert (
        f"entry 1 (table) is dead weight: all that it does is to add {TABLE},"
        in capfd.readouterr().err
    )
    file.write_bytes(patch.replace(b"Forwarded:", b"Tests: tests/test_rows.py\nForwarded:"))
    (carrying.root / "tests/test_rows.py").write_text("import vllm.rows.table\n")
    assert carrying.run("build") == 0


def test_a_bisect_tries_it_without_what_uses_it(carrying: Carrying, capfd: Capture) -> None:
    text = upstream_text(carrying, KNOWN) + b"\n\nfrom vllm.rows import bank\n"
    carrying.push(8, carrying.main[0], {KNOWN: text})
    brings(carrying, BROUGHT)
    assert carrying.run("add", "7", "8") == 0
    capfd.readouterr()
    assert carrying.run("bisect", "--run", f"! test -e $LANEWRIGHT_TREE/{BANK}") == 0
    told = capfd.readouterr()
    assert "dead weight" not in told.err
    assert f"7:{BANK}:" in told.out
