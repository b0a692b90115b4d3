"""What does not fit a release is found, by name: on small wheels that differ in one thing each."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.contract.glue import Glue
from tests.contract.reading import Reader
from tests.contract.releases import Release
from tests.contract.scan import unscanned
from tests.contract.table import Table
from tests.contract.wheels import Members
from tests.upstream.wheels import make_wheel

GLUE = """
from typing import Any

from vllm.layers import Experts, Output, moved
from vllm.worker import Base


class Ours(Experts):
    hits: int

    def forward(self, x: int, ids: int, *args: Any) -> Any:
        self.hits += self.rank
        return super().forward(x, ids, *args)


class Apply:
    def __init__(self, experts: Experts) -> None:
        self.experts = experts

    def apply(self, out: int, *, ids: int, **_: Any) -> Output:
        from flashinfer import kernel

        first, second = kernel(out, ids=ids, limit=self.experts.limit(), **self._fixed())
        return Output(rows=first, weights=second)

    def _fixed(self) -> dict[str, Any]:
        return {"weights": moved(self.experts.weights, to="device")}


class Later(Experts):
    def renew(self, *args: Any, **kwargs: Any) -> Any:
        above = getattr(super(), "renew", None)
        return None if above is None else above(*args, **kwargs)


def replace(worker: Any, experts: Experts) -> None:
    experts.apply = Apply(experts).apply
    if hasattr(worker.config, "newer"):
        worker.config.parallel.size
"""

TABLE = {
    "classes": {
        "Experts": "vllm.layers:Experts",
        "Worker": "vllm.worker:Worker",
        "Config": "vllm.worker:Config",
        "Parallel": "vllm.worker:Parallel",
    },
    "glue": {"ours": {"worker": "Worker"}},
    "types": {
        "Worker.config": "Config",
        "Config.parallel": "Parallel",
        "Experts.weights": "plain",
        "Experts.limit": "plain",
        "vllm.layers:moved": "plain",
        "flashinfer:kernel": "plain",
    },
    "optional": {"Config.newer": ">=2", "Experts.renew": ">=2"},
    "spread": {"flashinfer:kernel": "Apply._fixed"},
    "scan": [
        {"of": "Experts.apply", "files": ["vllm/runner.py"], "receiver": r"self\.experts\.apply"},
        {"of": "Experts.forward", "files": ["vllm/runner.py"], "receiver": r"experts\.forward"},
    ],
    "registered": {"Experts": {"weights": ["Experts.create"]}},
}

FILES = {
    "vllm/layers/__init__.py": """
from .experts import Experts as Experts
from .output import *
from .output import Output
""",
    "vllm/layers/experts.py": """
from vllm.layers import base

class Experts(base.Base):
    def __init__(self, rank):
        super().__init__()
        self.rank = rank

    def forward(self, x, ids, shared=None):
        return self.apply(x, ids=ids)

    def create(self):
        self.register_parameter("weights", None)
""",
    "vllm/layers/base.py": """
class Base:
    def apply(self, out, ids, extra=None):
        return out

    @staticmethod
    def limit():
        return 1
""",
    "vllm/layers/output.py": """
from dataclasses import dataclass

@dataclass
class Output:
    rows: int
    weights: int
    major: bool = False

if True:
    def moved(tensor, to):
        return tensor
""",
    "vllm/worker.py": """
class Parallel:
    @property
    def size(self) -> int:
        return 1

class Config:
    parallel: Parallel

class Base:
    config: Config

class Worker(Base):
    pass
""",
    "vllm/runner.py": """
class Runner:
    def run(self, experts):
        self.experts.apply(1, ids=2, extra=3)
        return experts.forward(1, 2, None)
""",
    "flashinfer/__init__.py": "from .core import kernel\n",
    "flashinfer/core.py": """
from typing import List

def kernel(out, ids, weights, limit=1) -> List[int]:
    return [out, ids]
