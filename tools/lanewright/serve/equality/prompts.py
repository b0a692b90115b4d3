"""What is asked, and how long the answers are."""

from pathlib import Path

PROMPTS = tuple(Path(__file__).with_name("prompts.txt").read_text(encoding="utf-8").splitlines())
MAX_TOKENS = 64
DISTINCT = 200
