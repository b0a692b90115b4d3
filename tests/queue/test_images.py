"""The image of a pin: looked for, locked by digest, moved together with the pin."""

from collections.abc import Iterator

import pytest

from lanewright.queue.lock import LockedBase, encode
from tests.upstream.fixtures import Carrying
from tests.upstream.lanes import grow, on_git, pin_of, stand
from tests.upstream.web import Answer, Web, serving

ASKED = "/tags?page_size=100&name=nightly-"
NAME = "docker.io/vllm/vllm-openai"
SITE = '\n# Where it runs.\n[image]\nsite_packages = "/usr/lib/python3/dist-packages"\n'
ARM = f'{SITE}architecture = "arm64"  # Grace\n'


def digest(number: int) -> str:
    return f"sha256:{number:064x}"


def base(commit: str, number: int, name: str = NAME) -> str:
    return f'base = "{name}:nightly-{commit}"\ndigest = "{digest(number)}"\n'


@pytest.fixture
def hub(carrying: Carrying) -> Iterator[Web]:
    """A server with Docker Hub's API; upstream.toml names its address."""
    with serving() as web:
        toml = carrying.root / "upstream.toml"
        toml.write_text(f'{toml.read_text()}images = "{web.url}"\n')
        offer(web, carrying)
        yield web


def offer(web: Web, carrying: Carrying, *numbers: int, **more: str) -> None:
    """Let commits of main have images for arm64, and others for another machine."""
    days = {carrying.main[number]: number for number in numbers} | {
        commit: int(day) for commit, day in more.items()
    }
    tags = [
        {
            "name": f"nightly-{commit}",
            "last_updated": f"2026-09-{day + 1:02}T08:00:00Z",
            "images": [{"architecture": "arm64", "os": "linux", "digest": digest(day)}],
        }
        for commit, day in days.items()
    ]
    foreign = [{"architecture": "amd64", "os": "linux", "digest": digest(99)}]
    last = {"name": f"nightly-{carrying.main[-1]}", "last_updated": "2026-09-30T08:00:00Z"}
    page = {"results": [*tags, *([] if -1 in numbers else [{**last, "images": foreign}])]}
    web.answers[ASKED] = Answer({**page, "next": None})


def series(carrying: Carrying) -> str:
    return carrying.series.read_text()


def test_nightly_is_the_newest_commit_with_an_image_of_the_lanes_architecture(
    carrying: Carrying, hub: Web, capfd: pytest.CaptureFixture[str]
) -> None:
    old = base(carrying.main[0], 0)
    stand(carrying, 'pin = "release:0.31.0"', 'track = "nightly"', image=ARM + old)
    offer(hub, carrying, 2, 6, 4)
    assert carrying.run("rebase") == 0
    name, wanted = f"{NAME}:nightly-{carrying.main[6]}", digest(6)
    assert f"image {name} {wanted}" in capfd.readouterr().out
    assert pin_of(carrying) == list(on_git(carrying.main[6]))
    assert ARM + base(carrying.main[6], 6) in series(carrying)
    assert carrying.lock.base == LockedBase(name, wanted)
    assert carrying.lock.pin.commit == carrying.main[6]
    assert carrying.run("verify") == 0
    assert carrying.run("undo") == 0
    assert ARM + old in series(carrying)
    assert pin_of(carrying) == ['pin = "release:0.31.0"']
    assert not carrying.series.with_suffix(".lock").exists()


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        (f"{NAME}:nightly-x", NAME),
        (NAME, NAME),
        ("localhost:5000/mirror", "localhost:5000/mirror"),
        ("localhost:5000/mirror:x", "localhost:5000/mirror"),
        (f"quay.io/a/b@{digest(3)}", "quay.io/a/b"),
        (f"quay.io/a/b:x@{digest(3)}", "quay.io/a/b"),
        ("image:x", "image"),
    ],
)
def test_an_image_keeps_its_name_and_gets_another_tag(
    carrying: Carrying, hub: Web, name: str, kept: str
) -> None:
    image = f'{ARM}base = "{name}"\ndigest = "{digest(3)}"\n'
    stand(carrying, 'pin = "release:0.31.0"', image=image)
    offer(hub, carrying, 5)
    assert carrying.run("rebase", "--to", carrying.main[5]) == 0
    assert base(carrying.main[5], 5, kept) in series(carrying)


