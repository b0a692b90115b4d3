"""Pages as a browser would read them: elements, attributes, and the text that is seen."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

VOID = {"meta", "link", "img", "br"}


@dataclass
class Element:
    """An element: its name, its attributes, and all text within it."""

    name: str
    attributes: dict[str, str]
    text: str = ""
    within: list["Element"] = field(default_factory=list)

    def all(self, name: str) -> Iterator["Element"]:
        for each in self.within:
            if each.name == name:
                yield each
            yield from each.all(name)


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("", {})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = [name for name, _ in attrs]
        assert len(named) == len(set(named)), f"{tag} says an attribute twice"
        made = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].within.append(made)
        if tag not in VOID:
            self.open.append(made)

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].name == tag, f"</{tag}> closes <{self.open[-1].name}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        for each in self.open:
            each.text += data


def read(page: Path) -> Element:
    """A page; fails where elements are not closed in order."""
    parser = _Parser()
    parser.feed(page.read_text("utf-8"))
    parser.close()
    assert parser.open == [parser.root]
    return parser.root


def everything(root: Element) -> Iterator[Element]:
    for each in root.within:
        yield each
        yield from everything(each)


def pages(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.html"))


def targets(page: Path) -> Iterator[tuple[str, Path | None, str]]:
    """What a page points to: the address, the file if it is one, and the place in it."""
    for each in everything(read(page)):
        for name in ("href", "src"):
            if address := each.attributes.get(name):
                parts = urlsplit(address)
                inside = not parts.scheme
                file = page.parent / unquote(parts.path) if parts.path else page
                yield address, file if inside else None, parts.fragment
