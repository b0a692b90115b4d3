"""Talk for people on stderr, data on stdout."""

import io
import os
import shlex
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lanewright.invisible import UNSEEN, visible
from lanewright.workflow import harmless, harmless_json


def say(text: str) -> None:
    """Print a line of talk to stderr; nobody reading it is no reason to stop.

    What of it would steer a terminal, or is not seen, is written out; on GitHub nothing of it is a
    command.
    """
    _say(harmless(visible(text)))


def say_command(line: str) -> None:
    """Print a command of ``workflow.command`` to stderr, for GitHub's runner."""
    _say(printable(line))


def _say(text: str) -> None:
    if sys.stderr is not None:
        with suppress(OSError):
            print(text, file=sys.stderr, flush=True)  # noqa: T201 - the one place that talks


def emit(text: str, *, always_utf8: bool = False) -> bool:
    """Print data to stdout; a reader that went away has had what it wanted.

    Args:
        text: What to print. For people, what of it would steer a terminal, or is not seen, is
            written out, and on GitHub nothing of it is a command.
        always_utf8: Whether a program reads it: it is printed as it is, and the terminal's
            encoding says nothing.

    Returns:
        Whether there still is a reader.
    """
    ended = text if text.endswith("\n") else text + "\n"
    if always_utf8:
        return _written(ended, ended.encode("utf-8", "replace"))
    return _written(harmless(visible(ended)))


class Amber(str):
    """A line that a person is to look at: amber on a terminal, elsewhere as any other."""

    __slots__ = ()


def emit_lines(lines: Iterable[str]) -> bool:
    """Print lines of data for people as ``emit`` does; whether there still is a reader."""
    stdout = sys.stdout
    coloured = stdout is not None and stdout.isatty() and not os.environ.get("NO_COLOR")
    shown = (
        f"\x1b[33m{visible(line)}\x1b[0m" if coloured and isinstance(line, Amber) else visible(line)
        for line in lines
    )
    return _written(harmless("".join(f"{line}\n" for line in shown)))


def emit_for_shell(text: str) -> bool:
    """Print what a shell evaluates: a name of a file has the bytes that it has on disk.

    Returns:
        Whether there still is a reader.
    """
    ended = f"{text}\n"
    return _written(ended, _on_disk(ended))


def _written(text: str, content: bytes | None = None) -> bool:
    """Write a text to stdout, as these bytes where it has any; whether there still is a reader."""
    try:
        if content is not None and isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.flush()
            sys.stdout.buffer.write(content)
        else:
            sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return False
    return True


def prepare_streams() -> None:
    """Let no character of a path or title stop a message on a terminal that cannot show it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def emit_json(data: object) -> None:
    """Print typed values as JSON to stdout."""
    import msgspec  # noqa: PLC0415 - 60 ms that a command without it need not pay

    encoded = msgspec.json.encode(data, enc_hook=str)
    emit(harmless_json(msgspec.json.format(encoded, indent=2).decode()), always_utf8=True)


def printable(text: str) -> str:
    """A path or message with what is no text shown as replacement marks."""
    return text.encode("utf-8", "replace").decode("utf-8", "replace")


def quoted(word: str | Path) -> str:
    """A path, selector or ref as it is typed in a shell; bash's way where not all of it is seen.

    What is seen of it is what is typed: ``emit`` and ``say`` leave it as it is.
    """
    text = str(word)
    # Fillers that pass for letters are printable.
    if text.isprintable() and not UNSEEN.search(text):
        return shlex.quote(text)
    plain = frozenset(range(0x20, 0x7F)) - frozenset(b"\\'")
    codes = (chr(code) if code in plain else f"\\x{code:02x}" for code in _on_disk(text))
    return f"$'{''.join(codes)}'"


def for_shell(value: str) -> str:
    """A value that a shell evaluates, any shell; on a terminal, where it is looked at, as ``quoted``."""
    shown = sys.stdout is not None and sys.stdout.isatty()
    return quoted(value) if shown else shlex.quote(value)


def _on_disk(text: str) -> bytes:
    """The bytes of a file's name; those of the text where no file can have it."""
    try:
        return os.fsencode(text)
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


@contextmanager
def stage(text: str, *, spinner: bool = True) -> Iterator[None]:
    """Announce a long step, show that it is alive, and say how long it took.

    On a terminal a spinner runs while the step does; elsewhere, and where the step shows its own
    progress, one line is printed at its start and one at its end.
    """
    start = time.monotonic()
    if (
        spinner
        and sys.stderr is not None
        and sys.stderr.isatty()
        and not os.environ.get("NO_COLOR")
    ):
        from rich.console import Console  # noqa: PLC0415 - 100 ms that a silent run need not pay

        with Console(stderr=True).status(text):
            yield
    else:
        say(f"{text} ...")
        yield
    say(f"{text}: {time.monotonic() - start:.1f} s")
