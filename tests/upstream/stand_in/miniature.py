"""The stand-in upstream in small: two trees of our own, so that no wheel is needed."""

from pathlib import Path

from tests.upstream.stand_in.repository import StandIn, build
from tests.upstream.stand_in.trees import Tree, of_texts

COMMITS = 10

PART = '''\
"""{Name}: one part of the engine."""

from dataclasses import dataclass

LIMIT = 64


@dataclass
class {Name}Config:
    """Settings of {name}."""

    enabled: bool = True
    """Whether it runs."""

    rows: int = 8
    """How many rows it keeps."""

    threshold: float = 0.5
    """From where on it acts."""


def read_{name}(text: str) -> list[str]:
    """Lines that say something."""
    lines = [line.strip() for line in text.split()]
    return [line for line in lines if line]


def {name}_budget(rows: int, limit: int = LIMIT) -> int:
    """How many of the rows may be used."""
    if rows < 0:
        raise ValueError("{name}: rows cannot be negative")
    allowed = min(rows, limit)
    return allowed


class {Name}:
    """Runs {name}, step by step."""

    def __init__(
        self,
        config: {Name}Config,
        *,
        limit: int = LIMIT,
    ) -> None:
        self.config = config
        self.limit = limit
        self.steps = 0
        self.seen: dict[str, int] = {{}}

    def step(self, text: str) -> int:
        """One step; gives how many lines it saw."""
        if not self.config.enabled:
            return 0
        lines = read_{name}(text)
        for line in lines:
            self.seen[line] = self.seen.get(line, 0) + 1
        self.steps += 1
        return len(lines)

    def hottest(self) -> list[str]:
        """What was seen most often, the rest left out."""
        budget = {name}_budget(self.config.rows, self.limit)
        ordered = sorted(self.seen, key=lambda line: (-self.seen[line], line))
        return ordered[:budget]

    def reset(self) -> None:
        """Begin again."""
        self.seen.clear()
        self.steps = 0


def old_{name}_names(names: list[str]) -> list[str]:
    """Names as they were written once; nothing calls this any more."""
    return [name.replace("-", "_") for name in names]


def {name}_report(part: {Name}) -> str:
    """What a log says of it."""
    share = part.steps / max(1, len(part.seen))
    busy = share > part.config.threshold
    state = "busy" if busy else "calm"
    return f"{name}: {{state}}, {{part.steps}} steps"
'''

FIELD = '''\
    burst: int = 2
    """How many steps it may take at once."""

'''
FUNCTION = '''\
def {name}_share(part: int, whole: int) -> float:
    """A part of a whole."""
    return part / whole if whole else 0.0


'''

# What the newer release says before some lines of a file that it changed, and one line anew.
BEFORE = {
    "    threshold: float = 0.5\n": FIELD,
    "    allowed = min(rows, limit)\n": "    rows -= rows % 2\n",
    "class {Name}:\n": FUNCTION,
}
OLD_LINE, NEW_LINE = "        self.steps += 1\n", "        self.steps += bool(lines)\n"

ADDED = '''\
"""What came with the newer release."""

import itertools


def pairs(count: int) -> list[tuple[int, int]]:
    return list(itertools.combinations(range(count), 2))
'''

LAYERS = "vllm/model_executor/layers"
CHANGED = (
    *("vllm/compilation/backends.py", "vllm/compilation/wrapper.py"),
    *("vllm/config/cache.py", "vllm/engine/arg_utils.py"),
    *(f"{LAYERS}/fused_moe/config.py", f"{LAYERS}/fused_moe/layer.py"),
    *(f"{LAYERS}/quantization/fp8.py", f"{LAYERS}/quantization/modelopt.py"),
    *("vllm/model_executor/offloader/prefetch.py", "vllm/v1/worker/gpu_worker.py"),
    "vllm/v1/worker/utils.py",
)
SAME = (
    *("vllm/config/offload.py", f"{LAYERS}/fused_moe/router.py"),
    *("vllm/model_executor/offloader/base.py", "vllm/model_executor/offloader/uva.py"),
)
GONE = ("vllm/model_executor/models/early.py", "vllm/v1/worker/legacy.py")
NEW = "vllm/v1/worker/pairing.py"


def miniature(folder: Path) -> StandIn:
    """Make it, in a second or less; see ``build``."""
    return build(folder, *trees(), commits=COMMITS)


def trees() -> tuple[Tree, Tree]:
    """The older and the newer release."""
    init = {"vllm/__init__.py": b'"""A stand-in."""\n'}
    old = init | {path: _part(path, PART) for path in (*CHANGED, *SAME, *GONE)}
    later = PART.replace(OLD_LINE, NEW_LINE)
    for line, added in BEFORE.items():
        assert later.count(line) == 1, line
        later = later.replace(line, added + line)
    changed = {path: _part(path, later) for path in CHANGED}
    new = init | changed | {path: old[path] for path in SAME} | {NEW: ADDED.encode()}
    return of_texts(old), of_texts(new)


def _part(path: str, text: str) -> bytes:
    *_, folder, file = path.removesuffix(".py").split("/")
    name = f"{folder}_{file}"
    title = name.title().replace("_", "")
    return text.format(name=name, Name=title).encode()
