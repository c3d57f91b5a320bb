"""Where the tests of operators run, and by which back end of torch.compile."""

from __future__ import annotations

import pytest

GPU = pytest.mark.gpu
PLACES = ["cpu", pytest.param("cuda", marks=GPU)]
BACKENDS = {"cpu": "aot_eager", "cuda": "inductor"}
"""PyTorch's own code generator on a GPU only: on a CPU it takes most of a minute."""
