"""Ask the server in this container: ``ask.py ASKED ANSWERS``, two JSON files.

Run by path with the container's Python. ASKED holds ``port``, ``seconds`` (until it must be well)
and ``requests``, each a method, a path and a body or null. ANSWERS gets the seconds until
``/health`` answered, and per request its status and body.
"""

import json
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

OK = 200
LONGEST = 300.0


def main(asked_file: str, answers_file: str) -> None:
    """Wait until the server is well, then ask for everything in turn."""
    asked = json.loads(Path(asked_file).read_text())
    start = time.monotonic()
    while (status := request(asked["port"], "GET", "/health", None)[0]) != OK:
        if time.monotonic() - start > asked["seconds"]:
            sys.exit(f"/health did not answer within {asked['seconds']} s: {status}")
        time.sleep(0.2)
    ready = time.monotonic() - start
    answers = [request(asked["port"], *each) for each in asked["requests"]]
    found = {"ready": round(ready, 3), "answers": answers}
    Path(answers_file).write_text(json.dumps(found))


def request(port: int, method: str, path: str, body: Any) -> tuple[int, str]:  # noqa: ANN401 - JSON
    """Send one request; status and body, or 0 and why there is none."""
    content = None if body is None else json.dumps(body).encode()
    sent = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}",
        data=content,
        method=method,
        headers={"Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(sent, timeout=LONGEST) as answer:  # noqa: S310 - as above
            return answer.status, answer.read().decode(errors="replace")
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(errors="replace")
    except OSError as error:
        return 0, str(error)


if __name__ == "__main__":
    main(*sys.argv[1:])
