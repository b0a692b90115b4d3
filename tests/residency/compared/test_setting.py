"""Parts of a trace."""

import numpy as np

from lanewright.residency.compared.setting import selected
from lanewright.residency.trace_file.recorded import require_recorded
from tests.residency import requests


def test_a_part_has_all_that_its_tokens_have() -> None:
    found = requests.with_hidden(requests.weighted(requests.mixed()), 3)
    assert found.hidden is not None
    assert found.weights is not None
    for tokens in (slice(4, None), np.arange(12) % 3 == 0):
        part = selected(found, tokens)
        require_recorded(part)
        assert np.array_equal(part.hidden, found.hidden[tokens])  # type: ignore[arg-type]
        assert np.array_equal(part.weights, found.weights[tokens])  # type: ignore[arg-type]
        assert part.request.tolist() == found.request[tokens].tolist()
