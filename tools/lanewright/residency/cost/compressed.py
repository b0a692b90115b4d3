"""What ``compressed-tensors`` says of expert weights."""

from collections.abc import Mapping
from typing import Any

from lanewright.residency.cost.families import Shape
from lanewright.residency.cost.row_bytes import Blocks, Groups, Layout

FOUR_BITS, EIGHT_BITS = 4, 8


def compressed(
    said: Mapping[str, Any], shape: Shape, fours: Mapping[str, Groups]
) -> Layout | str:
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
    if targets != ["Linear"]:
        return f"config_groups: targets are {targets!r}, and only ['Linear'] is known"
    weights = group.get("weights")
    if not isinstance(weights, dict):
        return "config_groups: weights are not described"
    kept = str(group.get("format") or said.get("format"))
    for name, found in fours.items():
        if kept == f"{name}-pack-quantized":
            return found
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
    if by == "block" and isinstance(block, list) and all(isinstance(n, int) and n > 0 for n in block):
        high, wide = block
        return Blocks(f"fp8, a scale for each block of {high} x {wide}", block=(high, wide))
    return f"config_groups: 8 bits of 'float' by {by!r} is not known"
