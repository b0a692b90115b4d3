"""What ``--to`` and ``track`` stand for, on the lane's series and at the remote."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lanewright.errors import LanewrightError
from lanewright.queue.edit.edited import read_text, series_text
from lanewright.queue.move.target import Target, target_of
from tests.upstream.diff import git
from tests.upstream.fixtures import Carrying
from tests.upstream.lanes import grow, on_git, stand
from tests.upstream.wheels import make_wheel

SERVING = '\n[serving]\ncommit = "{}"\nimage = "docker.io/a/b:c"\ndigest = "sha256:{}"\n'


def target(carrying: Carrying, to: str | None = None) -> Target:
    series = read_text(carrying.project, "sample", series_text(carrying.project, "sample"))
    return target_of(carrying.project, carrying.places, "sample", series, to)


def tag(carrying: Carrying, *names: str, at: int = 0) -> None:
    for name in names:
        git(carrying.upstream, "tag", name, carrying.main[at])


@pytest.mark.parametrize("to", ["0.32.0", "release:0.32.0"])
def test_a_version_is_a_release(carrying: Carrying, to: str) -> None:
    assert target(carrying, to) == Target("release:0.32.0")


def test_a_git_lane_goes_to_a_release_by_its_full_name(carrying: Carrying) -> None:
    stand(carrying, *on_git(carrying.main[0]))
    assert target(carrying, "release:0.32.0") == Target("release:0.32.0")
    with pytest.raises(LanewrightError, match=r"has no refs/heads/0\.32\.0") as error:
        target(carrying, "0.32.0")
    assert error.value.hint == "a git lane goes to release:0.32.0, or to upstream's tag v0.32.0"


@pytest.mark.parametrize(("name", "at"), [("v0.31.0", 0), ("v0.32.0", -1)])
def test_a_tag_annotated_or_not_is_its_commit_with_its_release(
    carrying: Carrying, name: str, at: int
) -> None:
    assert target(carrying, name) == Target(f"git:{carrying.main[at]}", name[1:])


def test_a_pattern_is_the_newest_version_not_the_last_text(carrying: Carrying) -> None:
    tag(carrying, "v0.39.0", "v0.4.0", "v0.3rubbish")
    tag(carrying, "v0.310.0", at=2)
    assert target(carrying, "tag:v0.3*") == Target(f"git:{carrying.main[2]}", "0.310.0")
    assert target(carrying, "tag:v0.32.*") == Target(f"git:{carrying.main[-1]}", "0.32.0")


def test_a_release_candidate_counts_only_where_there_is_nothing_else(carrying: Carrying) -> None:
    tag(carrying, "v0.33.0rc1", "v0.33.0rc2", at=3)
    assert target(carrying, "tag:v0.3*").release == "0.32.0"
    assert target(carrying, "tag:v0.33.*") == Target(f"git:{carrying.main[3]}", "0.33.0rc2")
    assert target(carrying, "v0.33.0rc1").release == "0.33.0rc1"


def test_a_tag_of_another_name_keeps_the_release(carrying: Carrying) -> None:
    tag(carrying, "stable", at=2)
    assert target(carrying, "tag:stable") == Target(f"git:{carrying.main[2]}", "0.31.0")


def test_a_branch_is_its_newest_commit(carrying: Carrying) -> None:
    assert target(carrying, "main") == Target(f"git:{carrying.main[-1]}", "0.31.0")
    moved = grow(carrying, "main", carrying.main[-1], {"vllm/a.py": "a = 1\n"})
    assert target(carrying, "main") == Target(f"git:{moved}", "0.31.0")
    aside = grow(carrying, "v9", carrying.main[0], {"vllm/a.py": "a = 2\n"})
    assert target(carrying, "v9") == Target(f"git:{aside}", "0.31.0")


@pytest.mark.parametrize("prefix", ["", "git:"])
def test_a_full_id_is_that_commit(carrying: Carrying, prefix: str) -> None:
    assert target(carrying, f"{prefix}{carrying.main[4]}").pin == f"git:{carrying.main[4]}"


@pytest.mark.parametrize("digits", [4, 7, 12, 39])
def test_a_short_id_is_refused_and_why_is_said(carrying: Carrying, digits: int) -> None:
    short = carrying.main[4][:digits]
    with pytest.raises(LanewrightError, match=f"sample.toml: --to {short}: ") as error:
        target(carrying, short)
    assert "all 40 digits" in (error.value.hint or "")
    with pytest.raises(LanewrightError, match=r"'git:.*' names no commit: .* all 40 digits"):
        target(carrying, f"git:{short}")


def test_a_branch_may_look_like_a_short_id(carrying: Carrying) -> None:
    commit = grow(carrying, "deadbeef", carrying.main[0], {"vllm/a.py": ""})
    assert target(carrying, "deadbeef").pin == f"git:{commit}"


@pytest.mark.parametrize(
    ("to", "told"),
    [
        ("nowhere", "has no refs/heads/nowhere"),
        ("v9.9.9", "has no refs/heads/v9.9.9"),
        ("serving", "has no refs/heads/serving"),
        ("a" * 40, "commit gone: .* object a{40}"),
        ("git:main", "names no commit"),
        ("release:main", "'release:main' is no release"),
        ("release:v0.32.0", "is no release"),
        ("tag:v7*", r"has no release tag 'v7\*'"),
        ("tag:", "has no release tag ''"),
        ("--upload-pack=x", "'--upload-pack=x' is no name of a branch"),
        ("tag:--upload-pack=x", "no release tag '--upload-pack=x'"),
        ("main~1", "is no name"),
        ("main:other", "is no name"),
        ("", "nothing says|is no name"),
        ("refs/heads/../x", "is no name"),
        ("a b", "is no name"),
    ],
)
def test_what_stands_for_nothing_is_refused(carrying: Carrying, to: str, told: str) -> None:
    stand(carrying, *on_git(carrying.main[0]))
    with pytest.raises(LanewrightError, match=told):
        target(carrying, to)


def test_serving_is_the_commit_that_upstream_toml_names(carrying: Carrying) -> None:
    with (carrying.root / "upstream.toml").open("a") as file:
        file.write(SERVING.format(carrying.main[3], "0" * 64))
    assert target(carrying, "serving") == Target(f"git:{carrying.main[3]}", "0.31.0")


@pytest.mark.parametrize("commit", ["f" * 39, "main"])
def test_a_serving_commit_is_a_full_id(carrying: Carrying, commit: str) -> None:
    with (carrying.root / "upstream.toml").open("a") as file:
        file.write(SERVING.format(commit, "0" * 64))
    with pytest.raises(LanewrightError, match=r"upstream\.toml: .* at `\$\.serving\.commit`"):
        _ = carrying.project


def test_without_a_track_a_release_lane_goes_to_the_newest_release(
    carrying: Carrying, index: Path
) -> None:
    for version in ("0.9.0", "0.31.0", "0.32.0", "0.33.0rc1"):
        make_wheel(index, version, {})
    assert target(carrying) == Target("release:0.32.0")
    stand(carrying, *on_git(carrying.main[0]), 'track = "release"')
    assert target(carrying) == Target("release:0.32.0")


def test_a_lane_on_a_newer_release_than_the_index_has_stays(
    carrying: Carrying, index: Path
) -> None:
    make_wheel(index, "0.30.0", {})
    assert target(carrying) == Target("release:0.31.0")


@pytest.mark.parametrize("track", ["main", "tag:v0.3*", "v0.32.0"])
def test_a_lane_goes_where_it_tracks(carrying: Carrying, track: str) -> None:
    stand(carrying, 'pin = "release:0.31.0"', f'track = "{track}"')
    assert target(carrying).pin == f"git:{carrying.main[-1]}"


def test_a_git_lane_that_tracks_nothing_says_what_to_set(carrying: Carrying) -> None:
    stand(carrying, *on_git(carrying.main[0]))
    with pytest.raises(LanewrightError, match="nothing says where its git pin goes") as error:
        target(carrying)
    assert "track = " in (error.value.hint or "")


@pytest.mark.parametrize("pin", ["main", "git:main", f"git:{'a' * 40}"])
def test_a_broken_pin_is_told_before_anything_is_asked(carrying: Carrying, pin: str) -> None:
    stand(carrying, f'pin = "{pin}"')
    with pytest.raises(LanewrightError, match=r"series/sample\.toml: pin: "):
        target(carrying, "main")


def test_the_remote_has_to_be_named(carrying: Carrying) -> None:
    toml = carrying.root / "upstream.toml"
    toml.write_text(toml.read_text().partition("[git]")[0])
    with pytest.raises(LanewrightError, match=r"upstream\.toml names no git remote"):
        target(carrying, "main")
    assert target(carrying, "0.32.0") == Target("release:0.32.0")


NAMES = st.text(st.characters(codec="utf-8"), max_size=12)


@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.one_of(NAMES, NAMES.map("tag:{}".format), NAMES.map("git:{}".format)))
def test_whatever_is_typed_gives_a_target_or_an_error_of_ours(carrying: Carrying, to: str) -> None:
    try:
        found = target(carrying, to)
    except LanewrightError:
        return
    assert found.pin.startswith(("git:", "release:"))
