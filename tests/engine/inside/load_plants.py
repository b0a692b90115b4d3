"""Faults for a load into two banks: each holds rows beside one layer raw and one repacked.

Imported by scripts whose process has vLLM.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from unittest.mock import patch

Layer = Any  # vLLM's RoutedExperts


def keeping(layers: int) -> AbstractContextManager[None]:
    """The raw parameters of the last few layers stay alive."""
    return _kept(layers, lambda layer: [each.data for each in layer.parameters()])


def cloning_by_expert(layers: int) -> AbstractContextManager[None]:
    """The last few layers' raw rows stay alive as copies, each of one expert and tensor."""
    return _kept(
        layers, lambda layer: [row.clone() for each in layer.parameters() for row in each.data]
    )


@contextmanager
def cloning_in_fill() -> Iterator[None]:
    """While a layer's banks are filled, there is a copy of all its rows."""
    with _before("fill", lambda _, repacked, __: [each.clone() for each in repacked]):
        yield


@contextmanager
def cloning_a_row_in_fill() -> Iterator[None]:
    """The same, of one expert's row of the smallest tensor."""
    with _before("fill", lambda _, repacked, __: min(repacked, key=_bytes)[0].clone()):
        yield


@contextmanager
def cloning_in_sums() -> Iterator[None]:
    """While a layer's rows are summed, there is a copy of them."""
    with _before("tensor_sums", lambda repacked: [each.clone() for each in repacked]):
        yield


@contextmanager
def cloning_at_the_end() -> Iterator[None]:
    """A layer's rows stay alive as a copy that is made when vLLM has loaded all weights."""
    from expert_bank.glue.layer_load import LayerLoad  # noqa: PLC0415 - imports vLLM

    kept: deque[Sequence[Any]] = deque(maxlen=1)
    real = LayerLoad.process

    def process(load: LayerLoad, layer: Layer) -> None:
        real(load, layer)
        kept.append([each.data.clone() for each in layer.parameters()])

    with patch.object(LayerLoad, "process", process):
        yield


PLANTS: dict[str, Callable[[], AbstractContextManager[None]]] = {
    "cloned by expert": lambda: cloning_by_expert(1),
    "cloned in fill": cloning_in_fill,
    "a row cloned in fill": cloning_a_row_in_fill,
    "cloned in sums": cloning_in_sums,
    "cloned at the end": cloning_at_the_end,
}


def _bytes(rows: Any) -> int:  # noqa: ANN401 - a tensor
    found: int = rows.nbytes
    return found


@contextmanager
def _kept(layers: int, of: Callable[[Layer], Sequence[Any]]) -> Iterator[None]:
    from expert_bank.glue.layer_load import LayerLoad  # noqa: PLC0415 - imports vLLM

    kept: deque[Sequence[Any]] = deque(maxlen=layers)
    real = LayerLoad._finish  # noqa: SLF001 - where a layer is whole and not repacked yet

    def finish(load: LayerLoad) -> None:
        held = of(load.layer)
        real(load)
        kept.append(held)

    with patch.object(LayerLoad, "_finish", finish):
        yield


@contextmanager
def _before(name: str, hold: Callable[..., Any]) -> Iterator[None]:
    """Have a function that fills a layer's banks hold something while it runs."""
    from expert_bank.glue import layer_banks  # noqa: PLC0415 - imports vLLM

    real = getattr(layer_banks, name)

    def holding(*args: Any) -> Any:  # noqa: ANN401 - whatever it takes and gives
        held = hold(*args)
        try:
            return real(*args)
        finally:
            del held

    with patch.object(layer_banks, name, holding):
        yield
