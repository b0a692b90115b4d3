"""Talk for people on stderr, data on stdout."""

import io
import os
import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lanewright.invisible import visible


def say(text: str) -> None:
    """Print a line of talk to stderr; nobody reading it is no reason to stop.

    What of it would steer a terminal, or is not seen, is written out.
    """
    if sys.stderr is not None:
        with suppress(OSError):
            print(visible(text), file=sys.stderr, flush=True)  # noqa: T201 - the one place that talks


def emit(text: str, *, always_utf8: bool = False) -> bool:
    """Print data to stdout; a reader that went away has had what it wanted.

    Args:
        text: What to print. For people, what of it would steer a terminal, or is not seen, is
            written out.
        always_utf8: Whether a program reads it: it is printed as it is, and the terminal's
            encoding says nothing.

    Returns:
        Whether there still is a reader.
    """
    ended = text if text.endswith("\n") else text + "\n"
    ended = ended if always_utf8 else visible(ended)
    try:
        if always_utf8 and isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.flush()
            sys.stdout.buffer.write(ended.encode("utf-8", "replace"))
        else:
            sys.stdout.write(ended)
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
    emit(msgspec.json.format(encoded, indent=2).decode(), always_utf8=True)


def printable(text: str) -> str:
    """A path or message with what is no text shown as replacement marks."""
    return text.encode("utf-8", "replace").decode("utf-8", "replace")


def quoted(word: str | Path) -> str:
    """A path, selector or ref as it is typed in a shell; bash's way where it is not all text."""
    text = str(word)
    if text.isprintable():
        return shlex.quote(text)
    plain = frozenset(range(0x20, 0x7F)) - frozenset(b"\\'")
    codes = (chr(code) if code in plain else f"\\x{code:02x}" for code in os.fsencode(text))
    return f"$'{''.join(codes)}'"


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
