"""What ``compressed-tensors`` says of expert weights."""

from collections.abc import Mapping
from typing import Any, TypeGuard

from lanewright.residency.cost.families import Shape
from lanewright.residency.cost.row_bytes import Blocks, Groups, Layout

FOUR_BITS, EIGHT_BITS = 4, 8


def compressed(said: Mapping[str, Any], shape: Shape, fours: Mapping[str, Groups]) -> Layout | str:
    """Read a ``quantization_config`` of one group of modules.

    Args:
        said: It.
        shape: Of the experts.
        fours: Layouts of 4-bit floats, by their format's beginning.

    Returns:
        The layout, or what is not known of it.
    """
    groups = said.get("config_groups")
    if not isinstance(groups, dict) or len(groups) != 1:
        return "config_groups is not one group, and which one experts are in is not known"
    (group,) = groups.values()
    targets = group.get("targets") if isinstance(group, dict) else None
    if targets != ["Linear"] or not isinstance(weights := group.get("weights"), dict):
        return f"config_groups: targets are {targets!r}, and only described ['Linear'] are known"
    kept = str(group.get("format") or said.get("format"))
    four = next((four for name, four in fours.items() if kept == f"{name}-pack-quantized"), None)
    return four or _by_weights(weights, shape, kept)


def _by_weights(weights: Mapping[str, Any], shape: Shape, kept: str) -> Layout | str:
    kind, bits, by = weights.get("type"), weights.get("num_bits"), weights.get("strategy")
    if kind == "float" and bits == EIGHT_BITS:
        return _fp8(weights, by)
    size = weights.get("group_size")
    if (kind, bits, by) == ("int", FOUR_BITS, "group") and kept == "pack-quantized":
        if not isinstance(size, int) or size < 1 or shape.hidden % size or shape.inner % size:
            return f"config_groups: group_size is {size!r}, which does not divide a row"
        zeros = weights.get("symmetric") is False
        return Groups(f"int4 in groups of {size}", bits=4, group=size, scale=2, zeros=zeros)
    return f"config_groups: format {kept!r} with {bits!r} bits of {kind!r} by {by!r} is not known"


def _fp8(weights: Mapping[str, Any], by: object) -> Layout | str:
    if by == "tensor":
        return Blocks("fp8, a scale for each matrix", block=None)
    if by == "channel":
        return Blocks("fp8, a scale for each output", block=(1, 0))
    block = weights.get("block_structure")
    if by == "block" and is_block(block):
        high, wide = block
        return Blocks(f"fp8, a scale for each block of {high} x {wide}", block=(high, wide))
    return f"config_groups: 8 bits of 'float' by {by!r}, blocks of {block!r}, is not known"


def is_block(block: object) -> TypeGuard[list[int]]:
    """Tell whether that are two numbers, of a block's rows and columns."""
    return (
        isinstance(block, list)
        and len(block) == len(("rows", "columns"))
        and all(isinstance(each, int) and not isinstance(each, bool) and each > 0 for each in block)
    )
