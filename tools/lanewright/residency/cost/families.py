"""Which layers of a family have routed experts, how many, and of what size.

Read as vLLM 0.32 reads them: ``deepseek_v2.py``, ``deepseek_v4``, ``deepseek_v41``, ``qwen2_moe.py``,
``qwen3_moe.py``, ``mixtral.py``, ``phimoe.py`` and ``gpt_oss.py``. Layers of a draft model are none of
the target's.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from lanewright.errors import LanewrightError

DESCRIBE = (
    "describe it in [model.experts] of a lane's series (layers, experts, picks and row), and give the"
    " lane instead of --config"
)
# Beyond it a number is a mistake.
MOST = 2**24


class Read(Protocol):
    """Gives a number of a config by its key."""

    def __call__(self, key: str, default: int | None = None) -> int:
        """Give it, or refuse the config."""


@dataclass(frozen=True)
class Shape:
    """Routed experts, gated: two matrices of ``inner x hidden`` and one of ``hidden x inner``.

    Attributes:
        layers: MoE layers.
        experts: Of each.
        picks: Experts that a token gets.
        hidden: Width of the model.
        inner: Width of an expert.
        biases: Whether each matrix has a bias.
    """

    layers: int
    experts: int
    picks: int
    hidden: int
    inner: int
    biases: bool = False


def text_of(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """The part about the language model, where a config has one."""
    text = config.get("text_config")
    return text if isinstance(text, dict) else config


def shape(config: Mapping[str, Any], file: Path) -> Shape:
    """Read the shape of a checkpoint's routed experts.

    Args:
        config: What its ``config.json`` holds.
        file: That file, for messages.

    Raises:
        LanewrightError: The family is not known, or a key is missing or no number.
    """
    kind = config.get("model_type")
    read = FAMILIES.get(kind) if isinstance(kind, str) else None
    if read is None:
        known = ", ".join(FAMILIES)
        raise LanewrightError(
            f"{file}: model_type is {kind!r}, and which of its layers have experts is known of {known} alone",
            hint=DESCRIBE,
        )
    text = text_of(config)

    def number(key: str, default: int | None = None) -> int:
        value = text.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MOST:
            raise LanewrightError(
                f"{file}: {key} is {value!r}, and must be a number", hint=DESCRIBE
            )
        return value

    found = read(number, text)
    kinds = text.get("mlp_layer_types")
    if isinstance(kinds, list) and sum(each != "dense" for each in kinds) != found.layers:
        raise LanewrightError(
            f"{file}: mlp_layer_types has not the {found.layers} layers of experts that the rest of it says",
            hint=DESCRIBE,
        )
    least = min(found.layers, found.experts, found.picks, found.hidden, found.inner)
    if least < 1 or found.picks > found.experts:
        raise LanewrightError(f"{file}: {found} are no routed experts", hint=DESCRIBE)
    return found


def _deepseek(number: Read, _text: Mapping[str, Any]) -> Shape:
    every = number("moe_layer_freq", 1) or 1
    first, layers = number("first_k_dense_replace"), number("num_hidden_layers")
    count = sum(layer >= first and layer % every == 0 for layer in range(layers))
    return _routed(number, count, "n_routed_experts", "moe_intermediate_size")


def _deepseek_v4(number: Read, _text: Mapping[str, Any]) -> Shape:
    # Those that route by hash of the token have experts as well.
    count = number("num_hidden_layers")
    return _routed(number, count, "n_routed_experts", "moe_intermediate_size")


def _qwen(number: Read, text: Mapping[str, Any]) -> Shape:
    only = text.get("mlp_only_layers") or []
    # Whatever else it is, none of its layers is counted, and what is left is refused.
    dense = set(only) if isinstance(only, list) else range(MOST)
    every = number("decoder_sparse_step", 1) or 1
    layers = range(number("num_hidden_layers"))
    count = sum(layer not in dense and (layer + 1) % every == 0 for layer in layers)
    return _routed(number, count, "num_experts", "moe_intermediate_size")


def _mixtral(number: Read, _text: Mapping[str, Any]) -> Shape:
    return _routed(number, number("num_hidden_layers"), "num_local_experts", "intermediate_size")


def _gpt_oss(number: Read, _text: Mapping[str, Any]) -> Shape:
    count = number("num_hidden_layers")
    return _routed(number, count, "num_local_experts", "intermediate_size", biases=True)


def _routed(number: Read, layers: int, experts: str, inner: str, *, biases: bool = False) -> Shape:
    picks = number("num_experts_per_tok")
    return Shape(layers, number(experts), picks, number("hidden_size"), number(inner), biases)


FAMILIES: dict[str, Callable[[Read, Mapping[str, Any]], Shape]] = {
    "deepseek_v2": _deepseek,
    "deepseek_v3": _deepseek,
    "deepseek_v32": _deepseek,
    "kimi_k2": _deepseek,
    "deepseek_v4": _deepseek_v4,
    "deepseek_v41": _deepseek_v4,
    "qwen2_moe": _qwen,
    "qwen3_moe": _qwen,
    "mixtral": _mixtral,
    "phimoe": _mixtral,
    "gpt_oss": _gpt_oss,
}
