"""Many fetches bring many packs, and one index over them."""

from lanewright.places import Places
from lanewright.store.fetching import fetch_blobs, fetch_refs
from lanewright.store.git import Repository
from lanewright.store.incoming import MANY
from lanewright.store.locking import writing
from lanewright.store.objects import BlobId, read_blobs
from lanewright.store.remote import Remote
from tests.upstream.diff import git
from tests.upstream.history import Upstream

MAIN = "refs/heads/main"


def fetch_many(places: Places, remote: Remote, upstream: Upstream) -> dict[BlobId, bytes]:
    """Fetch contents one by one, each in a pack of its own; what they are."""
    wanted: dict[BlobId, bytes] = {}
    for number in range(MANY):
        (upstream.path / f"{number}.py").write_text(f"NUMBER = {number}\n")
        git(upstream.path, "add", "--all")
        git(upstream.path, "commit", "--quiet", "-m", f"{number}")
        blob = BlobId(upstream.blob(f"main:{number}.py"))
        wanted[blob] = f"NUMBER = {number}\n".encode()
        fetch_refs(places, remote, [MAIN])
        fetch_blobs(places, remote, [blob])
    return wanted


def test_many_packs_have_one_index(
    places: Places, store: Repository, remote: Remote, upstream: Upstream
) -> None:
    wanted = fetch_many(places, remote, upstream)
    packs = store.path / "objects/pack"
    assert len(list(packs.glob("*.idx"))) >= MANY
    assert (packs / "multi-pack-index").exists()
    store.run("multi-pack-index", "verify")
    assert read_blobs(store, wanted) == wanted
    for blob, content in wanted.items():
        assert store.run("cat-file", "blob", blob).stdout == content


def test_a_writer_that_was_killed_at_it_stops_nobody(
    places: Places, store: Repository, remote: Remote, upstream: Upstream
) -> None:
    packs = store.path / "objects/pack"
    with writing(places):
        packs.mkdir(exist_ok=True)
        (packs / "multi-pack-index.lock").write_bytes(b"")
    wanted = fetch_many(places, remote, upstream)
    assert (packs / "multi-pack-index").exists()
    (packs / "multi-pack-index").write_bytes(b"MIDX, cut short")
    assert read_blobs(Repository(places.objects), wanted) == wanted
    (packs / "multi-pack-index.lock").write_bytes(b"")
    with writing(places):
        assert not (packs / "multi-pack-index.lock").exists()
