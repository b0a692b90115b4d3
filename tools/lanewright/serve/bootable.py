"""What no boot could run, told before there is one: of a lane's series, wherever it is booted."""

from pathlib import Path

from lanewright.queue.series import Series
from lanewright.serve.asking import boot_prompts
from lanewright.serve.boot import require_arguments
from lanewright.serve.equality.asked import Asked
from lanewright.serve.length import answer_tokens
from lanewright.serve.model import recipe_text
from lanewright.serve.seams import require_switched
from lanewright.serve.shims import check_shims


def require_bootable(series: Series, place: Path) -> None:
    """Refuse of a series what every boot of it refuses before an engine starts.

    What a machine lacks, its hardware or a model that others trained, says nothing of the lane.

    Args:
        series: Of the lane.
        place: Its file, for messages.

    Raises:
        LanewrightError: There is no such recipe or shim, an engine argument cannot be handed on, code
            is named at a seam of what is off, or more is to be compared than there is.
    """
    check_shims(series.boot.shims, f"{place}: [boot] shims")
    require_switched(series, f"{place}: [seams]")
    Asked.of(series.equality, f"{place}: [equality]", series.engine)
    if series.model.recipe is not None:
        recipe_text(series.model.recipe)
    require_arguments(series.engine)
    answer_tokens(series.engine)
    boot_prompts(series.engine)
