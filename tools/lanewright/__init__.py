"""Keeps serving lanes alive on a moving vLLM."""
