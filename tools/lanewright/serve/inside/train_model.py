"""Train a small model on text of the lane's own environment: ``train_model.py RECIPE FOLDER``.

Run with the lane's Python. Text, tokens, first weights and the choice of windows are the same on every
machine; the trained weights are so only as far as sums of floating point are. Beside the model, as
``save_pretrained`` writes it, is text that it was not trained on: ``held_out/<kind>.txt``.
"""

import json
import os
import sys
from pathlib import Path

# Python leaves the script's own folder out of its path when it runs safely.
sys.path.append(str(Path(__file__).parent))

# Threads that wait in a loop for one that does not run hold each other up, tenfold on busy cores.
os.environ["OMP_WAIT_POLICY"] = "PASSIVE"
import torch
from make_model import configs
from training.loop import train
from training.pieces import encoded, learned
from training.text import TextError, text_of
from transformers import AutoConfig, AutoModelForCausalLM

# More would add up in another order on a larger machine.
THREADS = 2


def main(recipe_file: str, folder: Path) -> None:
    """Train the model of a recipe and write it into a folder that exists."""
    recipe = json.loads(Path(recipe_file).read_text())
    told = recipe.pop("training")
    texts = {kind: text_of(kind, each) for kind, each in told["text"].items()}
    for name, content in configs(recipe).items():
        (folder / name).write_text(json.dumps(content, indent=1) + "\n")
    tokenizer = learned(
        (each for text in texts.values() for each in text.trained), recipe["vocab_size"]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "held_out").mkdir()
    for kind, text in texts.items():
        (folder / "held_out" / f"{kind}.txt").write_text("\n".join(text.held_out))
    torch.set_num_threads(THREADS)
    torch.manual_seed(recipe["seed"])
    config = AutoConfig.from_pretrained(folder, initializer_range=told["deviation"])
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    model.config.output_router_logits = True
    model.config.router_aux_loss_coef = 0.0
    # One product for all experts of a layer, instead of a loop over them.
    model.set_experts_implementation("grouped_mm")
    ids = {kind: torch.tensor(encoded(text.trained, tokenizer)) for kind, text in texts.items()}
    train(model, ids, told, recipe["seed"])
    model.config.output_router_logits = False
    model.to(torch.bfloat16).save_pretrained(folder)
    # Others may share the store.
    (folder / "model.safetensors").chmod(0o644)


if __name__ == "__main__":
    try:
        main(sys.argv[1], Path(sys.argv[2]))
    except TextError as error:
        sys.exit(str(error))
