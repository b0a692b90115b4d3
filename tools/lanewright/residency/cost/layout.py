"""How a checkpoint's expert weights are kept, by what its config says of quantization.

Bytes are those of the tensors that vLLM 0.32 makes for them (``fp8.py``, ``mxfp4.py``, ``modelopt.py``,
``compressed_tensors_moe``, ``auto_gptq.py``, ``auto_awq.py``), before a kernel's own padding.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from lanewright.errors import LanewrightError
from lanewright.residency.cost.compressed import compressed, is_block
from lanewright.residency.cost.families import DESCRIBE, Shape, text_of
from lanewright.residency.cost.row_bytes import Blocks, Groups, Layout, Plain

MXFP4 = Groups("MXFP4, a scale byte for each 32 weights", bits=4, group=32, scale=1)
# Beside its blocks' scales each matrix has one of its own, and one of its input.
NVFP4 = Groups("NVFP4, a scale byte for each 16 weights", bits=4, group=16, scale=1, each=8)
PLAIN = {"bfloat16": Plain("bfloat16"), "float16": Plain("float16")}
V4 = ("deepseek_v4", "deepseek_v41")
FOUR_BITS = 4


def layout(config: Mapping[str, Any], shape: Shape, file: Path) -> Layout:
    """Tell how the experts' weights are kept.

    Args:
        config: What ``config.json`` holds.
        shape: Of its experts.
        file: That file, for messages.

    Raises:
        LanewrightError: What it says of them is not known.
    """
    text = text_of(config)
    said = config.get("quantization_config") or text.get("quantization_config")
    if said is None:
        return _plain(config, text, file)
    if not isinstance(said, dict):
        _refuse(file, f"quantization_config is {said!r}, which is no table")
    _require_experts(said, file)
    method = said.get("quant_method")
    read = METHODS.get(method) if isinstance(method, str) else None
    if read is None:
        known = ", ".join(METHODS)
        _refuse(
            file, f"quant_method is {method!r}, and what experts take is known of {known} alone"
        )
    if method == "fp8" and config.get("model_type") in V4:
        return _of_v4(config, text, said, file)
    return read(said, shape, file)


def _plain(config: Mapping[str, Any], text: Mapping[str, Any], file: Path) -> Layout:
    places = [(key, each) for each in (text, config) for key in ("torch_dtype", "dtype")]
    kind = next((value for key, each in places if (value := each.get(key))), None)
    if kind not in PLAIN:
        _refuse(file, f"torch_dtype is {kind!r}, and only {' and '.join(PLAIN)} are known")
    return PLAIN[kind]


def _of_v4(
    config: Mapping[str, Any], text: Mapping[str, Any], said: Mapping[str, Any], file: Path
) -> Layout:
    # Where nothing is said vLLM takes fp4.
    places = (config, text, said)
    kind = next((v for each in places if (v := each.get("expert_dtype"))), "fp4")
    if kind == "fp4":
        return NVFP4 if str(said.get("moe_quant_algo") or "").upper() == "NVFP4" else MXFP4
    if kind == "fp8":
        return _fp8(said, None, file)
    return _refuse(file, f"expert_dtype is {kind!r}, and only fp4 and fp8 are known")


def _fp8(said: Mapping[str, Any], _shape: Shape | None, file: Path) -> Layout:
    block = said.get("weight_block_size")
    if block is None:
        # Of the two halves of the first matrix, and of the second.
        return Blocks("fp8, a scale for each matrix", block=None)
    if not is_block(block):
        _refuse(file, f"weight_block_size is {block!r}, and must be two numbers")
    return Blocks(
        f"fp8, a scale for each block of {block[0]} x {block[1]}", block=(block[0], block[1])
    )


def _mxfp4(_said: Mapping[str, Any], _shape: Shape, _file: Path) -> Layout:
    return MXFP4


def _modelopt(said: Mapping[str, Any], _shape: Shape, file: Path) -> Layout:
    if (algorithm := said.get("quant_algo")) != "NVFP4":
        _refuse(file, f"quant_algo is {algorithm!r}, and of modelopt's only NVFP4 is known")
    return NVFP4


def _compressed(said: Mapping[str, Any], shape: Shape, file: Path) -> Layout:
    found = compressed(said, shape, {"mxfp4": MXFP4, "nvfp4": NVFP4})
    return _refuse(file, found) if isinstance(found, str) else found


def _integers(said: Mapping[str, Any], shape: Shape, file: Path) -> Layout:
    bits, group = said.get("bits"), said.get("group_size")
    if said.get("desc_act"):
        _refuse(file, "desc_act is true, and its index of groups is not known")
    if bits != FOUR_BITS or not isinstance(group, int) or not _divides(group, shape):
        _refuse(
            file,
            f"bits {bits!r}, group_size {group!r}: only 4, in groups that divide a row, is known",
        )
    # Both have zero points, whether they are used or not.
    return Groups(f"int4 in groups of {group}", bits=4, group=group, scale=2, zeros=True)


def _require_experts(said: Mapping[str, Any], file: Path) -> None:
    """Refuse what leaves experts out of the quantization: rows would have several sizes."""
    for key in ("ignore", "exclude_modules", "modules_to_not_convert", "ignored_layers"):
        for name in said.get(key) or []:
            if isinstance(name, str) and "experts" in name and "shared_expert" not in name:
                _refuse(file, f"{key} leaves out {name!r}, so that not all experts' rows are alike")


def _divides(group: int, shape: Shape) -> bool:
    return group > 0 and shape.hidden % group == 0 and shape.inner % group == 0


def _refuse(file: Path, what: str) -> NoReturn:
    raise LanewrightError(f"{file}: {what}", hint=DESCRIBE)


METHODS: dict[str, Callable[[Mapping[str, Any], Shape, Path], Layout]] = {
    "fp8": _fp8,
    "mxfp4": _mxfp4,
    "modelopt": _modelopt,
    "modelopt_fp4": _modelopt,
    "gptq": _integers,
    "awq": _integers,
    "compressed-tensors": _compressed,
}
