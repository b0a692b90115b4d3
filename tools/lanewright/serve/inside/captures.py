"""How often a graph was captured in this process, by torch's own class: whoever asks for it."""

from typing import Any

captured = 0


def count() -> None:
    """Count every capture from here on."""
    # Behind the shims, as arms.py imports it.
    import torch  # noqa: PLC0415

    whole = torch.cuda.CUDAGraph.capture_begin

    def counted(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - torch's
        global captured  # noqa: PLW0603 - of the process, as what is counted
        captured += 1
        return whole(self, *args, **kwargs)

    torch.cuda.CUDAGraph.capture_begin = counted
