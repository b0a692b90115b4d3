"""What a guess is worth: recall, what it covers beyond what is resident, and useful bytes."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from lanewright.residency.guess.setting import NONE, WIDEST, Ranks, Setting

AT_ONCE = 2**24


@dataclass(frozen=True)
class Rows:
    """Rows that a guess would copy, forward by forward; tokens of one share a row.

    Attributes:
        copied: Named, and not resident.
        useful: Of these, picked by a token of the forward that was guessed at.
        missed: Picked there, not resident, and not named.
    """

    copied: int
    useful: int
    missed: int


@dataclass(frozen=True)
class Wide:
    """A guess of so many names.

    Attributes:
        names: n.
        chance: Recall of a guess at random: n / E.
        recall: Share of the picks that are named.
        error: Its standard error, requests being drawn; None of one request.
        precision: Share of the names that are picked; None where nothing is named.
        cold_recall: Share of the picks that are not resident, which are named; None where there are none.
        cold_error: Its standard error, as ``error``.
        rows: That would be copied.
    """

    names: int
    chance: float
    recall: float
    error: float | None
    precision: float | None
    cold_recall: float | None
    cold_error: float | None
    rows: Rows


@dataclass(frozen=True)
class Score:
    """A guesser's.

    Attributes:
        guessed: Share of the token's layers of which anything is named.
        recall_where_guessed: Of k names, in these alone; None where there are none.
        wide: Guesses of k, 2k and 3k names, as far as there are so many experts.
    """

    guessed: float
    recall_where_guessed: float | None
    wide: tuple[Wide, ...]

    @property
    def recall(self) -> float:
        """Of k names."""
        return self.wide[0].recall


def score(setting: Setting, ranks: Ranks) -> Score:
    """Hold a guess against the picks.

    Args:
        setting: What it is of.
        ranks: int32[N, L, W].
    """
    trace, tokens = setting.trace, setting.scored
    ids = trace.ids[tokens]
    place = places(ranks, ids)
    cold = ~setting.boot[np.arange(ids.shape[1])[:, None], ids]
    any_name = (ranks != NONE).any(axis=2)
    found = place[any_name] < trace.picks
    wide = [
        _wide(setting, ranks, place, cold, min(many * trace.picks, trace.experts))
        for many in range(1, WIDEST + 1)
    ]
    return Score(
        guessed=float(any_name.mean()),
        recall_where_guessed=float(found.mean()) if found.size else None,
        wide=tuple(wide),
    )


def places(ranks: Ranks, ids: NDArray[np.integer]) -> NDArray[np.int32]:
    """Find each pick's place in a guess.

    Args:
        ranks: int32[N, L, W].
        ids: int[N, L, k].

    Returns:
        int32[N, L, k], from 0 on; W where it is not named.
    """
    width = ranks.shape[2]
    found = np.full(ids.shape, width, np.int32)
    step = max(1, AT_ONCE // max(1, ids[0].size * width)) if len(ids) else 1
    for start in range(0, len(ids), step):
        part = slice(start, start + step)
        alike = ids[part, :, :, None] == ranks[part, :, None, :]
        found[part] = np.where(alike.any(axis=3), alike.argmax(axis=3), width)
    return found


def _wide(
    setting: Setting,
    ranks: Ranks,
    place: NDArray[np.int32],
    cold: NDArray[np.bool_],
    names: int,
) -> Wide:
    hit = place < names
    narrow = ranks[:, :, :names]
    named = int((narrow != NONE).sum())
    request = setting.trace.request[setting.scored]
    each = np.full(len(hit), hit[0].size)
    recall, error = clustered(hit.sum(axis=(1, 2)), each, request)
    cold_recall, cold_error = clustered(
        (hit & cold).sum(axis=(1, 2)), cold.sum(axis=(1, 2)), request
    )
    return Wide(
        names=names,
        chance=names / setting.trace.experts,
        recall=recall or 0.0,
        error=error,
        precision=int(hit.sum()) / named if named else None,
        cold_recall=cold_recall,
        cold_error=cold_error,
        rows=_rows(setting, narrow),
    )


def clustered(
    hits: NDArray[np.int64], of: NDArray[np.int64], request: NDArray[np.int64]
) -> tuple[float | None, float | None]:
    """Tell a share and its standard error, where whole requests were drawn.

    Args:
        hits: int64[N], of each token.
        of: int64[N], what they are of.
        request: int64[N].

    Returns:
        The share, None of nothing; and the standard error of the ratio, None of one request.
    """
    asked = of > 0
    if not asked.any():
        return None, None
    _, number = np.unique(request[asked], return_inverse=True)
    mine, each = (np.bincount(number, weights=column[asked]) for column in (hits, of))
    total, many = float(each.sum()), len(each)
    share = float(mine.sum()) / total
    if many == 1:
        return share, None
    apart = mine - share * each
    return share, sqrt(many / (many - 1) * float(apart @ apart)) / total


def _rows(setting: Setting, narrow: Ranks) -> Rows:
    trace, tokens = setting.trace, setting.scored
    forward = trace.forward[tokens]
    named, picked = (
        _cold_cells(setting, forward, experts.astype(np.int64))
        for experts in (narrow, trace.ids[tokens])
    )
    useful = len(np.intersect1d(named, picked, assume_unique=True))
    return Rows(copied=len(named), useful=useful, missed=len(picked) - useful)


def _cold_cells(
    setting: Setting, forward: NDArray[np.int64], experts: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Number what is not resident by forward, layer and expert, each once."""
    layers, many = setting.boot.shape
    cells = experts + np.arange(layers)[:, None] * many
    _, number = np.unique(forward, return_inverse=True)
    wanted = (experts != NONE) & ~setting.boot.ravel()[np.where(experts == NONE, 0, cells)]
    return np.unique((number[:, None, None] * setting.boot.size + cells)[wanted])
