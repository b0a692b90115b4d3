"""Probes of a machine, which need no lane's engine: ``nox -s probe -- e1`` and ``-- e2``."""