def test_a_commit_without_an_image_is_refused_and_the_nearest_are_offered(
    carrying: Carrying, hub: Web, capfd: pytest.CaptureFixture[str]
) -> None:
    stand(carrying, 'pin = "release:0.31.0"', image=ARM)
    before = series(carrying)
    aside = grow(carrying, "aside", carrying.main[5], {"vllm/aside.py": ""})
    offer(hub, carrying, 1, 3, 7, 9, **{aside: "8", "f" * 40: "10"})
    assert carrying.run("rebase", "--to", f"git:{carrying.main[5]}") == 1
    told = capfd.readouterr().err
    assert f"commit {carrying.main[5]} has no image for arm64" in told
    assert (
        f"{carrying.main[3]} (2026-09-04T08:00:00Z, 2 commits before it); "
        f"{carrying.main[7]} (2026-09-08T08:00:00Z, 2 commits after it)"
    ) in told
    assert series(carrying) == before


def test_the_nearest_are_nearest_by_history_whenever_they_were_pushed(
    carrying: Carrying, hub: Web, capfd: pytest.CaptureFixture[str]
) -> None:
    stand(carrying, 'pin = "release:0.31.0"', image=ARM)
    offer(hub, carrying, **{carrying.main[4]: "1", carrying.main[2]: "9"})
    assert carrying.run("rebase", "--to", carrying.main[5]) == 1
    told = capfd.readouterr().err
    assert f"have one: {carrying.main[4]} (2026-09-02T08:00:00Z, 1 commit before it)\n" in told


def test_images_of_unknown_commits_are_offered_where_there_are_no_others(
    carrying: Carrying, hub: Web, capfd: pytest.CaptureFixture[str]
) -> None:
    stand(carrying, 'pin = "release:0.31.0"', image=ARM)
    offer(hub, carrying, **{"f" * 40: "1"})
    assert carrying.run("rebase", "--to", carrying.main[5]) == 1
    assert f"the nearest that have one: {'f' * 40} (2026-09-02" in capfd.readouterr().err
    offer(hub, carrying)
    assert carrying.run("rebase", "--to", carrying.main[5]) == 1
    assert "the nearest that have one: none at all" in capfd.readouterr().err
    assert carrying.run("rebase", "--to", "nightly") == 1
    assert "no nightly image for arm64 in http://127.0.0.1" in capfd.readouterr().err


def test_a_lane_on_its_commit_needs_the_image_no_more_than_locked(
    carrying: Carrying, hub: Web
) -> None:
    image = ARM + base(carrying.main[4], 4)
    stand(carrying, *on_git(carrying.main[4]), image=image)
    assert carrying.run("build") == 0
    before = (series(carrying), encode(carrying.lock))
    assert carrying.run("rebase", "--to", carrying.main[4]) == 0
    assert (series(carrying), encode(carrying.lock)) == before
    assert hub.asked == []


def test_serving_brings_its_own_image_and_asks_nobody(carrying: Carrying, hub: Web) -> None:
    with (carrying.root / "upstream.toml").open("a") as file:
        file.write(f'[serving]\ncommit = "{carrying.main[3]}"\nimage = "quay.io/a/b:c"\n')
        file.write(f'digest = "{digest(3)}"\n')
    stand(carrying, 'pin = "release:0.31.0"', 'track = "serving"', image=ARM)
    assert carrying.run("rebase") == 0
    assert carrying.lock.base == LockedBase("quay.io/a/b:c", digest(3))
    assert hub.asked == []


def test_the_image_of_another_pin_does_not_stay(
    carrying: Carrying, hub: Web, capfd: pytest.CaptureFixture[str]
) -> None:
    stand(carrying, *on_git(carrying.main[4]), image=ARM + base(carrying.main[4], 4))
    assert carrying.run("rebase", "--to", "release:0.32.0") == 0
    assert "is not of release:0.32.0: taken out of [image]" in capfd.readouterr().out
    assert series(carrying).endswith(ARM)
    assert not carrying.lock.base
    assert b'"base"' not in encode(carrying.lock)
    assert hub.asked == []


