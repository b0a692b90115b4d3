"""What a function takes, and whether a call or another function fits it."""

import ast
from dataclasses import dataclass

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Signature:
    """Parameters of a function as its callers see them: without ``self`` or ``cls``.

    Attributes:
        positional: Names in order, those that are positional only included.
        required: Names without a default.
        keyword_only: The rest of the names.
        rest: Whether ``*args`` takes more.
        keywords: Whether ``**kwargs`` takes more.
    """

    positional: tuple[str, ...]
    required: frozenset[str]
    keyword_only: frozenset[str] = frozenset()
    rest: bool = False
    keywords: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.positional, *sorted(self.keyword_only))


@dataclass(frozen=True)
class Call:
    """What is passed.

    Attributes:
        positional: How many.
        keywords: Names.
        whole: Whether these are all; not where ``*`` or ``**`` passes what cannot be told.
    """

    positional: int
    keywords: frozenset[str]
    whole: bool = True


def signature_of(function: Function, *, bound: bool) -> Signature:
    """Read a definition's parameters; a bound one's first is left out."""
    arguments = function.args
    ordered = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
    required = ordered[: len(ordered) - len(arguments.defaults)]
    pairs = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    required += [each.arg for each, default in pairs if default is None]
    static = any(ast.unparse(each) == "staticmethod" for each in function.decorator_list)
    drop = ordered[:1] if bound and not static else []
    return Signature(
        tuple(ordered[len(drop) :]),
        frozenset(required) - frozenset(drop),
        frozenset(each.arg for each in arguments.kwonlyargs),
        arguments.vararg is not None,
        arguments.kwarg is not None,
    )


def call_of(node: ast.Call) -> Call:
    """Read what a call passes."""
    plain = [each for each in node.args if not isinstance(each, ast.Starred)]
    names = [each.arg for each in node.keywords if each.arg is not None]
    whole = len(plain) == len(node.args) and len(names) == len(node.keywords)
    return Call(len(plain), frozenset(names), whole)


def against_call(call: Call, taken: Signature) -> list[str]:
    """Say why a call does not fit a function; empty where it does."""
    reasons = []
    if call.positional > len(taken.positional) and not taken.rest:
        reasons.append(
            f"{call.positional} arguments are passed by position, and it takes"
            f" {len(taken.positional)}"
        )
    unknown = call.keywords - set(taken.names)
    if unknown and not taken.keywords:
        reasons.append(f"it has no parameter {', '.join(sorted(unknown))}")
    filled = set(taken.positional[: call.positional]) | call.keywords
    twice = set(taken.positional[: call.positional]) & call.keywords
    if twice:
        reasons.append(f"{', '.join(sorted(twice))} is passed twice")
    missing = taken.required - filled
    if call.whole and missing:
        reasons.append(f"its parameter {', '.join(sorted(missing))} is not passed")
    return reasons


def against_replacing(ours: Signature, theirs: Signature) -> list[str]:
    """Say why a function of ours cannot stand where one of upstream's did."""
    reasons = []
    unknown = set(theirs.names) - set(ours.names)
    absorbed = ours.keywords or ours.rest
    if unknown and not absorbed:
        reasons.append(f"upstream's parameter {', '.join(sorted(unknown))} is not accepted")
    gone = set(ours.names) - set(theirs.names)
    if gone and not theirs.keywords:
        reasons.append(f"upstream has no parameter {', '.join(sorted(gone))}")
    more = ours.required - theirs.required - gone
    if more:
        reasons.append(f"{', '.join(sorted(more))} is optional upstream, and needed by ours")
    for number, (mine, other) in enumerate(zip(ours.positional, theirs.positional, strict=False)):
        if mine != other:
            reasons.append(f"parameter {number + 1} is {other} upstream, and {mine} in ours")
            break
    if (theirs.rest and not ours.rest) or (theirs.keywords and not ours.keywords):
        reasons.append("upstream takes any more arguments, and ours does not")
    return reasons
