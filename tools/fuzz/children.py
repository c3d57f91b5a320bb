"""Cases in child processes, by the package's own means for plans that may end their process."""

from __future__ import annotations

from cudnn_ctypes.graph.backend.children import Outcome, Spent, outcomes

__all__ = ["Outcome", "Spent", "outcomes"]
