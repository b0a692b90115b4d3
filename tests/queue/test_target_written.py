"""A series rewritten for its target: only what says where it stands is another."""

import tomllib

import pytest

from lanewright.queue.edit.edited import read_text
from lanewright.queue.move.images import Base
from lanewright.queue.move.target import Target, with_target
from tests.upstream.fixtures import Carrying

DIGEST = f"sha256:{'0' * 64}"
COMMENTED = """\
# Why this lane is here.
title = "A lane"  # in short
device = "cpu"
pin = 'release:0.31.0'  # stands

# What it serves.
[model]
recipe = "qwen3-moe-tiny"
"""


def test_comments_stay_as_a_lane_goes_to_git_and_back(carrying: Carrying) -> None:
    carrying.series.write_text(COMMENTED)
    there = move(carrying, COMMENTED, Target(f"git:{'a' * 40}", "0.31.0"))
    assert there == COMMENTED.replace(
        "'release:0.31.0'  # stands\n", f"'git:{'a' * 40}'  # stands\nrelease = \"0.31.0\"\n"
    )
    assert move(carrying, there, Target("release:0.31.0")) == COMMENTED


def move(carrying: Carrying, text: str, to: Target) -> str:
    return with_target(text, read_text(carrying.project, "sample", text), to)


@pytest.mark.parametrize(
    "image",
    [
        'image = { site_packages = "/s" }\n',
        'image.site_packages = "/s"\n',
        '[image]\nsite_packages = "/s"\n',
    ],
)
def test_an_image_moves_with_the_pin_however_it_is_written(carrying: Carrying, image: str) -> None:
    head = 'title = "A"\ndevice = "cpu"\npin = "release:0.31.0"\nmodel.recipe = "qwen3-moe-tiny"\n'
    text = head + image
    there = move(carrying, text, Target(f"git:{'a' * 40}", "0.31.0", Base("b:c", DIGEST)))
    found = read_text(carrying.project, "sample", there).image
    assert found
    assert (found.base, found.digest) == ("b:c", DIGEST)
    back = move(carrying, there, Target("release:0.31.0"))
    assert tomllib.loads(back) == tomllib.loads(text)
