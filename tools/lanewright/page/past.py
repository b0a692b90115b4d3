"""What the history tells a page: every night, those too the folders of which were removed."""

from dataclasses import dataclass, field

from lanewright.errors import LanewrightError
from lanewright.history.database import opened
from lanewright.history.nights import all_nights, names_of_nights
from lanewright.history.past import PastNight
from lanewright.history.transactions import reading
from lanewright.places import Places


@dataclass(frozen=True)
class Past:
    """What it tells.

    Attributes:
        nights: The newest ones, by their names.
        names: Of all that there are.
        fault: Why it tells nothing; empty where it does.
    """

    nights: dict[str, PastNight] = field(default_factory=dict)
    names: frozenset[str] = frozenset()
    fault: str = ""


def past_of(places: Places, most: int) -> Past:
    """Read the history; what keeps it from being read keeps no page from being written.

    Args:
        places: Has it.
        most: How many nights are read.
    """
    try:
        with opened(places) as connection, reading(connection):
            nights = all_nights(connection, None, most)
            return Past({each.name: each for each in nights}, names_of_nights(connection))
    except LanewrightError as error:
        return Past(fault=f"{error}\n  next: {error.hint}" if error.hint else str(error))
    except OSError as error:
        return Past(fault=str(error))
