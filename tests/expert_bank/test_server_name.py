"""Processes of one server share its name; a server that is started by another program has its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from expert_bank.config import SERVER

NAMED = "0123456789abcdef"
# What a process does as soon as vLLM loads the plugins in it; a child tells its name.
PROGRAM = """
import json, multiprocessing, os, subprocess, sys
from expert_bank.config import SERVER
from expert_bank.server_name import name_server

def load():
    name_server()
    return os.environ[SERVER]

if "at-import" in sys.argv:
    load()
if "ray" in sys.argv:
    import ray

def child(asked):
    asked.send(load())

def of_child(method):
    context = multiprocessing.get_context(method)
    ours, theirs = context.Pipe()
    process = context.Process(target=child, args=(theirs,))
    process.start()
    theirs.close()
    name = ours.recv()
    process.join()
    return name

if __name__ == "__main__":
    names = {"own": [load()]}
    if "children" in sys.argv:
        names["own"] += [of_child("spawn"), of_child("fork"), load()]
    if "servers" in sys.argv:
        names["servers"] = [
            json.loads(subprocess.check_output([sys.executable, __file__, "children"]))["own"]
            for _ in range(2)
        ]
    print(json.dumps(names))
"""


# What Ray says in an actor and, else, in its driver.
RAY = """
import sys
is_initialized = lambda: True
get_runtime_context = lambda: sys.modules["ray"]
get_actor_id = lambda: "a1" if {} else None
"""


def names(folder: Path, *asked: str, actor: bool = True, named: str = "") -> dict[str, list[str]]:
    """Run a program that loads the plugins; what it and all that it starts are named."""
    file = folder / "program.py"
    file.write_text(PROGRAM)
    (folder / "ray.py").write_text(RAY.format(actor))
    environ = {name: value for name, value in os.environ.items() if name != SERVER}
    environ |= {SERVER: named} if named else {}
    output = subprocess.check_output([sys.executable, str(file), *asked], env=environ)
    found: dict[str, list[str]] = json.loads(output)
    return found


@pytest.mark.parametrize("asked", [(), ("at-import",)])
def test_what_a_server_starts_has_its_name_and_loading_twice_makes_no_other(
    tmp_path: Path, asked: tuple[str, ...]
) -> None:
    own = names(tmp_path, "children", *asked)["own"]
    assert own == [own[0]] * 4
    assert len(own[0]) == 16


def test_servers_of_a_launcher_that_loaded_the_plugins_are_named_apart(tmp_path: Path) -> None:
    found = names(tmp_path, "servers")
    servers: list[list[str]] = found["servers"]  # type: ignore[assignment]
    assert all(each == [each[0]] * 4 for each in servers)
    assert len({found["own"][0], *(each[0] for each in servers)}) == 3


def test_a_first_process_keeps_no_name_that_it_finds_and_an_actor_of_ray_does(
    tmp_path: Path,
) -> None:
    assert names(tmp_path, named=NAMED)["own"] != [NAMED]
    assert names(tmp_path, "ray", actor=False, named=NAMED)["own"] != [NAMED]
    assert names(tmp_path, "ray", named=NAMED)["own"] == [NAMED]
    assert len(names(tmp_path, "ray")["own"][0]) == 16