def test_a_lane_that_names_no_image_goes_anywhere_and_asks_nobody(
    carrying: Carrying, hub: Web
) -> None:
    stand(carrying, 'pin = "release:0.31.0"', image=SITE)
    assert carrying.run("rebase", "--to", "main") == 0
    assert not carrying.lock.base
    assert carrying.lock.layer
    assert hub.asked == []


@pytest.mark.parametrize("to", ["nightly", "main"])
def test_a_lane_served_in_an_image_says_its_architecture(
    carrying: Carrying, hub: Web, capfd: pytest.CaptureFixture[str], to: str
) -> None:
    image = f'{SITE}base = "{NAME}:x"\ndigest = "{digest(1)}"\n'
    stand(carrying, 'pin = "release:0.31.0"', image=image)
    assert carrying.run("rebase", "--to", to) == 1
    told = capfd.readouterr().err
    assert "series/sample.toml: which architecture is its image for?" in told
    assert hub.asked == []


@pytest.mark.parametrize("image", ["", SITE], ids=["no table", "a table"])
def test_a_cpu_lane_whose_base_is_made_here_has_no_nightly_image(
    carrying: Carrying, hub: Web, capfd: pytest.CaptureFixture[str], image: str
) -> None:
    stand(carrying, 'pin = "release:0.31.0"', image=image)
    for command in ("rebase --lane sample --to nightly", "report --to nightly"):
        assert carrying.run(*command.split()) == 1
        told = capfd.readouterr().err
        assert "series/sample.toml: a CPU lane has no nightly image" in told
        assert "next: lanewright rebase --lane sample --to release" in told  # without it, all lanes
        assert "architecture" not in told
    assert hub.asked == []


def test_nightly_needs_a_table_image(carrying: Carrying, capfd: pytest.CaptureFixture[str]) -> None:
    settings = carrying.root / "upstream.toml"
    settings.write_text(settings.read_text().replace("\ncpu = ", '\ncuda = "vllm"\ncpu = '))
    stand(carrying, 'pin = "release:0.31.0"', 'track = "nightly"')
    carrying.series.write_text(series(carrying).replace('device = "cpu"', 'device = "cuda"'))
    assert carrying.run("rebase") == 1
    assert 'add architecture = "arm64", or "amd64", to its table [image]' in capfd.readouterr().err


def test_upstream_toml_names_where_images_are(
    carrying: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    stand(carrying, 'pin = "release:0.31.0"', image=ARM)
    assert carrying.run("rebase", "--to", "nightly") == 1
    assert "upstream.toml names no repository of images" in capfd.readouterr().err


def test_an_address_alone_does_not_name_an_image(
    carrying: Carrying, hub: Web, capfd: pytest.CaptureFixture[str]
) -> None:
    stand(carrying, 'pin = "release:0.31.0"', image=ARM)
    offer(hub, carrying, 5)
    assert carrying.run("rebase", "--to", "nightly") == 1
    assert "what is its image called?" in capfd.readouterr().err


def test_a_hub_that_is_not_there_changes_nothing(
    carrying: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    with serving() as web:
        url = web.url
    toml = carrying.root / "upstream.toml"
    toml.write_text(f'{toml.read_text()}images = "{url}"\n')
    stand(carrying, 'pin = "release:0.31.0"', image=ARM)
    assert carrying.run("rebase", "--to", "nightly") == 1
    told = capfd.readouterr().err
    assert "no list of nightly images" in told
    assert "--to git:SHA" in told
    assert pin_of(carrying) == ['pin = "release:0.31.0"']


def test_another_image_makes_a_lock_out_of_date(
    carrying: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    stand(carrying, *on_git(carrying.main[0]), image=ARM + base(carrying.main[0], 1))
    assert carrying.run("build") == 0
    carrying.series.write_text(series(carrying).replace(digest(1), digest(2)))
    assert carrying.run("build", "--check") == 4
    assert f"[image] base {digest(1)} -> {digest(2)}" in capfd.readouterr().err
