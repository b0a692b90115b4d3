# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Rows of a layer's table: int32[4, E] on the device, written in one copy."""

BANK, ROW, GENERATION, PLACE = range(4)
HOT, COLD = range(2)
