"""Bytes of one expert's row, its scales among them."""

from dataclasses import dataclass

from lanewright.residency.cost.families import Shape

# Of bfloat16 and float16: weights that are not quantized, and biases.
TWO_BYTES = 2
# As vLLM keeps the scale of a block, whatever the checkpoint has.
FLOAT32 = 4
BITS = 8


@dataclass(frozen=True)
class Layout:
    """How weights are kept.

    Attributes:
        told: In words.
    """

    told: str

    def bytes_of(self, shape: Shape) -> int:
        """Bytes of one expert: gate and up, ``inner x hidden`` each, and down, ``hidden x inner``."""
        gate, down = (shape.inner, shape.hidden), (shape.hidden, shape.inner)
        biases = TWO_BYTES * (2 * shape.inner + shape.hidden) if shape.biases else 0
        return 2 * self.matrix(*gate) + self.matrix(*down) + biases

    def matrix(self, outputs: int, inputs: int) -> int:
        """Bytes of one matrix.

        Args:
            outputs: Its rows.
            inputs: Its columns, along which groups lie.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class Plain(Layout):
    """Two bytes a weight."""

    def matrix(self, outputs: int, inputs: int) -> int:
        """See ``Layout``."""
        return TWO_BYTES * outputs * inputs


@dataclass(frozen=True)
class Blocks(Layout):
    """A byte a weight, and a float32 scale a block.

    Attributes:
        block: Outputs and inputs of a block, 0 for all; None for the whole matrix.
    """

    block: tuple[int, int] | None

    def matrix(self, outputs: int, inputs: int) -> int:
        """See ``Layout``."""
        high, wide = self.block or (outputs, inputs)
        return outputs * inputs + FLOAT32 * _parts(outputs, high) * _parts(inputs, wide or inputs)


@dataclass(frozen=True)
class Groups(Layout):
    """Some bits a weight, and a scale a group of inputs.

    Attributes:
        bits: Of a weight.
        group: Weights that share a scale.
        scale: Bytes of a scale.
        zeros: Whether a group has a zero point, of as many bits as a weight.
        each: Bytes that a matrix has besides.
    """

    bits: int
    group: int
    scale: int
    zeros: bool = False
    each: int = 0

    def matrix(self, outputs: int, inputs: int) -> int:
        """See ``Layout``."""
        groups = outputs * _parts(inputs, self.group)
        packed = self.bits * (outputs * inputs + (groups if self.zeros else 0))
        return _parts(packed, BITS) + self.scale * groups + self.each


def _parts(whole: int, size: int) -> int:
    return -(-whole // size)
