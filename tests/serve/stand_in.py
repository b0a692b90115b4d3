"""A site with a stand-in for vLLM and torch: real processes and a real server, no engine."""

import shutil
import sys
from pathlib import Path

from lanewright.serve.environment import LaneEnv

OVERLAY = Path(__file__).parents[2] / "overlay"

VLLM = """\
import importlib.metadata
from dataclasses import dataclass
from types import SimpleNamespace

__version__ = "9.9.9"


def worker(extension, counter):
    for plugin in importlib.metadata.entry_points(group="vllm.general_plugins"):
        plugin.load()()
    module, _, name = extension.rpartition(".")
    found = getattr(importlib.import_module(module), name)()
    found.vllm_config = SimpleNamespace(offload_config=SimpleNamespace(moe_usage_counter=counter))
    return found


def ids(prompt, count):
    return [(len(prompt) * 7 + place) % 512 for place in range(count)]


@dataclass
class SamplingParams:
    temperature: float
    max_tokens: int


class LLM:
    def __init__(self, model, worker_extension_cls=None, moe_usage_counter=False, dies=False):
        if dies:
            raise SystemExit("the stand-in engine was told to die")
        self.worker = worker_extension_cls and worker(worker_extension_cls, moe_usage_counter)

    def generate(self, prompts, parameters, use_tqdm):
        answer = SimpleNamespace(token_ids=ids(prompts[0], parameters.max_tokens), text="text")
        return [SimpleNamespace(outputs=[answer])]

    def collective_rpc(self, method):
        return [getattr(self.worker, method)()]
"""

SERVER = """\
import argparse
import json
import os
from http.server import BaseHTTPRequestHandler, HTTPServer

import vllm

parser = argparse.ArgumentParser()
for name in ("model", "served-model-name", "host", "worker-extension-cls"):
    parser.add_argument(f"--{name}")
parser.add_argument("--port", type=int)
for name in ("moe-usage-counter", "dies", "refuses"):
    parser.add_argument(f"--{name}", action="store_true")
arguments = parser.parse_args()
if arguments.dies:
    raise SystemExit("the stand-in server was told to die")
extension = arguments.worker_extension_cls
worker = extension and vllm.worker(extension, arguments.moe_usage_counter)


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.answer(200, {"data": [{"id": arguments.served_model_name}]})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if arguments.refuses:
            self.answer(500, {"error": "told to refuse"})
        elif self.path == "/v1/completions":
            found = vllm.ids(body["prompt"], body["max_tokens"])
            self.answer(200, {"choices": [{"token_ids": found, "text": "text"}]})
        elif self.path == "/collective_rpc" and os.environ["VLLM_SERVER_DEV_MODE"] == "1":
            self.answer(200, {"results": [getattr(worker, body["method"])()]})
        else:
            self.answer(404, {})

    def answer(self, status, content):
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(content).encode())


HTTPServer((arguments.host, arguments.port), Handler).serve_forever()
"""

FILES = {
    "torch.py": '__version__ = "9.9.9+cpu"\n',
    "vllm/__init__.py": VLLM,
    "vllm/logger.py": "from logging import getLogger as init_logger\n",
    "vllm/entrypoints/__init__.py": "",
    "vllm/entrypoints/openai/__init__.py": "",
    "vllm/entrypoints/openai/api_server.py": SERVER,
}


def lay_stand_in(folder: Path, *, bank: bool = True, plugin: bool = True) -> LaneEnv:
    """Lay the site; this Python runs it, without the packages that are installed here.

    Args:
        folder: Where the site and its caches go.
        bank: Whether the tree holds our overlay.
        plugin: Whether vLLM can find the overlay's entry point.
    """
    site = folder / "site"
    for path, content in FILES.items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text(content)
    if bank:
        shutil.copytree(OVERLAY / "expert_bank", site / "expert_bank")
    if bank and plugin:
        (metadata,) = OVERLAY.glob("expert_bank-*.dist-info")
        shutil.copytree(metadata, site / metadata.name)
    python = folder / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    python.chmod(0o755)
    return LaneEnv(python, site, folder / "pyc")
