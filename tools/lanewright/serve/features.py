"""What the overlay can do once it is switched on, and what tells that a lane carries it."""

from collections.abc import Mapping

from lanewright.errors import LanewrightError
from lanewright.serve.environment import LaneEnv

PACKAGE = "expert_bank"
COUNTER, BANKS = "moe_usage_counter", "moe_hot_experts"
# Engine arguments that our hook patches add; upstream knows none of them.
FEATURES = (COUNTER, BANKS)
STAGE, FOLLOW_EAMS = "moe_prefill_stage", "moe_follow_eams"
# Of a run and no lane's: it says nothing without a folder.
RECORD = "moe_record_picks"
SETTINGS = ("moe_cold_rows", "moe_boot_map", "moe_follow", FOLLOW_EAMS, STAGE)
KINDS: Mapping[str, tuple[type, str]] = {
    COUNTER: (bool, "true or false"),
    BANKS: (str, 'a text, such as "295" or "fit:200GiB"'),
    **dict.fromkeys(SETTINGS, (str, "a text")),
    FOLLOW_EAMS: (int, "a whole number, of the requests that are kept"),
}


def carries_bank(env: LaneEnv) -> bool:
    """Tell whether the lane's tree holds the expert_bank overlay."""
    return (env.site / PACKAGE).is_dir()


def switched_on(engine: Mapping[str, object]) -> tuple[str, ...]:
    """Name the features that a lane's engine arguments switch on."""
    return tuple(name for name in FEATURES if engine.get(name, False))


def require_kinds(engine: Mapping[str, object]) -> None:
    """Go on where each feature is set to something of its kind.

    Raises:
        LanewrightError: One is not; vLLM would read a number otherwise than the text of it.
    """
    for name, (kind, valid) in KINDS.items():
        if name in engine and not isinstance(engine[name], kind):
            raise LanewrightError(
                f"engine argument {name} is {engine[name]!r}, and must be {valid}",
                hint="mend it in the lane's series",
            )


def without_features(engine: Mapping[str, object]) -> dict[str, object]:
    """Keep the arguments that upstream knows: those of the baseline and of everything off."""
    return {
        name: value
        for name, value in engine.items()
        if name not in (*FEATURES, *SETTINGS, RECORD) and not str(value).startswith(f"{PACKAGE}.")
    }
