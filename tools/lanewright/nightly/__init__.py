"""Nights: every lane tried by itself, how it went, and what is kept of that."""
