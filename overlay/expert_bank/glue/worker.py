# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""The step of a worker, where vLLM lets a subclass in."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from expert_bank.config import FOLLOW_EAMS, BankConfig
from expert_bank.counter import PickCounter
from expert_bank.eams.running import RunningEams
from expert_bank.glue.banking import before_forward, load_banked, require_map_invariance, watch
from expert_bank.glue.binding import bind_counter
from expert_bank.glue.captured import captured
from expert_bank.glue.experts import CountedExperts
from expert_bank.glue.hidden import hidden_size
from expert_bank.glue.install import install
from expert_bank.glue.prompt_eams import PromptEams
from expert_bank.glue.prompts import Prompts
from expert_bank.glue.recording import Recording
from expert_bank.glue.routed import Routed
from expert_bank.glue.sleeping import SleepingWorker
from expert_bank.recording.settings import FEATURE as RECORD
from expert_bank.recording.settings import RecordSettings
from expert_bank.refused import Refused
from expert_bank.steering import follow
from expert_bank.two_bank import TwoBank

AGAIN = "start the engine again for other weights, or start it without moe_hot_experts"


class BankWorker(SleepingWorker):
    """Mixed in before a worker class of vLLM; does what the configuration switches on.

    Attributes:
        pick_counter: Counts the picks, or None where nothing does.
        prompts: Of the requests; None where no step is staged.
        routed: What each forward routes; None where nothing asks.
        recording: Writes it; None where nothing does.
    """

    pick_counter: PickCounter | None = None
    prompts: Prompts | None = None
    routed: Routed | None = None
    recording: Recording | None = None

    def load_model(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - vLLM's, whatever they are
        """Load as vLLM does, into two banks or not, and bind the counter to what was loaded."""
        offload = self.vllm_config.offload_config
        config = BankConfig.read(offload)
        records = RecordSettings.read() if getattr(offload, "moe_record_picks", False) else None
        if config.on:
            load = super().load_model
            self.two_bank = load_banked(self, config, lambda: load(*args, **kwargs))
            self.pick_counter = self.two_bank.counter
            self.prompts = Prompts() if self.two_bank.staging else None
            self.two_bank.eams = _eams(self.two_bank, config)
            follow(self.two_bank, config.follow)
            watch(self.two_bank, config, self.vllm_config)
        elif getattr(offload, "moe_usage_counter", False) or records is not None:
            install(CountedExperts, "moe_usage_counter")
            super().load_model(*args, **kwargs)
            model = self.model_runner.get_model()
            self.pick_counter = bind_counter(model, self.vllm_config, self.device)
        else:
            super().load_model(*args, **kwargs)
        self._keep_routed(records)

    def compile_or_warm_up_model(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the same
        """Warm up uncounted: some kernels are warmed by whole steps that nobody asked for.

        Raises:
            Refused: A layer's output tells which bank its experts are in.
        """
        counter, self.pick_counter = self.pick_counter, None
        two_bank = self.two_bank
        closed = nullcontext() if two_bank is None else two_bank.barrier.shut("warm-up")
        staging = None if two_bank is None else two_bank.staging
        try:
            with closed, nullcontext() if staging is None else staging.warming():
                warm = super().compile_or_warm_up_model(*args, **kwargs)
        finally:
            self.pick_counter = counter
        # Behind the warm-up: kernels are tuned in it, and the check is of what will serve.
        if self.two_bank is not None:
            model = self.model_runner.get_model()
            require_map_invariance(self.two_bank, model, self.vllm_config)
        return warm

    def execute_model(self, scheduler_output: Any) -> Any:  # noqa: ANN401 - vLLM's
        """Run a step; every earlier one of this worker is enqueued by now."""
        tokens = scheduler_output.total_num_scheduled_tokens
        prefill = self.prompts is not None and self.prompts.prefills(scheduler_output)
        routed = None if self.pick_counter is None else self.routed
        if routed is not None:
            routed.before(scheduler_output)
        if self.pick_counter is None or tokens == 0:
            return super().execute_model(scheduler_output)
        forward: AbstractContextManager[None] = nullcontext()
        if self.two_bank is not None:
            before_forward(self.two_bank)
            # Asked of prefill steps alone: nothing else is staged.
            replayed = prefill and captured(self.vllm_config, tokens)
            forward = self.two_bank.step(tokens, prefill=prefill, captured=replayed)
        with self.pick_counter.step(tokens), forward:
            output = super().execute_model(scheduler_output)
        if routed is not None:
            routed.after()
        return output

    def sample_tokens(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the same
        """Sample as vLLM does; the record says which drafts were accepted."""
        output = super().sample_tokens(*args, **kwargs)
        return output if self.recording is None else self.recording.sampled(output)

    def reload_weights(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the same
        """Reload as vLLM does where all experts are resident.

        Raises:
            Refused: They are in two banks, and would be reloaded into their first places.
        """
        self._refuse_while_banked("reload_weights", "weights cannot be reloaded", AGAIN)
        return super().reload_weights(*args, **kwargs)

    def start_weight_update(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the same
        """Begin as vLLM does where all experts are resident; else the same."""
        self._refuse_while_banked("start_weight_update", "weights cannot be updated", AGAIN)
        return super().start_weight_update(*args, **kwargs)

    def update_weights(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the same
        """Update as vLLM does where all experts are resident; else the same."""
        self._refuse_while_banked("update_weights", "weights cannot be updated", AGAIN)
        return super().update_weights(*args, **kwargs)

    def reset_weights(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the same
        """Zero them as vLLM does where all experts are resident; else the same.

        Raises:
            NotImplementedError: This vLLM does not zero weights; 0.32 does.
        """
        self._refuse_while_banked("reset_weights", "weights cannot be reset", AGAIN)
        reset = getattr(super(), "reset_weights", None)
        if reset is None:
            raise NotImplementedError("reset_weights: this vLLM has no such call")
        return reset(*args, **kwargs)

    def compute_weight_checksums(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the same
        """Sum them up as vLLM does where all experts are resident; else the same.

        Raises:
            NotImplementedError: This vLLM has no such sums; 0.32 does.
        """
        # They would be of the hot rows, and other ones after every swap.
        self._refuse_while_banked("compute_weight_checksums", "weights cannot be summed up")
        compute = getattr(super(), "compute_weight_checksums", None)
        if compute is None:
            raise NotImplementedError("compute_weight_checksums: this vLLM has no such call")
        return compute(*args, **kwargs)

    def save_sharded_state(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the same
        """Save as vLLM does where all experts are resident; else the same."""
        self._refuse_while_banked("save_sharded_state", "weights cannot be saved")
        return super().save_sharded_state(*args, **kwargs)

    def save_tensorized_model(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the same
        """Save as vLLM does where all experts are resident; else the same."""
        self._refuse_while_banked("save_tensorized_model", "weights cannot be saved")
        return super().save_tensorized_model(*args, **kwargs)

    def _keep_routed(self, records: RecordSettings | None) -> None:
        """Have the layers keep what they route where something is to read it."""
        counter, two_bank = self.pick_counter, self.two_bank
        eams = None if two_bank is None else two_bank.eams
        if counter is None or (records is None and eams is None):
            return
        hidden = hidden_size(self.vllm_config) if records is not None and records.hidden else 0
        feature = FOLLOW_EAMS if records is None else RECORD
        self.routed = Routed(self, counter.layers, feature, hidden)
        if records is not None:
            self.recording = Recording(self, self.routed, records)
            self.routed.readers.append(self.recording)
        if eams is not None:
            self.routed.readers.append(PromptEams(self.routed, eams))

    def _refuse_while_banked(self, asked: str, what: str, hint: str = "") -> None:
        if self.two_bank is not None:
            raise Refused(
                f"{asked}: {what} while experts are in two banks (moe_hot_experts)",
                hint=hint or "start it without moe_hot_experts to do that",
            )


def _eams(two_bank: TwoBank, config: BankConfig) -> RunningEams | None:
    if not config.follow_eams:
        return None
    return RunningEams(len(two_bank.boot), len(two_bank.boot[0]), config.follow_eams)
