"""A wheel named ``vllm`` with nothing in it: vLLM asks under that name for its own version."""

import base64
import hashlib
import zipfile
from pathlib import Path

from lanewright.image.base.recipe import Recipe

EARLIEST = (1980, 1, 1, 0, 0, 0)


def alias_version(recipe: Recipe) -> str:
    """Version of the alias: vLLM takes itself for a CPU build only where that says so."""
    return f"{recipe.version}+cpu"


def make_alias(recipe: Recipe, folder: Path) -> Path:
    """Write the wheel; it is the same, byte by byte, wherever it is made."""
    version = alias_version(recipe)
    info = f"vllm-{version}.dist-info"
    contents = {
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: vllm\n"
        f"Version: {version}\nSummary: Another name of {recipe.distribution} {recipe.version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: lanewright\n"
        "Root-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{path},{_recorded(text)}\n" for path, text in contents.items())
    contents[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n"
    wheel = folder / f"vllm-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, text in contents.items():
            member = zipfile.ZipInfo(path, EARLIEST)
            member.external_attr = 0o100644 << 16
            archive.writestr(member, text)
    return wheel


def _recorded(text: str) -> str:
    content = text.encode()
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
    return f"sha256={digest.decode()},{len(content)}"
