"""``[model]`` as people write it."""

import json

import pytest

from lanewright.errors import LanewrightError
from lanewright.queue.series import load_series
from tests.conftest import World


def named(world: World, name: str) -> str | None:
    world.edit("series/sample.toml", 'recipe = "qwen3-moe-tiny"', f"name = {json.dumps(name)}")
    return load_series(world.project, "sample").model.name


@pytest.mark.parametrize(
    "name",
    ["gpt2", "deepseek-ai/DeepSeek-V4.1-Flash", "_a/b_", "a/" + "b" * 96, "/models/one", "/a b"],
)
def test_a_name_of_the_hub_or_a_folder(world: World, name: str) -> None:
    assert named(world, name) == name


@pytest.mark.parametrize(
    "name",
    [
        *(
            "",
            " ",
            "-x",
            "--trust-remote-code",
            "a/-b",
            "a/b.",
            "a/b/c",
            "../b",
            "a b",
            "./a",
            "~/a",
        ),
        *("a:b", "a/b\n", "a\0b", "a..b", "a--b", "a/b.git", "a/" + "b" * 97, "caf\u00e9/b"),
        *("/", "//", "/a:b", "/a,b", "/a\0b", "/a\nb"),
    ],
)
def test_what_is_neither_is_told_with_its_place(world: World, name: str) -> None:
    with pytest.raises(LanewrightError) as error:
        named(world, name)
    assert "series/sample.toml: [model]: name: " in str(error.value)
    assert f"{name!r} is neither a folder nor a model's name" in str(error.value)
    assert error.value.hint
