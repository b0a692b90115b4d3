"""How a server in a container is judged: what was not asked outside is no success."""

import json
from pathlib import Path

import pytest

from lanewright.errors import MismatchError
from lanewright.image.container.golden import Golden
from lanewright.image.container.server import _require_server
from lanewright.queue.lock import Lock
from lanewright.serve.boot import Completion


def answered(prompt: str, *ids: int) -> Completion:
    return Completion(prompt=prompt, ids=ids, text="", prompt_tokens=1, cached_tokens=0)


@pytest.fixture
def outside(tmp_path: Path) -> Golden:
    completions = [{"prompt": "one", "ids": [1, 2]}]
    record = {"boots": {"offline": {"completions": completions}}}
    (tmp_path / "record.json").write_text(json.dumps(record))
    return Golden(tmp_path, "the lane's", [], exact=False, seconds={})


def test_the_same(lock: Lock, outside: Golden) -> None:
    _require_server(lock, outside, [answered("one", 1, 2)])


@pytest.mark.parametrize("given", [answered("one", 1, 3), answered("two", 1, 2)])
def test_another_answer_and_another_prompt(lock: Lock, outside: Golden, given: Completion) -> None:
    with pytest.raises(MismatchError, match="does not answer as the lane does outside"):
        _require_server(lock, outside, [given])
