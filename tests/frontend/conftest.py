"""What the tests of the front end leave as they found it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cudnn_ctypes.frontend import handles


@pytest.fixture(autouse=True, scope="module")
def closed_default_handles() -> Iterator[None]:
    """While a handle of the reference device is open, all calls of the process are followed."""
    yield
    for key in [each for each in handles._default if each[0]]:
        handles._default.pop(key).close()
