"""The tokens: pieces that the text itself is made of."""

from collections.abc import Iterable, Sequence

from making.tokenizer import SPECIAL
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers


def learned(texts: Iterable[str], vocab_size: int) -> Tokenizer:
    """Learn a byte-level BPE, whose last tokens are the special ones.

    Args:
        texts: To learn from; enough for so many tokens.
        vocab_size: With the special ones.
    """
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size - len(SPECIAL), initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.add_special_tokens([*SPECIAL])
    return tokenizer


def encoded(texts: Sequence[str], tokenizer: Tokenizer) -> list[int]:
    """Tokens of documents, with an end behind each."""
    end = tokenizer.token_to_id(SPECIAL[0])
    return [token for each in tokenizer.encode_batch(texts) for token in (*each.ids, end)]
