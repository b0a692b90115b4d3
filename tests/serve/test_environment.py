import os
import subprocess
import sys
from pathlib import Path

import pytest

from lanewright.serve.environment import LaneEnv, cleaned

STRAY = {
    "PYTHONPATH": "/elsewhere",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONSTARTUP": "/elsewhere/start.py",
    "VLLM_PLUGINS": "none",
    "VLLM_USE_MODELSCOPE": "1",
    "LD_PRELOAD": "/elsewhere/lib.so",
    "OMP_NUM_THREADS": "1",
    "TORCHDYNAMO_DISABLE": "1",
    "HF_TOKEN": "word",
    "VIRTUAL_ENV": "/elsewhere/venv",
    "EXPERT_BANK_STATS": "/elsewhere/stats.json",
    "EXPERT_BANK_SERVER": "another",
}


def test_what_would_change_a_run_is_dropped() -> None:
    kept = {"PATH": "/bin", "LANG": "C", "EXPERT_BANK_POISON": "1"}
    assert cleaned({**STRAY, **kept}) == kept


def test_a_lane_hangs_on_nothing_of_the_shell(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    env = LaneEnv(Path(sys.executable), tmp_path / "site", tmp_path / "store" / "pyc")
    plain = env.environ()
    for name, value in STRAY.items():
        monkeypatch.setenv(name, value)
    assert env.environ() == plain
    assert os.environ["LD_PRELOAD"] == STRAY["LD_PRELOAD"]


def test_bytecode_and_caches_stay_out_of_site_and_home(tmp_path: Path) -> None:
    site, store = tmp_path / "site", tmp_path / "store"
    (site / "vllm").mkdir(parents=True)
    (site / "vllm" / "__init__.py").write_text("")
    env = LaneEnv(Path(sys.executable), site, store / "pyc")
    subprocess.run([env.python, "-c", "import vllm"], env=env.environ(), check=True)
    assert list(store.rglob("*.pyc"))
    assert not list(site.rglob("*.pyc"))
    kept = [value for name, value in env.environ().items() if name.endswith(("_DIR", "_HOME"))]
    assert {str(store / "caches" / "inductor"), str(store / "caches" / "huggingface")} <= {*kept}


def test_the_current_folder_is_no_import_path(tmp_path: Path) -> None:
    here = tmp_path / "here"
    (here / "vllm").mkdir(parents=True)
    (here / "vllm" / "__init__.py").write_text("raise SystemExit('the wrong vllm')")
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "vllm.py").write_text("")
    env = LaneEnv(Path(sys.executable), tmp_path / "site", tmp_path / "pyc")
    subprocess.run([env.python, "-m", "vllm"], env=env.environ(), cwd=here, check=True)
