"""Use a model on the text that its training held out: ``trained_usage.py MODEL RESULT TOKENS``.

Writes a JSON object: by kind, ``loss`` in nats a token, and ``counts``, picks of the two halves of
the text, or of the first TOKENS of each half, as [2][layers][experts]; and ``spread``, the loss of
windows all over the text.
"""

import json
import sys
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from torch.nn import functional
from transformers import AutoModelForCausalLM
from windows import spread

LENGTH = 128
BATCH = 32


def used(model: Any, ids: torch.Tensor) -> tuple[list[list[int]], float]:  # noqa: ANN401
    """Picks by layer and expert over windows of a text, and the mean loss of its tokens."""
    layers, experts = model.config.num_hidden_layers, model.config.num_experts
    counts = torch.zeros(layers, experts, dtype=torch.int64)
    losses = []
    for windows in ids[: len(ids) // LENGTH * LENGTH].view(-1, LENGTH).split(BATCH):
        out = model(windows)
        losses.append(lost(out, windows))
        for layer, logits in enumerate(out.router_logits):
            picks = logits.topk(model.config.num_experts_per_tok, -1).indices
            counts[layer] += torch.bincount(picks.flatten(), minlength=experts)
    return counts.tolist(), torch.cat(losses).mean().item()


def lost(out: Any, windows: torch.Tensor) -> torch.Tensor:  # noqa: ANN401 - transformers'
    """Loss of each token but the first of each window."""
    logits = out.logits[:, :-1].flatten(0, 1)
    return functional.cross_entropy(logits, windows[:, 1:].flatten(), reduction="none")


def main(folder: Path, most: int) -> dict[str, Any]:
    """Use the model on each kind."""
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    model.config.output_router_logits = True
    model.set_experts_implementation("grouped_mm")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    found = {}
    for file in sorted((folder / "held_out").iterdir()):
        ids = torch.tensor(tokenizer.encode(file.read_text()).ids)
        windows = torch.tensor(spread(ids.tolist()))
        halves = [used(model, half[:most]) for half in ids.chunk(2)]
        found[file.stem] = {
            "counts": [counts for counts, _ in halves],
            "loss": sum(loss for _, loss in halves) / 2,
            "spread": lost(model(windows), windows).mean().item(),
        }
    return found


if __name__ == "__main__":
    with torch.inference_mode():
        result = main(Path(sys.argv[1]), int(sys.argv[3]))
    Path(sys.argv[2]).write_text(json.dumps(result))
