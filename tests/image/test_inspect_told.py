"""Every kind of entry, as people read it."""

from lanewright.image.inspect.labels import told_by
from lanewright.image.inspect.seen import Seen, SeenLayer
from lanewright.image.inspect.text import lines
from lanewright.image.stamps import ToldEntry, ToldFix, lane_stamps
from lanewright.queue.lock import Lock

DIGEST = "d" * 64
PULL = ToldEntry(
    name="96177",
    kind="pull",
    digest=DIGEST,
    pull=96177,
    head="a" * 40,
    base="b" * 40,
    claims=["experts.residency", "experts.copies"],
    hunks={"clean": ["0123456789"], "merged": ["1123456789", "2123456789", "3123456789"]},
    left={"landed": 1, "not selected": 12},
    fixes=[ToldFix("vllm/a.py", "e" * 64, "replayed")],
)
TEXT = f"""\
  96177: pull request 96177 at {"a" * 40}, made on {"b" * 40}
    sha256 {DIGEST}
    claims experts.residency, experts.copies
    4 hunks: 1 clean, 3 merged
      clean: 0123456789
      merged: 1123456789, 2123456789, 3123456789
    left: 1 landed, 12 not selected
    fix of vllm/a.py: replayed, sha256 {"e" * 64}
  waiting: patch
    sha256 {DIGEST}
    0 hunks
    left: 1 conflict
  package: overlay
    sha256 {DIGEST}
    1 file"""


def test_every_kind_of_entry(lock: Lock) -> None:
    labels = {
        **lane_stamps(lock),
        "org.opencontainers.image.base.name": "docker.io/vllm/vllm-openai:nightly",
        "org.opencontainers.image.base.digest": f"sha256:{DIGEST}",
    }
    layers = (SeenLayer(f"sha256:{DIGEST}", f"sha256:{DIGEST}", 3 * 2**20),)
    image = Seen("here", "", f"sha256:{DIGEST}", "linux/arm64", "", labels, layers)
    told, _ = told_by("here", labels)
    entries = [
        PULL,
        ToldEntry("waiting", "patch", DIGEST, left={"conflict": 1}),
        ToldEntry("package", "overlay", DIGEST, files=1),
    ]
    text = "\n".join(lines(image, told, entries))
    assert text.endswith(f"\n  carries   3 entries\n{TEXT}")
    assert f"  base      docker.io/vllm/vllm-openai:nightly (sha256:{DIGEST})\n" in text
    assert "  size      3.0 MiB in 1 layer\n" in text
    assert "  created   not said\n" in text
    # Without a layer of its own nothing says what vLLM calls itself.
    assert text.startswith("lane sample\n")
