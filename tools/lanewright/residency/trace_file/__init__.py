"""Traces as files: Parquet, a row for each token and MoE layer."""
