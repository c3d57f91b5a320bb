"""Plan caches of the tests of engines."""

import pytest

from cudnn_ctypes import PlanCache
from cudnn_ctypes.graph.engines.cache.entry_folder import ENVIRONMENT_VARIABLE


@pytest.fixture(autouse=True)
def _no_cache_by_environment(monkeypatch):
    monkeypatch.delenv(ENVIRONMENT_VARIABLE, raising=False)


@pytest.fixture
def cache(tmp_path):
    return PlanCache(tmp_path / "plans")
