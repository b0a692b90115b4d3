"""A process that asks may use a CPU's matrix tiles, and so may its forks; elsewhere nothing happens."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = ("overlay/expert_bank/matrix_tiles.py", "tools/lanewright/serve/inside/amx.py")
# In a process of its own: what is asked for stays. The call tells what a process may use.
SCRIPT = """
import ctypes, importlib.util, json, os, platform, sys

def may():
    if platform.machine() != "x86_64":
        return False
    given = ctypes.c_uint64()
    ctypes.CDLL(None).syscall(158, 0x1022, ctypes.byref(given))
    return bool(given.value >> 18 & 1)

spec = importlib.util.spec_from_file_location("tiles", sys.argv[1])
tiles = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tiles)
before, asked, after = may(), tiles.ask_for_tiles(), may()
read, write = os.pipe()
if os.fork() == 0:
    os.write(write, json.dumps([before, asked, after, may()]).encode())
    os._exit(0)
os.wait()
print(os.read(read, 99).decode())
"""


@pytest.mark.parametrize("module", MODULES)
def test_who_asks_has_them_where_there_are_any(module: str) -> None:
    tiles = "amx_tile" in Path("/proc/cpuinfo").read_text()
    command = [sys.executable, "-c", SCRIPT, str(ROOT / module)]
    environ = {"PYTHONPATH": str(ROOT / "overlay")}
    told = subprocess.run(command, env=environ, capture_output=True, check=True).stdout
    assert json.loads(told) == [False, tiles, tiles, tiles]
