"""What an expression of the glue is, as far as its own text and the table tell, and its uses."""

from dataclasses import dataclass

from tests.contract.signature import Call, Signature


@dataclass(frozen=True)
class Kind:
    """Of an expression; this one is nobody's of upstream: torch's, Python's or our core's."""


@dataclass(frozen=True)
class Unknown(Kind):
    """It may be upstream's; ``text`` is how it is written."""

    text: str


@dataclass(frozen=True)
class Theirs(Kind):
    """An instance of a class of upstream, ``module:name``; of either of several."""

    classes: tuple[str, ...]


@dataclass(frozen=True)
class Name(Kind):
    """A class, function, variable or module of upstream."""

    path: str


@dataclass(frozen=True)
class Part(Kind):
    """An attribute of upstream's instance, whose own kind only the table tells.

    Attributes:
        asked: Whether it was asked for, and need not be there.
    """

    classes: tuple[str, ...]
    attribute: str
    text: str
    asked: bool = False


@dataclass(frozen=True)
class OurClass(Kind):
    """A class of the glue."""

    name: str


@dataclass(frozen=True)
class Ours(Kind):
    """An instance of a class of the glue."""

    name: str


@dataclass(frozen=True)
class OurMethod(Kind):
    """A bound method of a class of the glue."""

    owner: str
    name: str


@dataclass(frozen=True)
class Many(Kind):
    """Holds or yields any number of one kind."""

    of: Kind


@dataclass(frozen=True)
class Values(Kind):
    """A mapping to one kind."""

    of: Kind


@dataclass(frozen=True)
class Row(Kind):
    """A tuple."""

    of: tuple[Kind, ...]


PLAIN = Kind()


@dataclass(frozen=True)
class Use:
    """One thing that the glue expects of upstream.

    Attributes:
        where: ``file.py:line``.
        holder: ``module:name`` of the class; of the function or other name itself where
            ``attribute`` is empty.
        attribute: Of the class or its instances.
        call: What is passed, where it is called.
        stands_in: What our function takes, where it overrides or replaces upstream's.
        needed: Whether it has to be there; not where the glue asks first.
        alone: Whether the name is our subclass's alone: where upstream has it too, ours hides it.
        results: How many values the call's result is unpacked to; 0 where it is not.
    """

    where: str
    holder: str
    attribute: str = ""
    call: Call | None = None
    stands_in: Signature | None = None
    needed: bool = True
    alone: bool = False
    results: int = 0

    @property
    def key(self) -> str:
        """How the table names it."""
        return f"{self.holder}.{self.attribute}" if self.attribute else self.holder


def either(kinds: list[Kind]) -> Kind:
    """What one of several is; upstream's before ours before nobody's."""
    for wanted in (Theirs, Ours, Part, Many, Values, Unknown):
        for each in kinds:
            if isinstance(each, wanted):
                return each
    return kinds[0] if kinds else PLAIN
