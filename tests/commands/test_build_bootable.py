"""``build`` of a lane that no boot could run: refused as a boot refuses it, and nothing is written."""

import pytest

from tests.commands.stand_in_lane import Lay

Capture = pytest.CaptureFixture[str]
ON = "moe_usage_counter = true"
# What is edited, and what of the first line says why.
CASES: dict[str, tuple[str, str, str]] = {
    "a recipe": ('recipe = "qwen3-moe-tiny"', 'recipe = "nope"', "no model recipe 'nope'; known: "),
    "an argument of the boot's": (
        ON,
        "port = 1",
        "engine argument port is set by the boot itself",
    ),
    "another model": (
        ON,
        'quantization = "fp8"',
        "engine argument quantization would make another model of the lane's recipe",
    ),
    "a feature that is none": (
        ON,
        "moe_hot_experts = 5",
        "engine argument moe_hot_experts is 5, and must be a text",
    ),
    "a setting of what is off": (
        ON,
        'moe_cold_rows = "file"',
        "engine argument moe_cold_rows says nothing without moe_hot_experts",
    ),
    "no pace": (
        ON,
        'moe_hot_experts = "5"\nmoe_follow = "never"',
        "engine argument moe_follow 'never': every is 'never'",
    ),
    "a shim": ("[engine]", '[boot]\nshims = ["x"]\n[engine]', "[boot] shims: no shim 'x'; known: "),
    "prompts": (
        "[engine]",
        "[equality]\nprompts = 45\n[engine]",
        "[equality] prompts: there are 44, not 45",
    ),
}


@pytest.mark.parametrize(("old", "new", "why"), CASES.values(), ids=CASES)
def test_it_is_refused_as_a_boot_does(
    lay: Lay, capfd: Capture, old: str, new: str, why: str
) -> None:
    world = lay()
    file = world.root / "series/sample.toml"
    edited = file.read_text().replace(old, new)
    file.write_text(edited)
    before = world.lock.read_bytes()
    capfd.readouterr()
    assert world.run("boot", "--no-server") == 1
    booted = capfd.readouterr().err.splitlines()[-2:]
    for words in (["build"], ["build", "--check"]):
        assert world.run(*words) == 1
        told = capfd.readouterr()
        assert told.err.splitlines() == booted
        assert why in booted[0]
        assert not told.out

    file.write_text(edited.replace('[[entry]]\npatch = "own/hook.patch"\n', ""))
    assert world.run("build") == 1
    assert world.lock.read_bytes() == before
    world.lock.unlink()
    assert world.run("build") == 1
    assert not world.lock.exists()
