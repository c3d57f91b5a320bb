"""Verdicts of these tests stay among themselves."""

import pytest

from cudnn_ctypes.graph.engines.judging import probation, verdict


@pytest.fixture(autouse=True)
def own_verdicts(tmp_path, monkeypatch):
    """A folder for caches, and no verdicts and notes of this process."""
    monkeypatch.delenv("CUDNN_CTYPES_CACHE", raising=False)
    monkeypatch.delenv("CUDNN_CTYPES_CHECK", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(verdict, "_here", {})
    monkeypatch.setattr(probation, "_unchecked", set())
