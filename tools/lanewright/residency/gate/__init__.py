"""Whether prefetching is worth another look: three conditions, from what was measured."""
