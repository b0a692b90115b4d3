"""Binding for real; what refuses it is real too where this machine has it."""

import ctypes
import errno
import platform
from pathlib import Path

import pytest

from expert_bank import system_calls
from expert_bank.node_binding import bind
from expert_bank.numa import home, nodes
from expert_bank.pages import HostPages, page_bytes
from expert_bank.placement import placement, require_placement
from expert_bank.refused import Refused
from tests.expert_bank.children import in_child
from tests.expert_bank.machines import written

PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, FILTER = 22, 38, 2
LENGTH = 6 * page_bytes()


def refusal() -> str | None:
    """Why nothing can be bound here, be it the kernel or a container."""
    if not nodes():
        return "this kernel has no NUMA"
    pages = HostPages(LENGTH)
    try:
        bind(pages.address, pages.size, home(nodes()).number)
    except Refused as refused:
        lacking = ("not permitted", "not known for", "not implemented")
        return str(refused) if any(each in str(refused) for each in lacking) else None
    return None


REASON = refusal()
needs_numa = pytest.mark.skipif(REASON is not None, reason=REASON or "")


class Step(ctypes.Structure):
    """An instruction of the kernel's packet filter."""

    _fields_ = (
        ("code", ctypes.c_uint16),
        ("yes", ctypes.c_uint8),
        ("no", ctypes.c_uint8),
        ("value", ctypes.c_uint32),
    )


class Program(ctypes.Structure):
    """A packet filter."""

    _fields_ = (("length", ctypes.c_uint16), ("steps", ctypes.POINTER(Step)))


def forbid_mbind() -> None:
    """Answer EPERM to mbind for ever, as Docker's default rules do."""
    steps = (Step * 4)(
        Step(0x20, 0, 0, 0),
        Step(0x15, 0, 1, system_calls.MBIND[platform.machine()]),
        Step(0x06, 0, 0, 0x00050000 | errno.EPERM),
        Step(0x06, 0, 0, 0x7FFF0000),
    )
    program = Program(4, steps)
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    assert libc.prctl(PR_SET_SECCOMP, FILTER, ctypes.byref(program), 0, 0) == 0


@needs_numa
def test_bound_pages_lie_where_they_were_bound() -> None:
    node = home(nodes()).number
    pages = HostPages(LENGTH)
    bind(pages.address, pages.size, node)
    pages.view()[:] = b"x" * LENGTH
    found = require_placement(pages.address, pages.size, node)
    assert found is not None
    assert found.policies == {f"bind:{node}"}
    bind(pages.address, pages.size, node)


@needs_numa
def test_nothing_beside_the_mapping_is_bound() -> None:
    pages, other = HostPages(LENGTH), HostPages(LENGTH)
    bind(pages.address, pages.size, home(nodes()).number)
    found = placement(other.address, other.size)
    assert found is not None
    assert not any(policy.startswith("bind") for policy in found.policies)


@needs_numa
def test_a_container_that_forbids_it_is_told_how_to_allow_it() -> None:
    def act() -> None:
        pages = HostPages(LENGTH)
        bind(pages.address, pages.size, home(nodes()).number)
        forbid_mbind()
        with pytest.raises(Refused, match=r"mbind is not permitted.*\n.*--cap-add SYS_NICE"):
            bind(pages.address, pages.size, home(nodes()).number)

    assert in_child(act) == 0


@needs_numa
@pytest.mark.parametrize("node", [1000, 1023, 4000])
def test_a_node_that_is_not_there_is_refused(node: int) -> None:
    pages = HostPages(LENGTH)
    with pytest.raises(Refused, match=rf"node {node}: no such node.*Mems_allowed_list:\s*\S+"):
        bind(pages.address, pages.size, node)


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (errno.EIO, "pages of it were touched before and lie on another node"),
        (errno.EINVAL, r"no such node, or it is not allowed here \(Mems_allowed_list:\t0,2\)"),
        (errno.ENOSYS, "what the kernel said"),
        (errno.ENOMEM, "what the kernel said"),
    ],
)
def test_what_this_machine_never_answers_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, code: int, told: str
) -> None:
    def answer(*_: object) -> None:
        raise OSError(code, "what the kernel said")

    monkeypatch.setattr(system_calls, "mbind", answer)
    root = written(tmp_path, {"proc/self/status": "Name:\tx\nMems_allowed_list:\t0,2\n"})
    with pytest.raises(
        Refused, match=rf"24\.00 KiB of host memory cannot be bound to node 1: {told}"
    ):
        bind(0, 24 * 1024, 1, root=root)


def test_a_processor_whose_number_is_not_known_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    with pytest.raises(Refused, match="not known for riscv64"):
        bind(0, page_bytes(), 0)
