from types import SimpleNamespace

__version__ = "9.9.9+cpu"
# As a build for CUDA has it.
version = SimpleNamespace(cuda="13.0")


class CUDAGraph:
    def capture_begin(self) -> None:
        print("a graph is captured", flush=True)  # noqa: T201 - read in the log


cuda = SimpleNamespace(CUDAGraph=CUDAGraph)
