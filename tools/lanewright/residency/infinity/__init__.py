"""MoE-Infinity (arXiv 2401.14361 v3): experts prefetched and kept by what like requests picked."""
