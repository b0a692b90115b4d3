"""Boots a lane and proves what it carries."""
