"""Weights of MXFP4 as checkpoints have them."""

from making.drawing import Draw, Exponents, Nibbles

# Weights that share a scale.
BLOCK = 32


def packed(
    name: str, shape: tuple[int, int], exponents: tuple[int, int], *, scale: str
) -> dict[str, Draw]:
    """One matrix: two weights a byte, and a scale for 32 of them.

    Args:
        name: Of the matrix in the checkpoint.
        shape: Rows and columns, in weights.
        exponents: Smallest and largest byte of its scales.
        scale: What the checkpoint calls them.
    """
    rows, columns = shape
    low, high = exponents
    return {
        f"{name}.weight": Nibbles((rows, columns // 2)),
        f"{name}.{scale}": Exponents((rows, columns // BLOCK), low, high),
    }
