"""Layer 3: the graph (backend) API."""

from __future__ import annotations
