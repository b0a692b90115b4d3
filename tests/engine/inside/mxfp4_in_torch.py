"""Checks of the MXFP4 experts that torch stands in with: ``mxfp4_in_torch.py RESULT``.

They need torch alone, and run on any CPU; ``mxfp4_beside_vllm.py`` asks vLLM's own op.
"""

from dataclasses import replace

import torch
from checks import bits, tell
from mxfp4_reference import HIDDEN, Asked, E, Experts, ask, asked, drawn, layers, matrix, reference
from shims import _mxfp4_in_torch as stand_in
from torch._subclasses.fake_tensor import FakeTensorMode

TOKENS = (1, 2, 17)
NAMESPACE = "stand_in_for_tests"
OPS = getattr(torch.ops, NAMESPACE)


def run(experts: Experts, question: Asked, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
    """Ask the registered op."""
    out = torch.full(question.x.shape, torch.nan, dtype=dtype)
    ask(OPS, out, experts, question)
    return out


def every_byte_and_every_scale_is_what_the_format_says() -> None:
    """All pairs of codes under all powers of two; the last scale is NaN."""
    codes = torch.arange(256, dtype=torch.uint8).view(16, 16)
    for exponent in range(253):  # six times the next is beyond float32
        scales = torch.full((16, 1), exponent, dtype=torch.uint8)
        found = stand_in.dequantised(codes, scales)
        assert torch.equal(found.double(), matrix(codes, scales)), exponent
    scales = torch.full((16, 1), 255, dtype=torch.uint8)
    assert stand_in.dequantised(codes, scales).isnan().all()


def answers_are_the_references() -> None:
    """Of every kind of layer and number of tokens, in the dtype of what is written."""
    for name, experts in layers().items():
        for tokens in TOKENS:
            question = asked(tokens)
            expected = reference(experts, question)
            close = run(experts, question, torch.float32).double()
            assert (close - expected).abs().max() < 1e-5 * expected.abs().max(), (name, tokens)
            rounded = run(experts, question)
            assert rounded.dtype == torch.bfloat16
            assert torch.equal(rounded, run(experts, question, torch.float32).bfloat16())


def the_kinds_differ() -> None:
    """No kind of layer is taken for another; one clamp without the other is none, as in vLLM."""
    question = asked(17)
    answers = [bits(run(each, question)) for each in layers().values()]
    assert len(set(answers)) == len(answers)
    half = replace(drawn(), limit=0.5)
    assert bits(run(half, question)) == bits(run(drawn(), question))


def where_rows_lie_does_not_matter() -> None:
    """Experts at other places, among more rows, weights and scales with them: the same bits."""
    draw = torch.Generator().manual_seed(3)
    for name, experts in layers().items():
        for tokens in TOKENS:
            question = asked(tokens)
            expected = bits(run(experts, question))
            for _ in range(20):
                count = E + int(torch.randint(0, E + 1, (1,), generator=draw))
                places = torch.randperm(count, generator=draw)[:E]
                moved = replace(question, ids=places[question.ids.long()].int())
                found = run(experts.laid(places, count), moved)
                assert bits(found) == expected, (name, tokens)


def the_rest_of_the_batch_does_not_matter() -> None:
    """A token alone, and among sixteen others: the same bits."""
    question = asked(17)
    for name, experts in layers().items():
        together = run(experts, question, torch.float32)
        for token in range(17):
            one = slice(token, token + 1)
            alone = Asked(question.x[one], question.weights[one], question.ids[one])
            found = run(experts, alone, torch.float32)
            assert bits(found) == bits(together[one]), (name, token)


def a_row_that_is_not_there_is_refused() -> None:
    """As by vLLM: a slot that picks nothing, too; but nobody has to pick anything."""
    for wrong in (-1, E):
        question = asked(2)
        question.ids[0, 1] = wrong
        try:
            run(drawn(), question)
        except IndexError:
            continue
        raise AssertionError(wrong)
    none = Asked(question.x[:0], question.weights[:0], question.ids[:0])
    assert run(drawn(), none).shape == (0, HIDDEN)


def rows_are_copied_as_they_are() -> None:
    """What is packed has rows of the same bytes, in memory of its own."""
    experts = drawn()
    for op, rows in (
        (OPS.convert_weight_packed, experts.w1),
        (OPS.convert_scale_packed, experts.w1_scale),
    ):
        found = op(rows)
        assert torch.equal(found, rows)
        assert found.data_ptr() != rows.data_ptr()


def what_is_not_mxfp4_is_refused() -> None:
    """Another method, by name."""
    try:
        ask(OPS, torch.empty(2, HIDDEN), drawn(), asked(2), method=2)
    except NotImplementedError as error:
        assert "MXFP4 alone, not for 2" in str(error)  # noqa: PT017 - no pytest in a lane's Python
    else:
        raise AssertionError


def it_is_traced_without_being_run() -> None:
    """A whole graph, as in compiled mode; what it gives is what the op gives."""
    experts, question = drawn(), asked(17)

    def asks(x: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(x)
        ask(OPS, out, experts, replace(question, x=x * 2))
        return out + 1

    compiled = torch.compile(asks, fullgraph=True, backend="aot_eager")
    assert bits(compiled(question.x)) == bits(asks(question.x))
    with FakeTensorMode(allow_non_fake_inputs=True):
        assert asks(torch.empty(17, HIDDEN, dtype=torch.bfloat16)).shape == (17, HIDDEN)
        assert OPS.convert_weight_packed(experts.w1).shape == experts.w1.shape


CHECKS = (
    every_byte_and_every_scale_is_what_the_format_says,
    answers_are_the_references,
    the_kinds_differ,
    where_rows_lie_does_not_matter,
    the_rest_of_the_batch_does_not_matter,
    a_row_that_is_not_there_is_refused,
    rows_are_copied_as_they_are,
    what_is_not_mxfp4_is_refused,
    it_is_traced_without_being_run,
)


if __name__ == "__main__":
    stand_in.register(NAMESPACE)
    tell(CHECKS)
