"""What a smoke has seen of an image."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass
class Smoke:
    """What was seen of an image in a container.

    Attributes:
        image: Its name in the engine's storage.
        engine: ``podman`` or ``docker``.
        files: How many files were compared with the lock.
        answers: How many answers were compared.
        tokens: Of all of them.
        whose: Whose answers they were held against.
        golden: How long ``import``, ``engine`` and ``generate`` took outside.
        seconds: How long each step took in the container.
        version: What the server calls itself.
        proofs: Of the features that ran, for people.
    """

    image: str
    engine: str
    files: int = 0
    answers: int = 0
    tokens: int = 0
    whose: str = ""
    golden: Mapping[str, float] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    version: str = ""
    proofs: list[str] = field(default_factory=list)
