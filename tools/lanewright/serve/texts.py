"""What the trained model reads, by kind: files of distributions that ``environments/cpu.txt`` locks."""

from typing import Any

# All of them are for any machine, so that each has the same bytes on every one.
# Code that has little prose in it.
_PYTHON = "httpcore2==2.16.2 jsonschema==4.26.0 starlette==1.10.0 uvicorn==0.54.0"
_ENGLISH = (
    "agent-detector==2.0.0 aiohappyeyeballs==2.7.1 annotated-doc==0.0.7 annotated-types==0.8.0"
    " anthropic==2.14.0 attrs==26.1.0 cachetools==8.0.2 cloudpickle==3.1.3 depyf==0.20.0"
    " dill==0.4.1 einops==0.8.2 email-validator==2.4.0 fastapi==0.136.3 fastapi-cli==0.0.34"
    " fsspec==2026.9.0 googleapis-common-protos==1.76.0 h11==0.16.0 httpcore==1.0.9"
    " httpcore2==2.16.2 httpx==0.28.1 httpx2==2.16.2 huggingface-hub==1.33.0 idna==3.20"
    " jmespath==1.1.0 jsonschema==4.26.0 lm-format-enforcer==0.11.3 loguru==0.7.3"
    " markdown-it-py==4.3.0 mcp==2.3.0 mistral-common==1.13.1"
    " model-hosting-container-standards==0.1.16 mpmath==1.3.0 openai==3.57.0"
    " opentelemetry-sdk==1.45.2 partial-json-parser==0.2.1.1.post7"
    " prometheus-fastapi-instrumentator==8.1.0 pycountry==26.2.16 pycparser==3.12"
    " python-dotenv==1.2.4 python-multipart==0.0.34 rich==15.0.0 sentry-sdk==2.75.0"
    " setuptools==78.1.1 sse-starlette==3.7.0 starlette==1.10.0 supervisor==4.3.0 sympy==1.14.0"
    " tqdm==4.70.1 transformers==5.17.0 typer==0.29.2 urllib3==2.8.0 uvicorn==0.54.0"
)


def _pinned(listed: str) -> dict[str, str]:
    return dict(each.split("==") for each in listed.split())


# Where the environment is locked anew, the maker says what the hash is then.
TEXTS: dict[str, dict[str, Any]] = {
    "python": {
        "distributions": _pinned(_PYTHON),
        "suffixes": [".py"],
        "without": "",
        "sha256": "566cf007b0fb0b21964b7014ec0654fc30005ebef87d18a2b8f8208a31532a2c",
    },
    # METADATA stands for the description in it. Left out are fenced blocks: most are Python.
    "english": {
        "distributions": _pinned(_ENGLISH),
        "suffixes": ["METADATA", ".md", ".rst", ".txt"],
        "without": r"^[ \t]*```.*?^[ \t]*```[ \t]*$",
        "sha256": "c891ae41fe563762853cd9aa78932f029721a46baeba40ac95963cbacf80bfc8",
    },
}
