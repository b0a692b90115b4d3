"""Ops of torch's that a pull request binds: in C++, which no lane has, or in Python."""

import pytest

from tests.queue.test_closed import ONE, THREE, Capture, paths, refused
from tests.upstream.fixtures import Carrying

Files = dict[str, bytes | None]
BINDINGS = "csrc/torch_bindings.cpp"
OPS = "vllm/_custom_ops.py"
CALL = b"import torch\n\n\ndef new(x):\n    return torch.ops._C.new(x)\n"
USER = b"from vllm._custom_ops import new\n"


def bind(*names: str) -> bytes:
    lines = [f'  ops.def(\n      "{name}(Tensor! x) -> ()");\n' for name in names]
    return "".join(['// ops.def("none()")\n', *lines]).encode()


def compiled(
    lane: Carrying,
    *,
    base: Files,
    head: bytes = CALL,
    csrc: Files | None = None,
) -> None:
    """A pull request that brings an op of its own, and Python that calls it."""
    first = lane.push(6, lane.main[0], {BINDINGS: bind("old"), **base})
    assert lane.run("add", "6") == 0
    files = {
        BINDINGS: bind("old", "new"),
        OPS: head,
        ONE: USER,
        THREE: b"three = 3\n",
        **(csrc or {}),
    }
    lane.push(7, first, {**files})


def test_a_call_of_an_op_that_only_its_csrc_binds_is_refused(
    carrying: Carrying, capfd: Capture
) -> None:
    compiled(carrying, base={"vllm/six.py": b"six = 6\n"})
    before = carrying.series.read_bytes()
    for part in ("7", f"7:{OPS}"):
        capfd.readouterr()
        assert carrying.run("add", part) == 1
        error = capfd.readouterr().err
        assert f"  7: {OPS}, hunk " in error
        assert ", line 5: uses torch.ops._C.new, an op that 7 binds in its csrc/" in error
        assert f"next: add other parts, without 7:{OPS}:" in error
        assert (f" 7:{ONE}:" in error.rpartition("next: ")[2]) == (part == "7")
    assert carrying.series.read_bytes() == before
    assert carrying.run("add", f"7:{THREE}") == 0


def test_one_that_is_in_a_series_already_is_to_be_dropped(
    carrying: Carrying, capfd: Capture
) -> None:
    compiled(carrying, base={"vllm/six.py": b"six = 6\n"})
    assert carrying.run("add", f"7:{THREE}") == 0
    text = carrying.series.read_text()
    carrying.series.write_text(text.replace(f'["{THREE}"]', f'["{OPS}", "{ONE}", "{THREE}"]'))
    assert carrying.run(*refused(carrying, capfd, "build")) == 0
    assert paths(carrying)[1] == {THREE}


@pytest.mark.parametrize(
    ("base", "head"),
    [
        ({OPS: CALL}, CALL + b"more = 1\n"),
        ({"vllm/six.py": b""}, CALL.replace(b"._C.new", b"._C.old")),
        ({"vllm/six.py": b""}, CALL + b"there = hasattr(torch.ops._C, 'new')\n"),
    ],
    ids=["called before", "of the base", "asked for"],
)
def test_an_op_that_may_be_there_is_not_refused(
    base: Files, head: bytes, carrying: Carrying
) -> None:
    compiled(carrying, base=base, head=head)
    assert carrying.run("add", "7") == 0


CSRC: Files = {
    "csrc/ops.h": b"void new(torch::Tensor& x);\n",
    "csrc/new.cu": b"void new(torch::Tensor& x) {\n}\n",
    "CMakeLists.txt": b'set(SRC "csrc/new.cu")\n',
}


