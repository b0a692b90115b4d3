# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Expert rows that several layers share: a table, a planner, and the copies between them."""

from .install import install
from .layer import PooledLayer
from .pool import Pool
from .tables import GlobalTables

__all__ = ["GlobalTables", "Pool", "PooledLayer", "install"]
