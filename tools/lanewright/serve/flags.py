"""Engine arguments as the command line of vLLM's server takes them."""

import json
from collections.abc import Iterator, Mapping


def flags(engine: Mapping[str, object]) -> list[str]:
    """Turn keyword arguments of ``vllm.LLM`` into flags.

    Args:
        engine: True becomes ``--name``, False ``--no-name``, None nothing, a list one flag with
            several values, a table one JSON value, and anything else ``--name=value``.
    """
    return [part for name, value in engine.items() for part in flag(name, value)]


def flag(name: str, value: object) -> Iterator[str]:
    """Yield the parts of one flag."""
    option = name.replace("_", "-")
    match value:
        case None:
            return
        case True:
            yield f"--{option}"
        case False:
            yield f"--no-{option}"
        case list() | tuple():
            yield f"--{option}"
            yield from map(str, value)
        case dict():
            yield f"--{option}={json.dumps(value)}"
        case _:
            yield f"--{option}={value}"
