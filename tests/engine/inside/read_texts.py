"""Read the texts of a recipe: ``read_texts.py TEXTS RESULT``.

TEXTS is a JSON file, as ``training.text`` takes each kind; RESULT gets the documents of each kind,
``trained`` and ``held_out``.
"""

import json
import sys
from dataclasses import asdict
from pathlib import Path

from training.text import text_of

if __name__ == "__main__":
    told = json.loads(Path(sys.argv[1]).read_text())
    texts = {kind: asdict(text_of(kind, each)) for kind, each in told.items()}
    Path(sys.argv[2]).write_text(json.dumps(texts))
