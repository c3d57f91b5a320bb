"""A graph that is executed by stand-ins for cuDNN's functions."""

import pytest

from cudnn_ctypes import raw
from cudnn_ctypes.raw.bare import bare
from cudnn_ctypes.raw.function import watched

from .executions import Product, StandIn

PRECOMPILED = raw.load().has_precompiled_engines
needs_precompiled_engines = pytest.mark.skipif(
    not PRECOMPILED, reason="this cuDNN has engines for runtime fusion only"
)


@pytest.fixture
def directly():
    """Nobody watches the calls, whatever has used the reference device before."""
    before = set(watched)
    watched.clear()
    yield
    watched.update(before)


@pytest.fixture
def stand_in(directly, monkeypatch):
    made = StandIn()
    for name, function in made.functions.items():
        monkeypatch.setattr(bare, name, function)
    return made


@pytest.fixture
def product(h200, directly):
    made = Product(h200)
    yield made
    made.graph.close()
    made.handle.close()
