"""Run vLLM's OpenAI server with the shims that the environment names: ``serve.py FLAGS``.

Run by path with the lane's Python. What the server spawns runs this file again, under another name
than ``__main__``, so that the shims are in every one of its processes.
"""

import runpy
import sys
from pathlib import Path

# Python leaves the script's own folder out of its path when it runs safely.
sys.path.append(str(Path(__file__).parent))

import shims

MODULE = "vllm.entrypoints.openai.api_server"

shims.apply()
if __name__ == "__main__":
    runpy.run_module(MODULE, run_name="__main__")
