"""Writes some members of a wheel on a package index to a small zip: run by path, with pip's settings.

``python from_index.py REQUIREMENT PLATFORM SHA256 TO PREFIX...`` asks for ranges of the wheel, for
its Python files below these prefixes and for what tells of all files. The index says which wheel
has the hash; each member is held against the wheel's own RECORD, which a range cannot be held
against anything. Prints the bytes that it asked for; exit status 69 where no index has the wheel.
"""

import base64
import csv
import hashlib
import io
import os
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

from pip._internal.cli.cmdoptions import make_target_python
from pip._internal.commands import create_command
from pip._vendor.requests.exceptions import RequestException
from pip._vendor.urllib3.exceptions import HTTPError

TAIL = 1 << 16
# Members nearer to each other than this are asked for together.
GAP = 1 << 16
PARTIAL = 206
UNAVAILABLE = 69


class UnavailableError(Exception):
    """The wheel cannot be had here."""


class Ranges(io.RawIOBase):
    """A file on a server of which only what is read is asked for.

    Attributes:
        asked: Bytes so far.
    """

    def __init__(self, session: Any, url: str) -> None:  # noqa: ANN401 - pip's
        super().__init__()
        self._session, self._url, self._at = session, url, 0
        self._held: list[tuple[int, bytes]] = []
        self.asked = 0
        self._size = 0
        tail = self._get(f"-{TAIL}")
        self._held.append((self._size - len(tail), tail))

    def hold(self, start: int, end: int) -> None:
        """Ask for a span that will be read piece by piece; the one before is let go."""
        self._held[1:] = [(start, self._get(f"{start}-{end - 1}"))]

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._at = offset + (0, self._at, self._size)[whence]
        return self._at

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - any writable buffer
        end = min(self._at + len(buffer), self._size)
        content = self._between(self._at, end)
        buffer[: len(content)] = content
        self._at = end
        return len(content)

    def _between(self, start: int, end: int) -> bytes:
        if end <= start:
            return b""
        for at, content in self._held:
            if at <= start and end <= at + len(content):
                return content[start - at : end - at]
        return self._get(f"{start}-{end - 1}")

    def _get(self, span: str) -> bytes:
        headers = {
            "Range": f"bytes={span}",
            "Accept-Encoding": "identity",
            "Cache-Control": "no-cache",
        }
        response = self._session.get(self._url, headers=headers, stream=True)
        response.raise_for_status()
        if response.status_code != PARTIAL:
            raise SystemExit(f"{self._url}: the server gives no ranges")
        first, _, size = response.headers["Content-Range"].removeprefix("bytes ").partition("/")
        self._size = int(size)
        start, _, last = first.partition("-")
        content: bytes = response.raw.read()
        if len(content) != int(last) - int(start) + 1:
            raise UnavailableError(f"{self._url}: bytes {span} came cut off")
        self.asked += len(content)
        return content


@contextmanager
def found(requirement: str, platform: str, sha256: str) -> Iterator[Any]:
    """Give the open wheel that an index of pip's has under a hash."""
    name, _, version = requirement.partition("==")
    command: Any = create_command("download")
    with command.main_context():
        arguments = ["--only-binary=:all:", "--no-deps", "--dest=.", f"--platform={platform}"]
        options, _ = command.parse_args(arguments)
        session = command.get_default_session(options)
        finder = command._build_package_finder(  # noqa: SLF001 - pip names no public one
            options=options, session=session, target_python=make_target_python(options)
        )
        links = [
            each.link for each in finder.find_all_candidates(name) if str(each.version) == version
        ]
        for link in links:
            if link.hash == sha256:
                if link.is_file:
                    with Path(link.file_path).open("rb") as stream:
                        yield stream
                else:
                    yield Ranges(session, link.url_without_fragment)
                return
        if links:
            raise SystemExit(f"{requirement} has another sha256 than {sha256}")
        raise UnavailableError(f"no index that pip asks has {requirement} with sha256 {sha256}")


def chosen(archive: zipfile.ZipFile, prefixes: Sequence[str]) -> list[str]:
    """Members to keep, and what tells of all of them."""
    return [
        each.filename
        for each in sorted(archive.infolist(), key=lambda info: info.header_offset)
        if each.filename.endswith((".dist-info/METADATA", ".dist-info/RECORD"))
        or (each.filename.endswith(".py") and each.filename.startswith(tuple(prefixes)))
    ]


def contents(
    archive: zipfile.ZipFile, stream: object, names: Iterable[str]
) -> Iterator[tuple[str, bytes]]:
    """Read members, those that lie together by one request."""
    starts = sorted(each.header_offset for each in archive.infolist())
    ends = dict(pairwise([*starts, archive.start_dir]))
    spans: list[tuple[int, int, list[str]]] = []
    for name in names:
        start = archive.getinfo(name).header_offset
        if spans and start - spans[-1][1] < GAP:
            spans[-1] = (spans[-1][0], ends[start], [*spans[-1][2], name])
        else:
            spans.append((start, ends[start], [name]))
    for start, end, together in spans:
        if isinstance(stream, Ranges):
            stream.hold(start, end)
        for name in together:
            yield name, archive.read(name)


def main(requirement: str, platform: str, sha256: str, to: str, *prefixes: str) -> None:
    """Write the zip; it appears whole or not at all."""
    with found(requirement, platform, sha256) as stream, zipfile.ZipFile(stream) as archive:
        read = dict(contents(archive, stream, chosen(archive, prefixes)))
        record = next(value for name, value in read.items() if name.endswith("RECORD"))
        hashes = {row[0]: row[1] for row in csv.reader(record.decode().splitlines())}
        for name, content in read.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
            if hashes[name] not in {f"sha256={digest.decode()}", ""}:
                raise SystemExit(f"{requirement}: {name} is not what RECORD says")
        folder = Path(to).parent
        folder.mkdir(parents=True, exist_ok=True)
        descriptor, made = tempfile.mkstemp(dir=folder)
        with (
            os.fdopen(descriptor, "wb") as file,
            zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as out,
        ):
            for name, content in read.items():
                out.writestr(name, content)
        Path(made).replace(to)
    print(getattr(stream, "asked", 0))  # noqa: T201 - what it is asked for


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except (UnavailableError, RequestException, HTTPError) as error:
        print(error, file=sys.stderr)  # noqa: T201 - a program's complaint
        sys.exit(UNAVAILABLE)
