"""Windows of a text, spread over it: the same for whoever reads it."""

LENGTH = 256
WINDOWS = 40


def spread(ids: list[int]) -> list[list[int]]:
    """Cut windows out of a text's tokens."""
    step = (len(ids) - LENGTH) // WINDOWS
    return [ids[number * step :][:LENGTH] for number in range(WINDOWS)]
