"""The compiled ops that a pull request binds, and the files that make them, are kept with it."""

import re
import shutil

import pytest

from lanewright.store.bindings import Op
from lanewright.store.extract import PullTrees, pull_refs, pull_trees
from lanewright.store.objects import CommitId, blob_id, lacking
from lanewright.store.write import commit, set_ref
from tests.upstream.diff import git
from tests.upstream.fixtures import Carrying

MOE, OPS, CMAKE = "csrc/moe/torch_bindings.cpp", "csrc/ops.h", "CMakeLists.txt"
BASE: dict[str, bytes | None] = {
    MOE: b'm.def("old() -> ()");\nm.impl("old", torch::kCUDA, &old);\n',
    OPS: b"void old(torch::Tensor& x);\n",
    CMAKE: b'set(SRC "csrc/moe/old.cu")\n',
    "vllm/in.py": b"i = 2\n",
}
BOUND = b"""\
m.def(
    "new(Tensor! x) -> ()");
m.impl("new", torch::kCUDA, &moe::new_op);
/* m.def("none()") */ m.def("old() -> ()");
"""
DECLARED = b"void old(torch::Tensor& x);\nvoid new_op(torch::Tensor& x);\n"
DEFINED = b"// new_op(x) {\nvoid moe::new_op(torch::Tensor& x) {\n  launch();\n}\n"
LISTED = b'set(SRC "csrc/moe/old.cu"\n  "csrc/moe/new.cu")\n'
HEAD: dict[str, bytes | None] = {
    MOE: BOUND,
    OPS: DECLARED,
    CMAKE: LISTED,
    "csrc/moe/new.cu": DEFINED,
    "csrc/moe/other.cu": b"void other() { new_op(x); }\n",
    "csrc/a.cpp": b'm.def("other() -> ()");\n',
    "csrc/a b.cu": DEFINED,
    "docs/new.md": b"new_op(x)\n",
    "vllm/in.py": b"i = 3\n",
}
PIECES = (
    ("binds", MOE),
    ("builds", CMAKE),
    ("declares", OPS),
    ("defines", "csrc/moe/new.cu"),
)


def pulled(
    carrying: Carrying, base: dict[str, bytes | None], head: dict[str, bytes | None]
) -> tuple[CommitId, CommitId, PullTrees]:
    first = carrying.push(6, carrying.main[-1], base)
    last = carrying.push(7, first, head)
    return first, last, pull_trees(carrying.places, carrying.project.upstream.remote, first, last)


def test_an_op_is_kept_with_its_pieces(carrying: Carrying) -> None:
    base, head, found = pulled(carrying, BASE, HEAD)
    assert found.ops == (Op("new", PIECES),)
    assert found.outside == len(HEAD) - 1
    shutil.rmtree(carrying.upstream)
    assert pull_trees(carrying.places, None, base, head) == found


@pytest.mark.parametrize(
    "impl",
    [
        b'ops.impl(\n  "new", TORCH_BOX(&new_op));',
        b'TORCH_LIBRARY_IMPL(_C, CUDA, m) { m.impl("new", &new_op); }',
    ],
    ids=["boxed", "in the source"],
)
def test_a_function_of_another_name_is_found_by_its_impl(impl: bytes, carrying: Carrying) -> None:
    bound = b'ops.def("new(Tensor! x) -> ()");\n'
    boxed = impl.startswith(b"ops")
    binding, source = (bound + impl, DEFINED) if boxed else (bound, DEFINED + impl)
    _, _, found = pulled(carrying, BASE, {**HEAD, MOE: binding, "csrc/moe/new.cu": source})
    assert found.ops == (Op("new", PIECES),)


def test_what_an_existing_source_defines_needs_no_new_line_of_cmake(carrying: Carrying) -> None:
    source = "csrc/moe/old.cu"
    head = {MOE: BOUND, OPS: DECLARED, CMAKE: LISTED, source: DEFINED, "vllm/in.py": b"i = 3\n"}
    _, _, found = pulled(carrying, {**BASE, source: b""}, {**head})
    assert [does for does, _ in found.ops[0].pieces] == ["binds", "declares", "defines"]


def test_without_a_binding_nothing_of_csrc_is_asked_for(carrying: Carrying) -> None:
    head = {path: content for path, content in HEAD.items() if path != MOE}
    _, _, found = pulled(carrying, BASE, head)
    assert found.ops == ()
    read = [blob_id(content) for content in (DECLARED, DEFINED, LISTED)]
    assert lacking(carrying.repository, read) == read


def test_an_extract_of_before_tells_less(carrying: Carrying) -> None:
    base, head, found = pulled(carrying, BASE, HEAD)
    repository, (ref, _) = carrying.repository, pull_refs(base, head)[::-1]
    message = git(repository.path, "log", "-1", "--format=%B", ref).decode()
    plain = re.sub(r"^(binds|builds|declares|defines) .*\n", "", message, flags=re.MULTILINE)
    set_ref(repository, ref, commit(repository, found.head, plain))
    again = pull_trees(carrying.places, None, base, head)
    assert again.ops == (Op("new"),)
