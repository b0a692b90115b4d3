"""What a map scores that knows nothing: the bar under every other."""

from collections.abc import Sequence


def null_share(experts: int, rows: Sequence[int]) -> float:
    """Tell the cold share of a map drawn at random; no share says much without it.

    Args:
        experts: E of every layer.
        rows: H of each layer, 0..E; every layer has as many picks.

    Returns:
        The layers' mean of 1 - H/E; the same for any map where traffic picks all experts alike.

    Raises:
        ValueError: There is no layer, or one has more hot rows than experts.
    """
    if not rows or not 0 <= min(rows) <= max(rows) <= experts:
        raise ValueError(f"hot rows {list(rows)} of {experts} experts")
    return (experts * len(rows) - sum(rows)) / (experts * len(rows))