""",
}


def unfit(folder: Path, files: Mapping[str, str], version: str = "1.0") -> list[str]:
    """What of the glue does not fit wheels with these files."""
    reader = Reader(Glue({"ours": GLUE}), Table(TABLE))
    assert reader.unknown == set()
    assert unscanned(reader.uses, reader.table) == []
    held = {
        name: Members(
            make_wheel(
                folder,
                version,
                {path: text.encode() for path, text in files.items() if path.startswith(name)},
                distribution=name,
            )
        )
        for name in ("vllm", "flashinfer")
    }
    return Release(version, held["vllm"], held["flashinfer"]).unfit(reader, reader.table)


def changed(path: str, old: str, new: str) -> dict[str, str]:
    assert old in FILES[path]
    return {**FILES, path: FILES[path].replace(old, new)}


def test_what_fits_is_not_reported(tmp_path: Path) -> None:
    assert unfit(tmp_path, FILES) == []


@pytest.mark.parametrize(
    ("path", "old", "new", "found"),
    [
        # a renamed keyword, of a kernel, of a function, of a dataclass
        (
            "flashinfer/core.py",
            "weights,",
            "gemm_weights,",
            [
                "ours.py:23: flashinfer:kernel: it has no parameter weights",
                "ours.py:23: flashinfer:kernel: its parameter gemm_weights is not passed",
            ],
        ),
        (
            "vllm/layers/output.py",
            "moved(tensor, to)",
            "moved(tensor, where)",
            [
                "ours.py:27: vllm.layers:moved: it has no parameter to",
                "ours.py:27: vllm.layers:moved: its parameter where is not passed",
            ],
        ),
        (
            "vllm/layers/output.py",
            "rows: int",
            "permuted: int",
            [
                "ours.py:24: vllm.layers:Output: it has no parameter rows",
                "ours.py:24: vllm.layers:Output: its parameter permuted is not passed",
            ],
        ),
        # a method, a class, an attribute that is gone
        (
            "vllm/layers/base.py",
            "def limit",
            "def most",
            ["ours.py:23: vllm.layers:Experts.limit is not there"],
        ),
        (
            "vllm/layers/experts.py",
            "self.rank =",
            "self.ep_rank =",
            ["ours.py:12: vllm.layers:Experts.rank is not there"],
        ),
        (
            "vllm/worker.py",
            "def size",
            "def width",
            ["ours.py:39: vllm.worker:Parallel.size is not there"],
        ),
        (
            "vllm/worker.py",
            "class Base:\n    config: Config\n\nclass Worker(Base)",
            "class Worker(Config)",
            [
                "contract.toml: vllm.worker:Worker.config is not there",
                "ours.py:38: vllm.worker:Worker.config is not there",
                "ours.py:39: vllm.worker:Worker.config is not there",
                "ours.py:5: vllm.worker:Base is not there",
            ],
        ),
        # a new parameter that has to be passed
        (
            "flashinfer/core.py",
            "weights,",
            "weights, tile,",
            ["ours.py:23: flashinfer:kernel: its parameter tile is not passed"],
        ),
        (
            "vllm/layers/base.py",
            "limit()",
            "limit(tokens)",
            ["ours.py:23: vllm.layers:Experts.limit: its parameter tokens is not passed"],
        ),
        # one that ours, in its place, does not take as upstream passes it
        (
            "vllm/layers/experts.py",
            "x, ids, shared=None",
            "x, weights, ids, shared=None",
            [
                "ours.py:11: vllm.layers:Experts.forward: parameter 2 is weights upstream, and ids in ours",
            ],
        ),
        (
            "vllm/runner.py",
            "apply(1, ids=2, extra=3)",
            "apply(1, 2, extra=3)",
            [
                (
                    "ours.py:37: vllm.layers:Experts.apply, called at vllm/runner.py:4: 2 arguments are"
                    " passed by position, and it takes 1"
                ),
                (
                    "ours.py:37: vllm.layers:Experts.apply, called at vllm/runner.py:4: its parameter"
                    " ids is not passed"
                ),
            ],
        ),
        (
            "vllm/runner.py",
            "experts.forward(1, 2, None)",
            "experts.forward(1, 2, shared=None)",
            [
                (
                    "ours.py:11: vllm.layers:Experts.forward, called at vllm/runner.py:5: it has no"
                    " parameter shared"
                )
            ],
        ),
        (
            "vllm/runner.py",
            "self.experts.apply",
            "self.inner.apply",
            ["ours.py:37: no call of vllm.layers:Experts.apply is found in vllm/runner.py"],
        ),
        # what else is told
        (
            "flashinfer/core.py",
            "List[int]",
            "int",
            ["ours.py:23: flashinfer:kernel returns int, which is unpacked to 2"],
        ),
        (
            "flashinfer/core.py",
            "List[int]",
            "tuple[int, int, int]",
            ["ours.py:23: flashinfer:kernel returns 3 values, which are unpacked to 2"],
        ),
        (
            "vllm/layers/experts.py",
            "self.rank = rank",
            "self.rank = self.hits = rank",
            ["ours.py:9: vllm.layers:Experts.hits is upstream's too, and ours hides it"],
        ),
        (
            "vllm/layers/experts.py",
            '"weights"',
            '"packed_weights"',
            [
                "contract.toml: vllm.layers:Experts.create does not register vllm.layers:Experts.weights"
            ],
        ),
        (
            "vllm/worker.py",
            "    parallel: Parallel",
            "    newer: int\n    parallel: Parallel",
            ["ours.py:38: vllm.worker:Config.newer is there, and the table says >=2"],
        ),
        (
            "vllm/layers/experts.py",
            "    def forward(",
            "    def renew(self): ...\n\n    def forward(",
            [
                f"ours.py:{line}: vllm.layers:Experts.renew is there, and the table says >=2"
                for line in (31, 32, 33)
            ],
        ),
        (
            "vllm/worker.py",
            "config: Config",
            "config: Parallel",
            ["contract.toml: vllm.worker:Worker.config is vllm.worker:Parallel, and not Config"],
        ),
    ],
)
def test_what_does_not_fit_is_named(
    tmp_path: Path, path: str, old: str, new: str, found: list[str]
) -> None:
    assert unfit(tmp_path, changed(path, old, new)) == found


def test_a_name_that_is_gone_is_named(tmp_path: Path) -> None:
    without = changed("vllm/layers/output.py", "class Output", "class Unreduced")
    assert unfit(tmp_path, without) == [
        "ours.py:24: vllm.layers:Output is not there",
        "ours.py:4: vllm.layers:Output is not there",
    ]


def test_what_the_table_expects_of_a_newer_release_is_missed(tmp_path: Path) -> None:
    assert unfit(tmp_path, FILES, "2.1") == [
        "ours.py:31: vllm.layers:Experts.renew is not there, and the table says >=2",
        "ours.py:32: vllm.layers:Experts.renew is not there, and the table says >=2",
        "ours.py:33: vllm.layers:Experts.renew is not there, and the table says >=2",
        "ours.py:38: vllm.worker:Config.newer is not there, and the table says >=2",
    ]


def test_what_is_one_of_two_classes_must_be_as_both() -> None:
    text = """
