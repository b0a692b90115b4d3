"""Remove the files that ``paths.json`` beside this script names; run in a container's build."""

import json
from pathlib import Path

for path in json.loads(Path(__file__).with_name("paths.json").read_text()):
    Path(path).unlink(missing_ok=True)
