"""What an error tells to write into a file."""


def written(error: str, place: str) -> str:
    """The lines below a place, as a person copies them."""
    lines = error.partition(f"  {place}:\n")[2].splitlines()
    end = next((n for n, line in enumerate(lines) if line and line[:4] != "    "), len(lines))
    return "\n".join(lines[:end]) + "\n"
