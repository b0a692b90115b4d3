"""A stand-in for upstream's tree, small enough to read: three versions of a few files."""

CONFIG = b'''\
"""Offload settings."""


class UVAOffloadConfig:
    """Zero-copy offload."""

    cpu_offload_gb: float = 0


class OffloadConfig:
    """All offload settings."""

    offload_backend: str = "auto"

    def compute_hash(self) -> str:
        """Hash every field."""
        return str(vars(self))
'''

ARGUMENTS = b'''\
"""Engine arguments."""

from vllm.config import OffloadConfig


class EngineArgs:
    """What can be set."""

    model: str = ""
    dtype: str = "auto"
    offload_backend: str = OffloadConfig.offload_backend

    def add_cli_args(self, parser):
        """Flags."""
        parser.add_argument("--model")
        parser.add_argument("--dtype")
        parser.add_argument("--offload-backend")
        return parser

    def create_engine_config(self):
        """Build the configuration."""
        offload = OffloadConfig(
            offload_backend=self.offload_backend,
        )
        return offload
'''

BASE: dict[str, bytes] = {
    "vllm/__init__.py": b'"""A stand-in."""\n',
    "vllm/config.py": CONFIG,
    "vllm/arguments.py": ARGUMENTS,
    "vllm/empty.py": b"",
}

# Compiled and written at build time: never part of the tree that patches apply to.
BESIDE: dict[str, bytes] = {
    "vllm/_C.abi3.so": b"\x7fELF stand-in",
    "vllm/_version.py": b'__version__ = "0"\n',
}

# The next release edits another method of the file that the sample patch edits.
NEXT: dict[str, bytes] = {
    **BASE,
    "vllm/arguments.py": ARGUMENTS.replace(
        b'        """Flags."""\n', b'        """Flags, sorted."""\n'
    ).replace(b'    model: str = ""\n', b'    model: str = ""\n    tokenizer: str = ""\n'),
}

# A release that edits the very lines that the sample patch edits.
CLASH: dict[str, bytes] = {
    **BASE,
    "vllm/arguments.py": ARGUMENTS.replace(
        b"            offload_backend=self.offload_backend,\n",
        b"            backend=self.offload_backend,\n",
    ),
}

PATCHED: dict[str, bytes] = {
    **BASE,
    "vllm/config.py": CONFIG.replace(
        b'    offload_backend: str = "auto"\n',
        b'    offload_backend: str = "auto"\n\n    counter: bool = False\n',
    ),
    "vllm/arguments.py": ARGUMENTS.replace(
        b"    offload_backend: str = OffloadConfig.offload_backend\n",
        b"    offload_backend: str = OffloadConfig.offload_backend\n    counter: bool = False\n",
    ).replace(
        b"            offload_backend=self.offload_backend,\n",
        b"            offload_backend=self.offload_backend,\n            counter=self.counter,\n",
    ),
}
