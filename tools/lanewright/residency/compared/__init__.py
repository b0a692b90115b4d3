"""Policies beside one another on one trace: what was cold, what was moved, what was waited for."""
