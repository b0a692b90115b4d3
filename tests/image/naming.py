"""Lanes that name a base, as ``rebase`` would write it."""

from tests.conftest import World


def named(world: World, lane: str, name: str, digest: str, index: str | None = None) -> None:
    """Have a lane name a base for arm64, and lock it; another than ``sample`` is made like that."""
    series = world.root / f"series/{lane}.toml"
    text = (world.root / "series/sample.toml").read_text()
    lines = [f'base = "{name}"', f'digest = "{digest}"', 'architecture = "arm64"']
    lines += [f'index = "{index}"'] if index else []
    plain = [line for line in text.splitlines() if line.partition(" ")[0] not in KEYS]
    place = plain.index("[image]") + 1
    series.write_text("\n".join([*plain[:place], *lines, *plain[place:], ""]))
    assert world.run("build", lane) == 0


KEYS = {"base", "digest", "architecture", "index"}
