"""A lane with compiled code: its upstream has a C file that setup.py builds."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.upstream.fixtures import Carrying
from tests.upstream.lanes import grow, on_git, stand

SETUP = """\
import os
from setuptools import Extension, setup
setup(
    name="vllm",
    version=os.environ["VLLM_VERSION_OVERRIDE"],
    packages=["vllm"],
    ext_modules=[Extension("vllm._fast", ["vllm/fast.c", "csrc/more.c"], include_dirs=["csrc"])],
)
"""
FAST = """\
#include <Python.h>
#include "more.h"
static PyObject *answer(PyObject *self, PyObject *none) { return PyLong_FromLong(%s); }
static PyMethodDef methods[] = {{"answer", answer, METH_NOARGS, 0}, {0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_fast", 0, -1, methods};
PyMODINIT_FUNC PyInit__fast(void) { return PyModule_Create(&module); }
"""
MORE = "long more(void) { return %d; }\n"
UPSTREAM = {
    "setup.py": SETUP,
    "vllm/__init__.py": '"""A stand-in."""\n',
    "vllm/fast.c": FAST % "more()",
    "vllm/plain.py": "from vllm._fast import answer\n",
    "csrc/more.c": MORE % 1,
    "csrc/more.h": "long more(void);\n",
    "docs/more.md": "1\n",
}
# What the pull request makes of it: one more than its own csrc gives, which is not upstream's.
FAST_7 = (FAST % "more() + 1").encode()
PULL: dict[str, bytes | None] = {
    "vllm/fast.c": FAST_7,
    "vllm/plain.py": b"from vllm._fast import answer\n\nSEVEN = True\n",
    "csrc/more.c": (MORE % 40).encode(),
    "csrc/new.h": b"/* new */\n",
    "docs/more.md": b"40\n",
}
SOURCE = '\n[image]\nkind = "source"\n'
OVERLAY = '\n[image]\nsite_packages = "/usr/lib/python3/dist-packages"\n'


@dataclass(frozen=True)
class Compiled:
    """A lane that stands on a commit with compiled code, and pull request 7, which changes that.

    Attributes:
        lane: The lane.
        pin: The commit.
    """

    lane: Carrying
    pin: str

    def image(self, table: str) -> None:
        """Give the lane this table ``[image]`` in place of its own."""
        text = self.lane.series.read_text()
        for old in (SOURCE, OVERLAY):
            text = text.replace(old, "")
        head, first, entries = text.partition("\n[[entry]]")
        self.lane.series.write_text(f"{head}{table}{first}{entries}")

    def written(self, out: Path) -> dict[str, Any]:
        """Write the folder; what its ``lane.json`` says."""
        assert self.lane.run("image", "source", "--out", str(out)) == 0
        told: dict[str, Any] = json.loads((out / "lane.json").read_text())
        return told


@pytest.fixture
def compiled(carrying: Carrying) -> Compiled:
    pin = grow(carrying, "main", carrying.main[-1], UPSTREAM)
    stand(carrying, *on_git(pin), image=SOURCE)
    carrying.push(7, pin, PULL)
    package = carrying.root / "overlay/beside"
    package.mkdir()
    (package / "__init__.py").write_text('"""Ours."""\n')
    with carrying.series.open("a") as series:
        series.write('\n[[entry]]\noverlay = "beside"\n')
    assert carrying.run("add", "7") == 0
    return Compiled(carrying, pin)


def lay(
    folder: Path, source: Path, clone: Path, remote: str = "nowhere"
) -> subprocess.CompletedProcess[str]:
    """Run what a build runs first, by the Python of the tests."""
    return subprocess.run(
        [sys.executable, folder / "lay.py", "source", folder, source, clone, remote],
        capture_output=True,
        text=True,
        check=False,
    )
