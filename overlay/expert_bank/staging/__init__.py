# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Copies the cold rows of layers that are prefilled into device memory, a layer ahead."""
