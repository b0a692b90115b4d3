"""The real text of the trained model: what is held out is not what it was trained on."""

import json
from collections.abc import Callable, Mapping
from itertools import pairwise

import pytest

from lanewright.serve.texts import TEXTS
from tests.engine.lane_python import Laid

pytestmark = pytest.mark.engine

# Characters in a row, everywhere in a text: licence heads and imports are no exception.
LENGTH = 50
MOST = 0.01
# Of the held-out text: learned by a boot map, then served. No benchmark has a part of English in
# two phases, but the price has its halves.
PARTS = {"python": (0, 0.5, 0.75, 1), "english": (0, 0.5, 1)}
Texts = Mapping[str, Mapping[str, list[str]]]


@pytest.fixture(scope="module")
def texts(laid: Callable[..., Laid], tmp_path_factory: pytest.TempPathFactory) -> Texts:
    """By kind, its documents: trained on, and held out."""
    folder = tmp_path_factory.mktemp("texts")
    told, result = folder / "told.json", folder / "result.json"
    told.write_text(json.dumps(TEXTS))
    laid("0.32.0").run("read_texts.py", str(told), str(result), folder=folder)
    found: Texts = json.loads(result.read_text())
    return found


def shingles(text: str) -> list[str]:
    """Every place of a text, with what follows there."""
    return [text[start : start + LENGTH] for start in range(len(text) - LENGTH + 1)]


def shared(text: str, others: set[str]) -> float:
    """Share of a text's places whose shingle is among others."""
    own = shingles(text)
    return sum(each in others for each in own) / len(own)


@pytest.mark.parametrize("kind", TEXTS)
def test_held_out_text_does_not_stand_in_what_is_trained_on(kind: str, texts: Texts) -> None:
    trained = {
        each
        for text in texts.values()
        for document in text["trained"]
        for each in shingles(document)
    }
    found = shared("\n".join(texts[kind]["held_out"]), trained)
    print(f"{kind}: {found:.2%} of the held-out shingles are in training")  # noqa: T201
    assert found < MOST
    # The measure sees what there is: text that is trained on is all there.
    assert shared("\n".join(texts[kind]["trained"]), trained) > 0.9


@pytest.mark.parametrize("kind", TEXTS)
def test_no_part_of_it_stands_in_another(kind: str, texts: Texts) -> None:
    whole = "\n".join(texts[kind]["held_out"])
    parts = [whole[int(a * len(whole)) : int(b * len(whole))] for a, b in pairwise(PARTS[kind])]
    for number, part in enumerate(parts):
        others = {each for other in parts[:number] for each in shingles(other)}
        assert shared(part, others) < MOST


def test_there_is_enough_of_it(texts: Texts) -> None:
    sizes = {kind: len("\n".join(text["held_out"])) for kind, text in texts.items()}
    # A phase of 24 Ki tokens takes some 30,000 characters of prompts, of a quarter of the Python.
    assert sizes["python"] > 160_000
    assert sizes["english"] > 120_000
