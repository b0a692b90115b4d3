"""A link as a FIFO queue: what is on it delays whatever comes behind."""

from dataclasses import dataclass

# Bytes a second. The paper on MoE-Infinity has PCIe 4.0 at 24 GB/s in its first table and at 32 in
# its appendix; 340 is what a Grace Hopper's link between its chips was seen to give.
RATES = {"pcie-24": 24e9, "pcie-32": 32e9, "c2c-340": 340e9}


@dataclass
class Link:
    """One link; transfers neither overtake nor share.

    Attributes:
        rate: Bytes a second.
        free: When all that was sent will have arrived, in seconds.
    """

    rate: float
    free: float = 0.0

    def send(self, now: float, size: int) -> float:
        """Put a transfer behind all others; when it will have arrived."""
        self.free = max(now, self.free) + size / self.rate
        return self.free
