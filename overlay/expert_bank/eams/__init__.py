# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""What requests pick, one by one (MoE-Infinity, arXiv 2401.14361 v3)."""
