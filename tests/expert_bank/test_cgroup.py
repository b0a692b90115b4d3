"""Control groups as machines and containers show them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expert_bank.cgroup import Limit, limits
from tests.expert_bank.machines import GIB, written

V2_MOUNT = "29 23 0:26 {} {} rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
V1_MOUNT = "35 31 0:32 {} {} rw,relatime - cgroup cgroup rw,memory\n"
GROUPS, MOUNTS = "proc/self/cgroup", "proc/self/mountinfo"
UNLIMITED = "9223372036854771712\n"


def v2(folder: str, limit: str, used: int, active: int = 0, inactive: int = 0) -> dict[str, str]:
    """A group of version 2."""
    stat = f"anon 5\nfile 7\nactive_file {active}\ninactive_file {inactive}\nshmem 1\n"
    return {
        f"{folder}/memory.max": f"{limit}\n",
        f"{folder}/memory.current": f"{used}\n",
        f"{folder}/memory.stat": stat,
    }


def v1(folder: str, limit: str, used: int, cache: int = 0) -> dict[str, str]:
    """A group of version 1."""
    stat = f"inactive_file 3\ntotal_active_file 0\ntotal_inactive_file {cache}\n"
    return {
        f"{folder}/memory.limit_in_bytes": limit,
        f"{folder}/memory.usage_in_bytes": f"{used}\n",
        f"{folder}/memory.stat": stat,
    }


def test_a_container_of_version_2(tmp_path: Path) -> None:
    files = {
        GROUPS: "0::/\n",
        MOUNTS: "22 27 0:21 / /proc rw - proc proc rw\n" + V2_MOUNT.format("/", "/sys/fs/cgroup"),
        **v2("sys/fs/cgroup", str(300 * GIB), 20 * GIB, 3 * GIB, 12 * GIB),
    }
    assert limits(root=written(tmp_path, files)) == (
        Limit("/sys/fs/cgroup/memory.max", 300 * GIB, 20 * GIB, 15 * GIB),
    )


def test_every_group_above_counts(tmp_path: Path) -> None:
    files = {
        GROUPS: "0::/pods/pod1/engine\n",
        MOUNTS: V2_MOUNT.format("/", "/sys/fs/cgroup"),
        **v2("sys/fs/cgroup/pods/pod1/engine", "max", 1),
        **v2("sys/fs/cgroup/pods/pod1", "1000", 600, 700),
        **v2("sys/fs/cgroup/pods", "9000", 800),
        **v2("sys/fs/cgroup/pods/pod2", "5", 5),
    }
    assert limits(root=written(tmp_path, files)) == (
        Limit("/sys/fs/cgroup/pods/pod1/memory.max", 1000, 600, 600),
        Limit("/sys/fs/cgroup/pods/memory.max", 9000, 800, 0),
    )


def test_version_1_beside_an_empty_version_2(tmp_path: Path) -> None:
    files = {
        GROUPS: "9:name=systemd:/\n4:memory:/job/1\n1:cpu,cpuacct:/\n0::/\n",
        MOUNTS: V1_MOUNT.format("/", "/sys/fs/cgroup/memory")
        + V2_MOUNT.format("/", "/sys/fs/cgroup/unified"),
        **v1("sys/fs/cgroup/memory", UNLIMITED, 900),
        **v1("sys/fs/cgroup/memory/job", "5000\n", 700, cache=100),
        **v1("sys/fs/cgroup/memory/job/1", UNLIMITED, 600),
    }
    assert limits(root=written(tmp_path, files)) == (
        Limit("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", 5000, 700, 100),
    )


@pytest.mark.parametrize("group", ["/docker/abc", "/../../other", "/", "/docker/abcd"])
def test_a_container_sees_its_own_group_at_the_root(tmp_path: Path, group: str) -> None:
    files = {
        GROUPS: f"4:memory:{group}\n",
        MOUNTS: V1_MOUNT.format("/docker/abc", "/sys/fs/cgroup/memory"),
        **v1("sys/fs/cgroup/memory", "5000\n", 700),
    }
    (found,) = limits(root=written(tmp_path, files))
    assert found.limit == 5000


@pytest.mark.parametrize(
    ("top", "group"), [("/docker/abc", "/other/x/inner"), ("/", "/../inner"), ("/a", "/../a/inner")]
)
def test_a_group_of_another_place_is_not_taken_for_ones_own(
    tmp_path: Path, top: str, group: str
) -> None:
    files = {
        GROUPS: f"0::{group}\n",
        MOUNTS: V2_MOUNT.format(top, "/sys/fs/cgroup"),
        **v2("sys/fs/cgroup", "70", 7),
        **v2("sys/fs/cgroup/inner", "5", 1),
        **v2("sys/fs/cgroup/a/inner", "5", 1),
        **v2("sys/fs/inner", "5", 1),
    }
    assert [found.limit for found in limits(root=written(tmp_path, files))] == [70]


def test_a_group_that_is_gone_leaves_those_above(tmp_path: Path) -> None:
    files = {
        GROUPS: "0::/a/b (deleted)\n",
        MOUNTS: V2_MOUNT.format("/", "/sys/fs/cgroup"),
        **v2("sys/fs/cgroup/a", "70", 7),
    }
    assert [found.limit for found in limits(root=written(tmp_path, files))] == [70]


def test_a_mount_with_a_blank_in_its_name(tmp_path: Path) -> None:
    files = {
        GROUPS: "0::/my group:1\n",
        MOUNTS: V2_MOUNT.format("/", "/mnt/c\\040g"),
        **v2("mnt/c g/my group:1", "70", 7),
    }
    assert [found.limit for found in limits(root=written(tmp_path, files))] == [70]


@pytest.mark.parametrize(
    ("limit", "used"),
    [("", "7"), ("-1", "7"), ("0x10", "7"), ("70", ""), ("70", "many"), ("7 0", "7")],
)
def test_odd_figures_are_no_limit(tmp_path: Path, limit: str, used: str) -> None:
    files = {
        GROUPS: "0::/\n",
        MOUNTS: V2_MOUNT.format("/", "/sys/fs/cgroup"),
        "sys/fs/cgroup/memory.max": limit,
        "sys/fs/cgroup/memory.current": used,
    }
    assert limits(root=written(tmp_path, files)) == ()


def test_no_control_groups_are_no_limit(tmp_path: Path) -> None:
    assert limits(root=tmp_path) == ()


LINES = st.lists(
    st.sampled_from(
        [
            "0::",
            "4:memory:",
            "/",
            "/..",
            "\\040",
            " ",
            " - ",
            "cgroup2",
            "cgroup",
            "memory",
            "\n",
            "\0",
            "a",
        ]
    ),
    max_size=40,
).map("".join)


@given(LINES, LINES)
def test_no_text_breaks_it(
    tmp_path_factory: pytest.TempPathFactory, groups: str, mounts: str
) -> None:
    root = tmp_path_factory.getbasetemp()
    assert limits(root=written(root, {GROUPS: groups, MOUNTS: mounts})) == ()


def test_this_machine_is_read() -> None:
    assert all(found.limit > 0 and 0 <= found.cache <= found.used for found in limits())
