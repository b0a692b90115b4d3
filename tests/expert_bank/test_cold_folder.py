"""Folders and limits that the file of cold rows, or the lock of hot ones, does not fit."""

import re
import resource
from pathlib import Path
from subprocess import run

import pytest

from expert_bank.cold_file import ColdFile
from expert_bank.cold_folder import FOLDER
from expert_bank.locking import lock, require_lockable
from expert_bank.refused import Refused
from tests.expert_bank.cold_folders import folder, told

__all__ = ["folder"]
MEMORY = Path("/dev/shm")  # noqa: S108 - memory is what the test needs
MIB = 2**20


def test_a_folder_in_memory_is_refused() -> None:
    if not any(
        line.split()[1:3] == [str(MEMORY), "tmpfs"]
        for line in Path("/proc/mounts").read_text().splitlines()
    ):
        pytest.skip(f"{MEMORY} is no tmpfs here")
    with pytest.raises(Refused, match=rf"{MEMORY} is on a tmpfs, .*\n.*{FOLDER}"):
        ColdFile(MEMORY)


def test_a_folder_that_is_none_is_refused(folder: Path) -> None:
    with pytest.raises(Refused, match=f"takes no file: No such file .*\n.*{FOLDER}"):
        ColdFile(folder / "none")


FULL = """\
import resource
from pathlib import Path
from expert_bank.cold_file import ColdFile
from expert_bank.file_pages import FilePages
from expert_bank.refused import Refused
resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, 2**20))
file = ColdFile(Path(sys.argv[1]))
pages = FilePages(0, 2**19, file)
pages.view()[:] = b"x" * 2**19
for act in (lambda: file.reserve(2**21), lambda: FilePages(2**19, 2**20, file)):
    try:
        act()
    except Refused as refused:
        print(refused)
file.settle()
import os
print(os.fstat(file._number).st_size, file.size, bytes(pages.view()) == b"x" * 2**19)
"""


def test_a_file_that_cannot_grow_is_refused_and_what_it_has_stays(folder: Path) -> None:
    first, hint, second, _, left = told(FULL, folder)
    said = rf"moe_cold_rows file: {folder} does not take a file of %s MiB: File too large"
    assert re.fullmatch(said % r"2\.00", first)
    assert re.fullmatch(said % r"1\.50", second)
    assert FOLDER in hint
    assert "ulimit -f" in hint
    assert left == f"{2**19} {2**19} True"
    assert [*folder.iterdir()] == []


SMALL = """\
from pathlib import Path
from expert_bank.cold_file import ColdFile
from expert_bank.file_pages import FilePages
from expert_bank.refused import Refused
file = ColdFile(Path(sys.argv[1]))
pages = FilePages(0, 2**20, file)
pages.view()[:] = b"x" * 2**20
before = file.room
for _ in range(2):
    try:
        file.reserve(2**26)
    except Refused as refused:
        print(str(refused).splitlines()[0])
    print(before - file.room)
file.reserve(before // 2)
pages.view()[:] = b"y" * 2**20
file.settle()
print(bytes(pages.view()) == b"y" * 2**20)
"""


def test_a_full_disk_is_refused_and_gets_its_room_back(tmp_path: Path) -> None:
    image, disk = tmp_path / "image", tmp_path / "disk"
    disk.mkdir()
    with image.open("wb") as made:
        made.truncate(16 * MIB)
    # In a mount namespace of its own: nothing stays mounted, whatever becomes of the script.
    mounted = f"mkfs.ext4 -q -F {image} && mount -o loop {image} {disk}"
    inside = ("unshare", "--mount", "sh", "-c", f'{mounted} && exec "$@"', "sh")
    if run([*inside, "true"], check=False, capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    first, lost, second, lost_again, whole = told(SMALL, disk, before=inside)
    said = f"moe_cold_rows file: {disk} does not take a file of 64.00 MiB: No space left on device"
    assert first == second == said
    # All but a block or two of the file system's own.
    assert max(int(lost), int(lost_again)) < MIB // 16
    assert whole == "True"


LIMITED = """\
import os, resource
from expert_bank.file_calls import lock as call
from expert_bank.locking import lock, require_lockable
from expert_bank.memlock import memlock
from expert_bank.pages import HostPages
from expert_bank.refused import Refused
resource.setrlimit(resource.RLIMIT_MEMLOCK, (4 * 2**20, 4 * 2**20))
if os.getuid() == 0:
    os.setresuid(65534, 65534, 65534)
pages = HostPages(2**20)
lock(pages.address, pages.size)
require_lockable(3 * 2**20)
large = HostPages(8 * 2**20)
for act in (lambda: require_lockable(large.size), lambda: lock(large.address, large.size)):
    try:
        act()
    except Refused as refused:
        print(refused)
print(memlock().locked)
"""


def test_more_than_may_be_locked_is_refused_with_the_numbers() -> None:
    first, hint, second, same, locked = told(LIMITED)
    assert (
        first
        == second
        == (
            "host memory cannot be locked: 8.00 MiB needed + 1.00 MiB locked + 0 B pinned - 4.00 MiB"
            " allowed (RLIMIT_MEMLOCK) = 5.00 MiB too much"
        )
    )
    assert hint == same == "start the container with --ulimit memlock=-1, or raise `ulimit -l`"
    assert locked == str(MIB)


def test_nothing_to_lock_needs_no_limit() -> None:
    kept = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (0, kept[1]))
    try:
        require_lockable(0)
        lock(0, 0)
    finally:
        resource.setrlimit(resource.RLIMIT_MEMLOCK, kept)


def test_a_range_that_is_none_is_no_limits_fault() -> None:
    with pytest.raises(Refused, match=r"1\.00 MiB of hot rows cannot be locked in memory: mlock: "):
        lock(2**20, MIB)
