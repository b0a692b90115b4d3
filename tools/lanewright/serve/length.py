"""How long a boot's answers are: as long as what is to be proven needs."""

from collections.abc import Mapping

from expert_bank.pace import Pace
from expert_bank.refused import Refused
from lanewright.errors import LanewrightError
from lanewright.serve.boot import PROMPTS

LEAST = 16
# A map that follows traffic is to be decided on more than once.
DECISIONS = 2
# Of a prompt's tokens, whichever tokenizer has them: its longest has 40 bytes.
ROOM = 64
# A boot is short, however seldom traffic is looked at.
LONGEST = 512
FOLLOW = "moe_follow"


def answer_tokens(engine: Mapping[str, object]) -> int:
    """Count the tokens of each answer, asked one prompt at a time.

    More than usual where ``moe_follow`` looks at traffic less often than so few forwards have it;
    no more than the lane's ``max_model_len`` leaves room for.

    Raises:
        LanewrightError: ``moe_follow`` is not what it can be.
    """
    try:
        pace = Pace.read(str(engine.get(FOLLOW) or ""))
    except Refused as error:
        raise LanewrightError(
            f"engine argument {error.message}", hint=error.hint or "mend it in the lane's series"
        ) from error
    if pace is None:
        return LEAST
    # Drafts that are taken make one forward of many tokens.
    drafts = engine.get("speculative_config")
    taken = drafts.get("num_speculative_tokens", 0) if isinstance(drafts, Mapping) else 0
    tokens = -(-DECISIONS * pace.every // len(PROMPTS)) * (1 + taken)
    room = engine.get("max_model_len")
    longest = min(room - ROOM, LONGEST) if isinstance(room, int) else LONGEST
    return max(LEAST, min(tokens, longest))
