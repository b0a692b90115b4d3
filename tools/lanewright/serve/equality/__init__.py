"""Proves that greedy output did not change, against the unpatched pin."""
