# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""What a worker answers to ``collective_rpc`` about this package."""

import os
import sys
from typing import Any

from vllm.model_executor.layers.fused_moe.routed_experts import RoutedExperts

from expert_bank import __version__, ops
from expert_bank.budgets import limit
from expert_bank.forced import Forced
from expert_bank.glue import plugin
from expert_bank.glue.banking import map_invariance
from expert_bank.staging.steering import steer
from expert_bank.steering import (
    changing,
    follow,
    force,
    freeze,
    hot_experts,
    set_map,
)
from expert_bank.swaps import read_swaps
from expert_bank.two_bank import TwoBank


class WorkerExtension:
    """Methods that ``--worker-extension-cls`` adds to vLLM's worker.

    Attributes:
        vllm_config: The worker's own configuration, set by vLLM.
        model_runner: The worker's own, set by vLLM.
        two_bank: The worker's own, where its class is ours.
    """

    vllm_config: Any
    model_runner: Any
    two_bank: TwoBank | None

    def expert_bank_status(self) -> dict[str, Any]:
        """Report how this worker runs, as values that JSON can carry.

        Returns:
            ``plugin``: whether vLLM loaded the entry point in this process. ``version``: of this
            package. ``pid``: of the worker. ``moe_usage_counter``, ``moe_hot_experts``: the fields
            of ``OffloadConfig``, or None where this vLLM does not have them. ``experts``: classes
            of the model's MoE layers. ``ops``: whether an op of ours is registered.
            ``prefetch_copies``: what our hook patch made of the prefetching offloader's copies; None
            without it.
        """
        model = self.model_runner.get_model()
        classes = {type(each) for each in model.modules() if isinstance(each, RoutedExperts)}
        return {
            "plugin": plugin.registered(),
            "version": __version__,
            "pid": os.getpid(),
            "moe_usage_counter": getattr(
                self.vllm_config.offload_config, "moe_usage_counter", None
            ),
            "moe_hot_experts": getattr(self.vllm_config.offload_config, "moe_hot_experts", None),
            "experts": sorted(f"{each.__module__}.{each.__qualname__}" for each in classes),
            "ops": ops.registered(),
            "prefetch_copies": _prefetch_copies(),
        }

    def expert_bank_usage(self) -> dict[str, Any] | None:
        """Read the counts between two steps, as values that JSON can carry.

        Returns:
            None where nothing counts; else ``model``: what is served; ``layers``: L names;
            ``picks_per_token``: k; ``tokens``: scheduled since start, as the worker summed them; ``counts``: [L][E]
            picks since start.

        Raises:
            Refused: The counts are not exact.
        """
        counter = getattr(self, "pick_counter", None)
        if counter is None:
            return None
        return {
            "model": self.vllm_config.model_config.model,
            "layers": list(counter.layers),
            "picks_per_token": counter.picks_per_token,
            "tokens": counter.tokens,
            "counts": counter.snapshot().tolist(),
        }

    def expert_bank_recorded(self) -> dict[str, Any] | None:
        """Tell how the recording of picks stands; None where nothing is recorded.

        Returns:
            ``file``; ``tokens``: scheduled since start; ``written``: of them in the file, which lack
            those of a step whose answer is not known yet; ``ended``: why nothing is written any more.
        """
        recording = getattr(self, "recording", None)
        return None if recording is None else recording.recorder.told()

    def expert_bank_banks(self) -> dict[str, Any] | None:
        """Tell how the two banks stand; None where all experts are resident.

        Returns:
            ``TwoBank.told``, with ``seams``: by seam whose code serves it (``from``) and how often
            it was entered (``calls``); and ``audit``: which rows are not as they were loaded, and
            which layers' output moves with the map; empty where all is right.

        Raises:
            Refused: The counts, which are told too, are not exact; the engine sleeps; or a bank is
                not of one layer of the model.
        """
        two_bank: TwoBank | None = getattr(self, "two_bank", None)
        if two_bank is None:
            return None
        two_bank.require_awake("expert_bank_banks")
        model = self.model_runner.get_model()
        moved = map_invariance(two_bank, model, self.vllm_config)
        audit = [*two_bank.audit(), *filter(None, moved)]
        return {**two_bank.told(), "audit": audit}

    def expert_bank_stats(self) -> dict[str, Any] | None:
        """Tell how the map does, and replace the stats file where there is one.

        Returns:
            ``stats.snapshot``; None where all experts are resident.

        Raises:
            Refused: The counts, which are told too, are not exact.
        """
        two_bank: TwoBank | None = getattr(self, "two_bank", None)
        return None if two_bank is None or two_bank.watch is None else two_bank.watch.read()

    def expert_bank_force(self, every: int, pairs_per_layer: int, seed: int) -> None:
        """Swap at random before every n-th forward from here on; ``every`` 0 ends it.

        Meanwhile the map follows no traffic.

        Raises:
            ValueError: They are not whole numbers, or below what they can be.
        """
        ends = type(every) is int and every == 0
        forced = None if ends else Forced(every, pairs_per_layer, seed)
        force(self._banked(), forced)

    def expert_bank_swap(self, swaps: list[list[int | None]]) -> dict[str, Any]:
        """Swap what is listed: layer, the expert to promote or None, the one to demote or None.

        Returns:
            What all barriers so far have done, with the last failures.

        Raises:
            Refused: They are no such list, the table contradicts one, or the barrier is closed;
                nothing was moved.
        """
        two_bank, wanted = self._banked(), read_swaps(swaps)
        with changing(two_bank, wanted):
            two_bank.barrier.swap(wanted)
        return two_bank.barrier.told()

    def expert_bank_follow(self, settings: object) -> dict[str, Any] | None:
        """Let the map follow traffic, at another pace, or no more; see ``steering.follow``.

        Returns:
            How it stands; None where it does not follow.

        Raises:
            Refused: They are no settings, or a budget takes no swap; nothing was changed.
        """
        two_bank = self._banked()
        follow(two_bank, settings)
        return None if two_bank.following is None else two_bank.following.told()

    def expert_bank_freeze(self, frozen: object) -> None:
        """Keep the map that follows as it is for now, or let it go on.

        Raises:
            Refused: The map does not follow, or this is neither true nor false.
        """
        freeze(self._banked(), frozen=frozen)

    def expert_bank_map(self, hot: object = None) -> list[list[int]]:
        """Make these the hot experts, one list of ids a layer; None to leave them as they are.

        Returns:
            The hot experts of each layer. A row whose copy failed is where it was, and told in
            ``expert_bank_banks``.

        Raises:
            Refused: It is no such list; nothing was moved. Or the barrier is closed.
        """
        two_bank = self._banked()
        if hot is not None:
            set_map(two_bank, hot)
        return hot_experts(two_bank)

    def expert_bank_budget(self, bytes_: int | None = None, seconds: float | None = None) -> None:
        """Limit what one barrier may copy and how long it may take; None for no limit.

        Raises:
            Refused: One is below zero, or no number; or the map follows, and a budget takes no
                swap. Nothing was changed.
        """
        limit(self._banked(), bytes_, seconds)

    def expert_bank_stage(self, wanted: object = None, least: object = None) -> dict[str, Any]:
        """Stage the cold rows of prefill steps from here on, or none; see ``staging.steering.steer``.

        Returns:
            How it stands.

        Raises:
            Refused: Nothing is staged here, or this is no such setting; nothing was changed.
        """
        return steer(self._banked(), wanted, least)

    def _banked(self) -> TwoBank:
        two_bank: TwoBank | None = getattr(self, "two_bank", None)
        if two_bank is None:
            raise RuntimeError("all experts are resident: moe_hot_experts is not set")
        return two_bank


def _prefetch_copies() -> dict[str, Any] | None:
    # Only the patched offloader imports it.
    hook = sys.modules.get("expert_bank.glue.prefetch_copy")
    return None if hook is None else hook.told()
