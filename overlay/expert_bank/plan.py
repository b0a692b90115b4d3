# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""What the two-bank takes of device and host memory, before any of it is allocated."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

from expert_bank.layer_shape import LayerShape
from expert_bank.pages import whole_pages
from expert_bank.staging.room import StageRoom, stage_room

Mode = Literal["mirror", "exclusive", "file"]
TABLE_BYTES = 4 * 4  # int32[4, E]: bank, row, generation, place
COUNT_BYTES = 2 * 4  # int32[2, E]: picks served from hot, from cold


def mirrored(mode: Mode) -> bool:
    """Tell whether the cold bank has every expert's row, so that a demotion copies nothing."""
    return mode != "exclusive"


def cold_rows(experts: int, hot: int, mode: Mode) -> int:
    """Tell how many cold rows a layer gets.

    A mirror has one for every expert, in host memory or in a file. Exclusive banks hold each expert
    once and have one spare row, so that a swap never leaves an expert without a whole one: it copies
    the hot one out before the cold one takes its row. Where all are hot there is nothing to swap, and
    no cold row.
    """
    if hot == experts:
        return 0
    return experts if mirrored(mode) else experts - hot + (hot > 0)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The two-bank of a model on a machine: what is given, and each term that follows, in bytes.

    Attributes:
        layers: Shapes of the MoE layers, in load order.
        hot: H of each layer, 0..E.
        mode: Whether the host has a row for every expert, or for the cold ones and a spare, or a
            file has one for every expert.
        page: Size of the host's pages; each layer's cold rows are rounded up to one.
        other: Of the weights on the device that are no experts.
        free_device: What is left without any of this; measured, not a capacity.
        free_host: The same of the host.
        kv_per_token: What a token takes of the KV cache, all layers together; None where there is
            no cache.
        kv_packed: Whether it may take more, for the layers' caches differ and are packed.
        waiting: How many layers are gathered at once; one, where the checkpoint has a layer's
            weights together.
        free_file: What the file's folder has left; 0 where there is no file.
        tables_on_host: Of the model's own tables that the host keeps for the device, as Engram's.
        loader: What the loader has of the checkpoint's files in the host's memory at once.
        stage: Of the device's buffer for a prefill's cold rows, as ``moe_prefill_stage`` asks for it;
            empty where there is none. How large it is follows from the cold rows, and so from the hot.
    """

    layers: tuple[LayerShape, ...]
    hot: tuple[int, ...]
    mode: Mode
    page: int
    other: int
    free_device: int
    free_host: int
    kv_per_token: Fraction | int | None
    kv_packed: bool = False
    waiting: int = 1
    free_file: int = 0
    tables_on_host: int = 0
    loader: int = 0
    stage: str = ""

    def __post_init__(self) -> None:
        if self.mode not in get_args(Mode):
            raise ValueError(f"no mode {self.mode!r}: there are {', '.join(get_args(Mode))}")
        if not self.layers or len(self.layers) != len(self.hot):
            raise ValueError(f"{len(self.hot)} numbers of hot rows for {len(self.layers)} layers")
        for number, (layer, rows) in enumerate(zip(self.layers, self.hot, strict=True)):
            if not 0 <= rows <= layer.experts:
                raise ValueError(f"layer {number}: {rows} hot rows of {layer.experts} experts")
        if not 1 <= self.waiting <= len(self.layers):
            raise ValueError(f"{self.waiting} of {len(self.layers)} layers are gathered at once")
        given = (self.other, self.tables_on_host, self.loader)
        sizes = (*given, self.free_device, self.free_host, self.free_file)
        per_token = 1 if self.kv_per_token is None else self.kv_per_token
        if self.page < 1 or per_token <= 0 or min(sizes) < 0:
            raise ValueError(f"{self}: a size is below its least")
        if self.stage and self.mode == "file":
            raise ValueError(f"{self}: out of a file nothing is staged")

    @property
    def experts(self) -> int:
        """Experts of all layers."""
        return sum(layer.experts for layer in self.layers)

    @property
    def cold(self) -> tuple[int, ...]:
        """C of each layer."""
        return tuple(
            cold_rows(layer.experts, rows, self.mode)
            for layer, rows in zip(self.layers, self.hot, strict=True)
        )

    @property
    def room(self) -> StageRoom | None:
        """Of the staging buffer; None where none is asked for.

        Raises:
            Refused: What asks for it cannot be read.
        """
        if not self.stage:
            return None
        cold = [each.experts - rows for each, rows in zip(self.layers, self.hot, strict=True)]
        return stage_room(self.stage, cold=cold, row_bytes=[each.row for each in self.layers])

    @property
    def staging(self) -> int:
        """The staging buffer, on the device; 0 where there is none."""
        return 0 if (room := self.room) is None else room.bytes

    @property
    def hot_bank(self) -> int:
        """Hot rows of all layers, on the device."""
        return sum(layer.row * rows for layer, rows in zip(self.layers, self.hot, strict=True))

    @property
    def cold_bank(self) -> int:
        """What cold rows take of the host, in whole pages: of a file's, one layer's at a time."""
        if self.mode == "file":
            return max(self._paged(self.cold))
        return sum(
            whole_pages(layer.row * rows, self.page)
            for layer, rows in zip(self.layers, self.cold, strict=True)
        )

    @property
    def file(self) -> int:
        """Cold rows of all layers in the file, each row tensor's in whole pages."""
        return sum(self._paged(self.cold)) if self.mode == "file" else 0

    @property
    def locked(self) -> int:
        """Hot rows of all layers where they are locked in memory, in whole pages."""
        return sum(self._paged(self.hot)) if self.mode == "file" else 0

    @property
    def tables(self) -> int:
        """Tables of all layers, on the device."""
        return TABLE_BYTES * self.experts

    @property
    def stage_tables(self) -> int:
        """Second tables of the layers with cold rows, on the device; 0 where nothing is staged."""
        staged = zip(self.layers, self.hot, strict=True) if self.staging else ()
        return sum(TABLE_BYTES * each.experts for each, rows in staged if rows < each.experts)

    @property
    def counts(self) -> int:
        """Counts of all layers, on the device."""
        return COUNT_BYTES * self.experts

    @property
    def load_layer(self) -> int:
        """The largest layer raw and repacked, side by side on the device while it is loaded."""
        return max(layer.raw_bytes + layer.repacked_bytes for layer in self.layers)

    @property
    def gathered(self) -> int:
        """The largest layers raw, on the host while they are gathered."""
        return sum(sorted((layer.raw_bytes for layer in self.layers), reverse=True)[: self.waiting])

    @property
    def load_peak(self) -> int:
        """The most that experts take of the device while they are loaded."""
        return self.hot_bank + self.load_layer

    @property
    def device(self) -> int:
        """All that stays on the device, without KV cache, activations and graphs."""
        tables = self.tables + self.stage_tables + self.counts
        return self.hot_bank + tables + self.staging + self.other

    @property
    def device_peak(self) -> int:
        """All that stays on the device, and a layer that is loaded."""
        return self.device + self.load_layer

    @property
    def host_peak(self) -> int:
        """The cold bank, the layers that are gathered, and what else the host has then."""
        return self.cold_bank + self.gathered + self.tables_on_host + self.loader

    @property
    def all_resident(self) -> int:
        """What the experts would take of the device if all of them were there."""
        return sum(layer.repacked_bytes for layer in self.layers)

    @property
    def bought(self) -> int:
        """Device bytes won against all experts resident; below zero where they are lost."""
        return self.all_resident + self.other - self.device

    @property
    def kv_tokens_bought(self) -> int | None:
        """``bought`` in tokens of KV cache, rounded down."""
        return None if self.kv_per_token is None else self.bought // self.kv_per_token

    @property
    def hot_share(self) -> float:
        """Share of the experts that are hot."""
        return sum(self.hot) / self.experts

    @property
    def null_cold_share(self) -> float:
        """Share of picks served from the cold bank where every expert is picked alike."""
        cold = sum(
            layer.picks * (1 - rows / layer.experts)
            for layer, rows in zip(self.layers, self.hot, strict=True)
        )
        return cold / sum(layer.picks for layer in self.layers)

    def _paged(self, rows: Iterable[int]) -> list[int]:
        """So many rows of each layer, each row tensor's in whole pages."""
        return [
            sum(whole_pages(row * count, self.page) for row in layer.row_bytes.values())
            for layer, count in zip(self.layers, rows, strict=True)
        ]
