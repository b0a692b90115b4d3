"""Traces in the forms of others: read with no trust, made one of ours."""
