"""What is timed of a policy, and when it is asked."""

import time

import numpy as np

from tests.expert_bank.watched import Banks


def test_what_the_device_had_still_to_do_is_no_time_of_the_policy() -> None:
    banks, drained = Banks(), list[int]()
    banks.follow(every=4)

    def drain() -> None:
        drained.append(len(drained))
        time.sleep(0.2)

    banks.following.drain = drain
    hot = list(np.array(banks.map))
    for forward in range(1, 9):
        banks.following.at(forward, hot)
    assert len(drained) == 2, "before every 4th forward, and before no other"
    assert 0 < banks.following.seconds < 0.2
    assert banks.following.drain_seconds >= 0.4
    assert banks.followed.drain_seconds == banks.following.told()["drain_seconds"] >= 0.4


def test_reading_the_counts_is() -> None:
    banks = Banks()
    banks.follow()
    read = banks.counter.snapshot

    def slow() -> object:
        time.sleep(0.05)
        return read()

    banks.counter.snapshot = slow
    banks.following.at(1, list(np.array(banks.map)))
    assert banks.following.seconds >= 0.05
