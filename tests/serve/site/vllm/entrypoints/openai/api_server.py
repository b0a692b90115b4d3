import argparse
import dataclasses
import json
import os
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

from vllm.arguments import EngineArgs
from vllm.engine import Engine

FIELDS = dataclasses.fields(EngineArgs)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    for name in ("served-model-name", "host"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--port", type=int)
    parser.add_argument("--enable-prompt-tokens-details", action="store_true")
    for field in FIELDS:
        option = f"--{field.name.replace('_', '-')}"
        if field.default is dataclasses.MISSING:
            parser.add_argument(option, type=json.loads, default={})
        elif isinstance(field.default, bool):
            parser.add_argument(
                option, action=argparse.BooleanOptionalAction, default=field.default
            )
        else:
            parser.add_argument(option, type=type(field.default), default=field.default)
    return parser.parse_args()


arguments = parse()
print(f"stats in {os.environ.get('EXPERT_BANK_STATS')}", flush=True)  # noqa: T201 - a log shows it
engine = Engine(EngineArgs(**{each.name: getattr(arguments, each.name) for each in FIELDS}))
engine.lies.update(engine.lies.get("served", {}))


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/metrics":
            return self.write(500 if "unscraped" in engine.lies else 200, exposition().encode())
        faint = self.path == "/health" and engine.requests >= engine.lies.get("faints", 1000)
        return self.answer(503 if faint else 200, {"data": [{"id": arguments.served_model_name}]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == engine.lies.get("refuses"):
            self.answer(500, {"error": "told to refuse"})
        elif self.path == "/v1/completions":
            self.answer(200, completion(body))
        elif self.path == "/collective_rpc" and os.environ["VLLM_SERVER_DEV_MODE"] == "1":
            answers = [getattr(worker, body["method"])() for worker in engine.workers]
            self.answer(200, {"results": answers})
        else:
            self.answer(404, {})

    def answer(self, status: int, content: dict[str, Any]) -> None:
        self.write(status, json.dumps(content).encode())

    def write(self, status: int, content: bytes) -> None:
        self.send_response(status)
        self.end_headers()
        self.wfile.write(content)


def exposition() -> str:
    """Write the stats of the worker as they were last asked for, as Prometheus reads them."""
    from expert_bank.metrics import METRICS  # noqa: PLC0415 - an unpatched pin has none

    (worker,) = engine.workers
    lines = ["# TYPE vllm:anything gauge", "vllm:anything 1.0"]
    for each in METRICS:
        if each.name == engine.lies.get("lacks"):
            continue
        lines.append(f"# TYPE {each.name} {each.kind}")
        for labels, value in each.read(worker.stats):
            named = ",".join(f'{n}="{v}"' for n, v in zip(each.labels, labels, strict=True))
            lines.append(f"{each.name}{'{' + named + '}' if named else ''} {float(value)}")
    return "\n".join(lines) + "\n"


def completion(body: dict[str, Any]) -> dict[str, Any]:
    found = engine.complete(body["prompt"], body["max_tokens"], ignore_eos=body["ignore_eos"])
    usage: dict[str, Any] = {"prompt_tokens": len(found.prompt_token_ids)}
    if arguments.enable_prompt_tokens_details and found.num_cached_tokens:
        usage["prompt_tokens_details"] = {"cached_tokens": found.num_cached_tokens}
    choice = {"text": found.outputs[0].text}
    if body.get("return_token_ids") and "silent" not in engine.lies:
        choice["token_ids"] = found.outputs[0].token_ids
    return {"choices": [choice], "usage": usage}


HTTPServer((arguments.host, arguments.port), Handler).serve_forever()