def test_the_files_that_make_the_op_are_named_and_who_calls_its_wrapper(
    carrying: Carrying, capfd: Capture
) -> None:
    compiled(carrying, base={"vllm/six.py": b"six = 6\n"}, csrc=CSRC)
    capfd.readouterr()
    assert carrying.run("add", f"7:{OPS}", f"7:{ONE}") == 1
    error = capfd.readouterr().err
    closure = (
        ": its closure is csrc/torch_bindings.cpp (binds it), CMakeLists.txt (builds it),"
        " csrc/ops.h (declares it), csrc/new.cu (defines it), and a lane carries no compiled code"
    )
    assert f"uses torch.ops._C.new, an op that 7 binds in its csrc/{closure}" in error
    through = "uses vllm._custom_ops.new, which calls new, an op that 7 binds in its csrc/"
    assert f"  7: {ONE}, hunk " in error
    assert f"line 1: {through}{closure}" in error
    capfd.readouterr()
    assert carrying.run("add", f"7:{ONE}") == 1
    error = capfd.readouterr().err
    assert f"uses vllm._custom_ops.new, which {OPS}:" in error
    assert f"line 1: {through}{closure}" in error
    assert f"  next: add other parts, without 7:{ONE}:" in error


@pytest.mark.parametrize(
    "user",
    [
        b"from vllm import _custom_ops as ops\n\n\ndef f(x):\n    return ops.new(x)\n",
        b"import vllm._custom_ops as ops\n\n\ndef f(x):\n    return ops.new(x)\n",
    ],
)
def test_a_wrapper_is_called_as_an_attribute_too(
    user: bytes, carrying: Carrying, capfd: Capture
) -> None:
    compiled(carrying, base={"vllm/six.py": b"six = 6\n"}, csrc={**CSRC, ONE: user})
    capfd.readouterr()
    assert carrying.run("add", "7") == 1
    assert "line 5: uses vllm._custom_ops.new, which calls new" in capfd.readouterr().err


GUARDED = b"""\
import torch

try:
    new = torch.ops._C.new
except AttributeError:
    new = None
"""


def test_a_call_that_may_fail_is_left_alone(carrying: Carrying) -> None:
    compiled(carrying, base={"vllm/six.py": b"six = 6\n"}, head=GUARDED)
    assert carrying.run("add", "7") == 0


REGISTERS = {
    "vLLM's": b"direct_register_custom_op(op_name='new', op_func=f)\n",
    "by place": b"direct_register_custom_op('new', f)\n",
    "a decorator": b"@torch.library.custom_op('vllm::new', mutates_args=())\ndef new(x): ...\n",
    "a definition": b"torch.library.define('vllm::new', '(Tensor x) -> Tensor')\n",
    "of a library": b"vllm_lib.define('new(Tensor x) -> Tensor')\n",
}
CALLS = b"import torch\n\n\ndef f(x):\n    return torch.ops.vllm.new(x)\n"


@pytest.mark.parametrize("name", REGISTERS)
def test_an_op_that_python_registers_is_needed(
    name: str, carrying: Carrying, capfd: Capture
) -> None:
    carrying.push(7, carrying.main[0], {ONE: CALLS, THREE: REGISTERS[name]})
    command = refused(carrying, capfd, "add", f"7:{ONE}")
    assert command[-1].startswith(f"7:{THREE}:")
    assert carrying.run(*command) == 0


@pytest.mark.parametrize(
    ("calls", "registers"),
    [
        (CALLS + b"if hasattr(torch.ops.vllm, 'new'): ...\n", REGISTERS["vLLM's"]),
        (CALLS + b"for name in ['new']:\n    define(name)\n", REGISTERS["vLLM's"]),
        (CALLS, b"def register(name):\n    direct_register_custom_op(name, f)\nregister('new')\n"),
        (CALLS, b"new = 1\n"),
    ],
    ids=["asked for", "a name worked out", "through another", "nowhere"],
)
def test_a_registration_that_cannot_be_told_is_not_needed(
    calls: bytes, registers: bytes, carrying: Carrying
) -> None:
    carrying.push(7, carrying.main[0], {ONE: calls, THREE: registers})
    assert carrying.run("add", f"7:{ONE}") == 0


def test_another_file_of_the_lane_may_register_it(carrying: Carrying) -> None:
    carrying.push(8, carrying.main[0], {"vllm/eight.py": REGISTERS["a decorator"]})
    assert carrying.run("add", "8") == 0
    carrying.push(7, carrying.main[0], {ONE: CALLS, THREE: REGISTERS["vLLM's"]})
    assert carrying.run("add", f"7:{ONE}") == 0
