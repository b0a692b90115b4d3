"""Text of two kinds, out of the distributions that the lane's environment has locked.

The same recipe gives the same text on every machine, or none: versions and bytes are checked.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from typing import Any

from training.apart import unseen, without_twins

# Of its documents, in order and without twins, every third is held out.
EVERY = 3


class TextError(Exception):
    """The environment has not the text that the recipe names."""


@dataclass(frozen=True)
class Text:
    """Documents of one kind.

    Attributes:
        trained: What a model is trained on.
        held_out: What it never sees, less the paragraphs that repeat what it does see.
    """

    trained: tuple[str, ...]
    held_out: tuple[str, ...]


def text_of(kind: str, told: Mapping[str, Any]) -> Text:
    """Read all documents of a kind, and hold some out.

    Args:
        kind: Name of the kind, for messages.
        told: ``distributions`` (version by name), ``suffixes`` of the files that are taken of them,
            ``sha256`` over the documents in order, each behind its length as eight bytes, and
            ``without``, an expression for what is then left out of each, which may be empty.

    Raises:
        TextError: A distribution is missing or of another version, or the bytes are others.
    """
    found = [each for name in sorted(told["distributions"]) for each in documents(name, told)]
    digest = hashlib.sha256()
    for each in found:
        digest.update(len(each).to_bytes(8, "little") + each)
    if digest.hexdigest() != told["sha256"]:
        raise TextError(
            f"text {kind}: {len(found)} documents of SHA-256 {digest.hexdigest()},"
            f" where the recipe names {told['sha256']}"
        )
    without = re.compile(told["without"], re.MULTILINE | re.DOTALL)
    texts = without_twins(without.sub("", each.decode()) for each in found)
    held_out = texts[EVERY - 1 :: EVERY]
    del texts[EVERY - 1 :: EVERY]
    return Text(tuple(texts), tuple(unseen(held_out, texts)))


def documents(name: str, told: Mapping[str, Any]) -> Iterator[bytes]:
    """Yield what a distribution has, by path: whole files, and its description.

    Args:
        name: Of the distribution.
        told: As ``text_of`` takes it.

    Raises:
        TextError: It is missing, lacks a file, or has another version.
    """
    wanted = told["distributions"][name]
    try:
        distribution = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        raise TextError(f"the recipe needs {name} {wanted}, which is not installed") from None
    if distribution.version != wanted:
        raise TextError(
            f"the recipe needs {name} {wanted}, and {distribution.version} is installed"
        )
    for file in sorted(distribution.files or (), key=str):
        described = file.parts[0].endswith(".dist-info")
        # Beside the description, a dist-info holds licences, and many hold the same.
        if not file.name.endswith(tuple(told["suffixes"])) or described != (
            file.name == "METADATA"
        ):
            continue
        try:
            content = file.locate().read_bytes()  # type: ignore[attr-defined]
        except OSError as error:
            raise TextError(f"{name} {wanted} lacks {file}: {error.strerror}") from error
        # Its description is behind its fields, as the body of a mail.
        body = content.partition(b"\n\n")[2] if described else content
        if body.strip():
            yield body
