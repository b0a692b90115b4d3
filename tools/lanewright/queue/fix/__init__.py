"""Hand fixes of conflicts: laid out, recorded as recipes, taken."""
