"""Upstream's own calls of what we override or replace, and whether ours takes them."""

import ast
import re
from collections.abc import Callable, Iterable, Iterator

from tests.contract.kinds import Use
from tests.contract.signature import Call, Signature, against_call, call_of
from tests.contract.table import Scan, Table

RPC = ("collective_rpc", "run_method")


def against_calls(
    uses: Iterable[Use], table: Table, files: Iterable[str], read: Callable[[str], bytes]
) -> list[str]:
    """Say which of upstream's calls ours would not take, and where none was found to look at.

    Args:
        uses: Of the glue.
        table: Says where to look.
        files: Of the wheel.
        read: Gives a file's content.
    """
    known = sorted(files)
    found: set[str] = set()
    for use in uses:
        if use.stands_in is None or use.alone or takes_all(use.stands_in):
            continue
        scans = [each for each in table.scans if each.of == use.key]
        for scan in scans:
            method = use.attribute
            calls = [
                (path, line, call)
                for path in known
                if path.startswith(scan.files) and path.endswith(".py")
                for line, call in calls_in(read(path), method, scan)
            ]
            if not calls:
                found.add(f"{use.where}: no call of {use.key} is found in {', '.join(scan.files)}")
            for path, line, call in calls:
                for reason in against_call(call, use.stands_in):
                    found.add(f"{use.where}: {use.key}, called at {path}:{line}: {reason}")
    return sorted(found)


def unscanned(uses: Iterable[Use], table: Table) -> list[str]:
    """Name what we override or replace, takes not everything, and nobody looks for calls of."""
    known = {each.of for each in table.scans}
    return sorted(
        {
            f"{each.where}: {each.key}"
            for each in uses
            if each.stands_in is not None
            and not each.alone
            and not takes_all(each.stands_in)
            and each.key not in known
        }
    )


def takes_all(taken: Signature) -> bool:
    """Tell whether a function takes whatever is passed."""
    return taken.rest and taken.keywords and not taken.required


def calls_in(source: bytes, method: str, scan: Scan) -> Iterator[tuple[int, Call]]:
    """Yield the line and the arguments of each call."""
    # Parsing is what takes time: only a file that may hold one is parsed.
    written = (f"{method}(".encode(), f'"{method}"'.encode())
    if scan.passing.encode() not in source or not any(each in source for each in written):
        return
    syntax: ast.AST = ast.parse(source)
    if scan.within:
        named = (each for each in ast.walk(syntax) if isinstance(each, ast.ClassDef))
        inner = next((each for each in named if each.name == scan.within), None)
        if inner is None:
            return
        syntax = inner
    for each in ast.walk(syntax):
        if not isinstance(each, ast.Call):
            continue
        call = None
        if re.fullmatch(scan.receiver, ast.unparse(each.func)):
            call = call_of(each)
        elif ast.unparse(each.func).rpartition(".")[2] in RPC and method in _first(each):
            call = _remote(each)
        if call is not None and (not scan.passing or scan.passing in call.keywords):
            yield each.lineno, call


def _first(node: ast.Call) -> tuple[object, ...]:
    return tuple(each.value for each in node.args[:1] if isinstance(each, ast.Constant))


def _remote(node: ast.Call) -> Call:
    """What ``collective_rpc(name, args=..., kwargs=...)`` passes on."""
    passed = {each.arg: each.value for each in node.keywords}
    positional, names, whole = 0, set(), True
    given = passed.get("args")
    if isinstance(given, ast.Tuple):
        positional = len(given.elts)
    elif given is not None:
        whole = False
    keywords = passed.get("kwargs")
    if isinstance(keywords, ast.Dict):
        names = {each.value for each in keywords.keys if isinstance(each, ast.Constant)}
    elif isinstance(keywords, ast.Call) and ast.unparse(keywords.func) == "dict":
        names = {each.arg for each in keywords.keywords if each.arg}
    elif keywords is not None:
        whole = False
    return Call(positional, frozenset(str(each) for each in names), whole)
