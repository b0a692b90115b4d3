"""The proof of a map that follows traffic: its policy was asked whenever its turn came."""

from collections.abc import Mapping
from typing import Any

from lanewright.errors import MismatchError
from lanewright.serve.features import FOLLOW_EAMS


def require_following(
    where: str, banks: Mapping[str, Any], engine: Mapping[str, object], earlier: int
) -> None:
    """Go on where a map that is to follow traffic was decided on before every N-th forward.

    Args:
        where: Of what boot, for people.
        banks: What a worker told; ``follows`` may have been switched on by a call, too.
        engine: Engine arguments.
        earlier: How many forwards there were before it began to follow.

    Raises:
        MismatchError: It stands still, stopped, or was not decided on as often; or it was to go by
            what requests are like, and was told of none.
    """
    follows = banks.get("follows")
    if follows is None:
        if engine.get("moe_follow"):
            raise MismatchError(f"{_nothing(where)}: the map stands still")
        return
    if follows["ended"]:
        raise MismatchError(f"{_nothing(where)}: the map follows no more: {follows['ended']}")
    every, decisions = follows["every"], follows["decisions"]
    forwards = banks["forwards"] - earlier
    due = banks["forwards"] // every - earlier // every
    if not due:
        raise MismatchError(
            f"{_nothing(where)}: the policy is asked every {every} forwards, and there were"
            f" {forwards}",
            hint=f'set moe_follow = "{max(1, min(every, forwards) // 2)}", or another that a boot\'s'
            " few answers reach",
        )
    if decisions != due:
        raise MismatchError(
            f"{_nothing(where)}: the policy was asked {decisions} times in {forwards} forwards, and"
            f" every {every} of them makes {due}"
        )
    if engine.get(FOLLOW_EAMS) and not (follows.get("eams") or {}).get("predictions"):
        raise MismatchError(
            f"{where}: {FOLLOW_EAMS} is on and proves nothing: no request that ran was held against"
            " one that had ended"
        )


def told_following(banks: Mapping[str, Any]) -> list[str]:
    """Tell how often traffic was looked at, in words; nothing where the map does not follow."""
    follows = banks.get("follows")
    if follows is None:
        return []
    swaps = f"{banks['swaps']} swaps" if banks["swaps"] else "0 swaps were worth it"
    looked = f"the policy looked {follows['decisions']} times at traffic, {swaps}"
    if not (eams := follows.get("eams")):
        return [looked]
    return [
        f"{looked}; {eams['predictions']} times by the requests that ran, of {eams['kept']} kept"
    ]


def _nothing(where: str) -> str:
    return f"{where}: moe_follow is on and proves nothing"
