"""A byte-level BPE that no one trained."""

from typing import Any

BYTES = 256
SPECIAL = ("<|eos|>", "<|pad|>")


def special_ids(vocab_size: int) -> tuple[int, ...]:
    """Ids of the special tokens, the last of the vocabulary."""
    return tuple(vocab_size - len(SPECIAL) + place for place in range(len(SPECIAL)))


def byte_letters() -> list[str]:
    """Give each byte its letter in a byte-level BPE: itself where printable, else from U+0100 on."""
    shown = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    spare = iter(range(0x100, 0x200))
    return [chr(byte if byte in shown else next(spare)) for byte in range(BYTES)]


def tokenizer(vocab_size: int) -> dict[str, Any]:
    """Describe a byte-level BPE whose merges are pairs of letters, in a fixed order."""
    letters = byte_letters()
    space = letters[ord(" ")]
    common = "etaoinshrdlucmfwygpbvk"
    pairs = [(space, letter) for letter in common]
    pairs += [(first, second) for first in common for second in common]
    merges = pairs[: vocab_size - BYTES - len(SPECIAL)]
    tokens = [*letters, *(first + second for first, second in merges), *SPECIAL]
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {
                "id": tokens.index(name),
                "content": name,
                "single_word": False,
                "lstrip": False,
                "rstrip": False,
                "normalized": False,
                "special": True,
            }
            for name in SPECIAL
        ],
        "normalizer": None,
        "pre_tokenizer": {**byte_level, "use_regex": True},
        "post_processor": None,
        "decoder": {**byte_level, "use_regex": True},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": {token: number for number, token in enumerate(tokens)},
            "merges": [[first, second] for first, second in merges],
        },
    }
