"""Which lanes a night is of, where none is named."""

from lanewright.nightly.free import gpus
from lanewright.project import Upstream


def usual_lanes(upstream: Upstream) -> list[str]:
    """Those of ``[nightly] lanes``, else those that this machine's GPU is for, else the default lane."""
    spec = upstream.nightly
    if spec.lanes:
        return spec.lanes
    called = gpus() if spec.gpus else []
    fitting = (lanes for name, lanes in spec.gpus.items() if any(name in each for each in called))
    return next(fitting, []) or [upstream.default_lane]
