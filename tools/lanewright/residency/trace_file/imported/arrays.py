"""NumPy files of requests: what vLLM hands out with ``enable_return_routed_experts``.

An answer's ``routed_experts`` is an array of tokens, MoE layers and picks; the prompt's tokens are in
it, and the last one sampled is not, for it was never routed. Who keeps them does so with ``numpy.save``, a file a
request.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lanewright.residency.trace_file.form import MOST_PICKS
from lanewright.residency.trace_file.imported.source import Said, whole
from lanewright.residency.trace_file.recorded import Recorded

# Of a header alone; an array of objects would be unpickled, and is refused before.
ITEM_BYTES = 8


def read_arrays(files: list[Path], said: Said) -> Recorded:
    """Read ``.npy`` files, a request each, in the order in which they are named.

    Raises:
        ValueError: One is none, or they do not go together; it is named.
    """
    return whole([_array(file) for file in files], said)


def _array(file: Path) -> NDArray[np.integer]:
    if file.stat().st_size > MOST_PICKS * ITEM_BYTES:
        raise ValueError(f"{file}: it is too large")
    try:
        found = np.load(file, allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise ValueError(f"{file}: it is no NumPy file of numbers: {error}") from error
    if not isinstance(found, np.ndarray):
        raise ValueError(f"{file}: it holds several arrays; save each by itself")  # noqa: TRY004 - a file
    if found.ndim != 3 or not np.issubdtype(found.dtype, np.integer):  # noqa: PLR2004 - t, L, k
        raise ValueError(
            f"{file}: it is {found.dtype}{list(found.shape)}, and must be int[t, L, k]"
        )
    return found
