# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Whether two names are one model's: what a usage file says, and what vLLM serves."""

import re

HASH = re.compile(r"[0-9a-f]{64}")
# A generated model's folder is its recipe's name and the first digits of its hash.
GENERATED = re.compile(r"-([0-9a-f]{12})$")
# In a Hugging Face cache a model's folder has its name with these in place of slashes.
CACHED = "models--"


def same_model(said: str, served: str) -> bool | None:
    """Compare what there is to compare.

    Args:
        said: A generated model's hash, or a model's name or folder.
        served: As vLLM has it: a name, or a folder.

    Returns:
        None where one is a hash and the other has none.
    """
    if HASH.fullmatch(said):
        found = GENERATED.search(served.rstrip("/"))
        return None if found is None else said.startswith(found[1])
    return bool(_names(said) & _names(served))


def _names(model: str) -> set[str]:
    """Give all names of a model: the whole, its folder's, and its repository's in a cache."""
    parts = model.rstrip("/").split("/")
    cached = [each.removeprefix(CACHED) for each in parts if each.startswith(CACHED)]
    return {model, *(each.replace("--", "/") for each in cached)} | (
        {parts[-1]} if model.startswith(("/", ".")) else set()
    )