from vllm.layers import Experts
from vllm.worker import Worker
def f(it: object) -> None:
    if isinstance(it, (Experts, Worker)):
        it.config
"""
    reader = Reader(Glue({"ours": text}), Table(TABLE))
    assert {(each.holder, each.attribute) for each in reader.uses if each.attribute} == {
        ("vllm.layers:Experts", "config"),
        ("vllm.worker:Worker", "config"),
    }


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("def f(worker: Any) -> None:\n    worker.config.more.deep", "worker.config.more.deep"),
        ("def f(engine: Any) -> None:\n    engine.step()", "engine.step"),
        ("def f(all: list[Any]) -> None:\n    [each.name for each in all]", "all[].name"),
        ("def f(x: Experts) -> None:\n    y = x.part\n    y.run(1)", "x.part.run"),
        ("def f(x: Experts) -> None:\n    x.limit2().value", "x.limit2().value"),
        ("class A:\n    of: Any\n    def f(self) -> None:\n        self.of.run()", "of.run"),
        ("def f(it: object) -> None:\n    getattr(it, 'name', None)", "it.name"),
    ],
)
def test_an_attribute_that_nobody_knows_is_told(text: str, unknown: str) -> None:
    imports = "from typing import Any\nfrom vllm.layers import Experts\n"
    reader = Reader(Glue({"ours": imports + text}), Table(TABLE))
    assert [each.partition(": ")[2] for each in reader.unknown] == [unknown]
