"""The header of an own patch: why it is carried, what it was made on, what it claims."""

from pathlib import Path

from lanewright.queue.patch.diff import PatchError

NEEDED = ("Description", "Base", "Proof", "Forwarded")
FIELDS = (*NEEDED, "Claims", "Tests", "Author", "Origin", "Bug", "Applied-Upstream", "Last-Update")


def read_header(path: Path, header: bytes) -> dict[str, str]:
    """Fields of a header by name; lines that begin with a blank continue the field above.

    Args:
        path: The patch, for messages.
        header: What stands before its first section.

    Raises:
        PatchError: A field is missing, unknown, or given twice.
    """
    fields: dict[str, str] = {}
    name = ""
    for line in header.decode("utf-8", "replace").splitlines():
        if line[:1] in {" ", "\t"} and name:
            fields[name] += "\n" + line.strip()
        elif ":" in line:
            name, _, value = line.partition(":")
            if name in fields:
                raise PatchError(f"{path}: the header has `{name}:` twice")
            if name not in FIELDS:
                raise PatchError(
                    f"{path}: the header has `{name}:`, which is none of {', '.join(FIELDS)}"
                )
            fields[name] = value.strip()
    for needed in NEEDED:
        if not fields.get(needed):
            raise PatchError(
                f"{path}: the header has no `{needed}:` field",
                hint="CONTRIBUTING.md says what an own patch's header holds",
            )
    return fields
