"""Every way in which the proof of staging can fail, and what a boot asks for it."""

from collections.abc import Mapping
from typing import Any

import pytest

from lanewright.errors import MismatchError
from lanewright.serve.asking import LONGEST, boot_prompts
from lanewright.serve.boot import PROMPTS
from lanewright.serve.staging import require_staging, told_staging

ON: Mapping[str, object] = {"moe_prefill_stage": "2"}
REFUSED = {"decode": 7, "switched_off": 0, "captured": 0, "below_threshold": 2, "unfilled": 0}


def banks(**changed: Any) -> dict[str, Any]:  # noqa: ANN401
    """What an honest worker tells: two steps over layers of 3 and 4 cold rows, but for what is changed."""
    staging = {
        "steps": 2,
        "tokens": 900,
        "rows": 14,
        "bytes": 2 * (3 * 100 + 4 * 50),
        "late": 0,
        "failed": 0,
        "off": "",
        "refused": REFUSED,
        "least_tokens": 5,
        # As JSON has its keys; the layer between is all hot.
        "slots": {"0": 3, "2": 4},
    }
    return {"row_bytes": [100, 70, 50], "forwards": 11, "staging": staging | changed}


def test_an_honest_worker_is_believed_and_told_of() -> None:
    require_staging("it", banks(), ON)
    (line,) = told_staging(banks())
    assert line == (
        "2 steps with 900 tokens staged 14 cold rows, 1000 bytes, 0 of the rows late; 7 decode, 2"
        " below_threshold steps in place"
    )


def test_off_is_proven_by_no_buffer() -> None:
    require_staging("it", {"staging": None}, {})
    assert told_staging({"staging": None}) == []
    with pytest.raises(MismatchError, match="moe_prefill_stage is off, and there is a staging"):
        require_staging("it", banks(), {"moe_prefill_stage": ""})


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"off": "a row is not in its slot"}, "proves nothing: a row is not in its slot"),
        (
            {"bytes": 0},
            "no step was staged \\(7 decode, 2 below_threshold steps\\); the bytes want 5",
        ),
        ({"bytes": 0, "least_tokens": None}, "the bytes want more than any number of tokens"),
        ({"bytes": 999}, "2 steps staged 14 rows and 999 bytes; .* are 14 rows and 1000 bytes"),
        ({"rows": 15}, "staged 15 rows and 1000 bytes"),
        ({"steps": 3}, "3 steps staged 14 rows"),
        ({"slots": {"0": 3}}, "each layer's cold rows once are 6 rows and 600 bytes"),
        (
            {"refused": REFUSED | {"decode": 6}},
            "2 steps were staged and 8 refused, and there were 11",
        ),
        ({"refused": REFUSED | {"decode": 0, "captured": 7}}, "no step was a decode step"),
    ],
)
def test_whatever_is_not_so_is_named(changed: Mapping[str, Any], told: str) -> None:
    with pytest.raises(MismatchError, match=f"it: moe_prefill_stage.*{told}"):
        require_staging("it", banks(**changed), ON)


def test_no_buffer_proves_nothing() -> None:
    with pytest.raises(MismatchError, match="there is no staging buffer"):
        require_staging("it", {"staging": None}, ON)


def test_a_long_prompt_is_asked_where_it_is_what_staging_is_for() -> None:
    assert boot_prompts({}) == PROMPTS
    *short, long = boot_prompts(ON)
    assert (tuple(short), len(long)) == (PROMPTS, LONGEST)
    assert len(set(long.split(". "))) == long.count(". ") + 1
    *_, fitted = boot_prompts({**ON, "max_model_len": 512})
    assert 256 < len(fitted) < 512
    assert fitted == long[: len(fitted)]
