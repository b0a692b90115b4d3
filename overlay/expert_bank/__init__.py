# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Experts of one model in two banks: hot rows in device memory, cold rows in host memory.

Nothing here imports vLLM; the folder ``glue`` is the one place that does.
"""

__version__ = "0.1.0"
