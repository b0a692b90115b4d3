"""DeepSeek-V2-Lite as the paper on MoE-Infinity has it: 3 GB a step, buffers of 3, 2 and 1 GB.

The model has 27 layers, of which 26 have 64 experts each, and a token picks 6. The paper's 3 GB of
a step of one token are 156 rows of 19.2 MB; by the model's own shapes in bfloat16 a row is 17.3 MB,
and a step 2.7 GB. The requests are drawn: four kinds, each with favourites of its own.
"""

from functools import cache

import numpy as np

from lanewright.residency.trace_file.recorded import DECODE, PREFILL, Recorded
from tests.residency import requests, traffic

GB = 10**9
LAYERS, EXPERTS, PICKS = 26, 64, 6
STEP = 3 * GB
ROW = STEP // (LAYERS * PICKS)
KINDS, REQUESTS, PROMPT, DECODED = 4, 8, 8, 16


@cache
def served() -> Recorded:
    """Requests one after the other: a prompt in one forward, then a token a forward."""
    each = PROMPT + DECODED
    kinds = [traffic.zipf(LAYERS, EXPERTS, seed, exponent=1.5) for seed in range(KINDS)]
    ids = np.concatenate(
        [traffic.sampled(kinds[r % KINDS], each, PICKS, 100 + r) for r in range(REQUESTS)]
    )
    place = np.tile(np.arange(each), REQUESTS)
    request = np.arange(REQUESTS).repeat(each)
    forward = request * (DECODED + 1) + np.maximum(0, place - PROMPT + 1)
    phase = np.where(place < PROMPT, PREFILL, DECODE).astype(np.uint8)
    return requests.recorded(
        ids, EXPERTS, forward=forward, request=request, position=place, phase=phase
    )
