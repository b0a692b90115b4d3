"""The stand-in pull requests: what each brings and edits, and what becomes of it on the new tag."""

from dataclasses import dataclass
from typing import Literal

from tests.upstream.stand_in.shape import Shape

Scope = Literal["field", "keyword", "note", "function", "use", "removal"]


@dataclass(frozen=True)
class Hunk:
    """One edit of a file.

    Attributes:
        scope: A field of a configuration class, a keyword of a signature, a comment in a function,
            a function of the module, a call of that function, or the removal of a function.
        conflicts: Whether it stands where upstream changed lines too.
        above: Whether it stands above the file's other hunks.
        versions: In which versions of the pull request it is.
        reworded: Whether the second version words it differently.
        undone: Whether the pull request's own last commit takes it back.
    """

    scope: Scope
    conflicts: bool = False
    above: bool = False
    versions: tuple[int, ...] = (1, 2)
    reworded: bool = False
    undone: bool = False


@dataclass(frozen=True)
class Touched:
    """An existing file to edit, chosen by what upstream did to it between base and new tag."""

    upstream: Literal["changed", "same", "gone"]
    hunks: tuple[Hunk, ...]


@dataclass(frozen=True)
class PullSpec:
    """One stand-in pull request.

    Attributes:
        number: Its number, which is nobody's upstream.
        title: Its title.
        name: What its own names begin with.
        near: Where files to edit are looked for first.
        base: Where it left ``main``, in percent of the way to the new tag.
        forked: Where it began, if it took in ``main`` later (at ``base``).
        brings: Folder with the files that it adds.
        touched: The files that it edits.
        shape: What becomes of it on the new tag.
    """

    number: int
    title: str
    name: str
    near: tuple[str, ...]
    touched: tuple[Touched, ...]
    shape: Shape
    base: int = 0
    forked: int | None = None
    brings: str | None = None

    @property
    def ref(self) -> str:
        """Where its head is."""
        return f"refs/pull/{self.number}/head"


def _conflict(scope: Scope, *others: Hunk) -> Touched:
    return Touched("changed", (Hunk(scope, conflicts=True), *others))


def _merge(*scopes: Scope) -> Touched:
    return Touched("changed", tuple(Hunk(scope) for scope in scopes))


def _apply(*scopes: Scope) -> Touched:
    return Touched("same", tuple(Hunk(scope) for scope in scopes))


MOE = "vllm/model_executor/layers/fused_moe/"
QUANTIZATION = "vllm/model_executor/layers/quantization/"
WORKER = "vllm/v1/worker/"
OFFLOADER = "vllm/model_executor/offloader/"

PULLS: tuple[PullSpec, ...] = (
    PullSpec(
        number=96177,
        title="Shared pool of expert rows",
        name="expert_pool",
        near=(MOE, QUANTIZATION, "vllm/config/", WORKER),
        brings="expert_pool",
        touched=(
            _conflict("field"),
            _conflict("function"),
            _conflict("note"),
            # What the second version does to them: nothing, moved down, reworded, taken out.
            _merge("keyword"),
            Touched("changed", (Hunk("note"), Hunk("function", above=True, versions=(2,)))),
            Touched("changed", (Hunk("note", reworded=True),)),
            Touched("same", (Hunk("function"), Hunk("note", versions=(1,)))),
            _apply("function", "use"),
        ),
        shape=Shape(brought=6, applied=2, merged=3, conflicts=3, conflicting_hunks=3),
    ),
    PullSpec(
        number=92060,
        title="Stage offloaded experts for large steps",
        name="expert_stage",
        near=(f"{MOE}experts/", MOE, WORKER),
        base=10,
        touched=(
            _conflict("note", Hunk("function"), Hunk("use")),
            _merge("note"),
            _apply("keyword"),
            Touched("gone", (Hunk("note"),)),
        ),
        shape=Shape(
            applied=1, merged=1, conflicts=1, conflicting_hunks=1, missing=1, missing_hunks=1
        ),
    ),
    PullSpec(
        number=97943,
        title="Host rows with a device view",
        name="uva_bank",
        near=(),
        brings="uva_bank",
        touched=(),
        shape=Shape(brought=1),
    ),
    PullSpec(
        number=91474,
        title="Batch the copies of the prefetch offloader",
        name="prefetch_batch",
        near=(OFFLOADER, MOE, WORKER),
        base=10,
        touched=(_apply("function", "use"), _apply("removal"), _merge("note")),
        shape=Shape(applied=2, merged=1),
    ),
    PullSpec(
        number=97190,
        title="Cache of experts by frequency and recency",
        name="expert_cache",
        near=(QUANTIZATION, MOE, "vllm/config/", "vllm/engine/"),
        forked=10,
        base=20,
        brings="expert_cache",
        touched=(
            _conflict("field"),
            _conflict("function"),
            *[_conflict("note")] * 4,
            _merge("note"),
            _apply("function"),
        ),
        shape=Shape(brought=1, applied=1, merged=1, conflicts=6, conflicting_hunks=6),
    ),
    PullSpec(
        number=91710,
        title="Prefetch by layer with a planner",
        name="layer_planner",
        near=(OFFLOADER, "vllm/compilation/", "vllm/v1/"),
        brings="layer_planner",
        touched=(
            *[_conflict("note")] * 4,
            Touched("changed", (Hunk("note"), Hunk("function", undone=True))),
            Touched("same", (Hunk("note", undone=True),)),
        ),
        shape=Shape(brought=2, merged=1, conflicts=4, conflicting_hunks=4),
    ),
)
