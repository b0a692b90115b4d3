"""Lanes taken to another pin."""
