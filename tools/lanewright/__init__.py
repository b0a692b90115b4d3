"""Keeps serving lanes alive on a moving vLLM."""

__version__ = "0.1.0"
