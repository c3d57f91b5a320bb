"""Launches and bound forms of the GNN functions leave no memory behind."""

from __future__ import annotations

from typing import Any

import pytest

from cudnn_ctypes import Handle, NotSupportedError, SymbolNotFoundError

from .leaks import check_no_memory_is_left
from .operation_table import rows, sequences


@pytest.mark.thinned(2)
@pytest.mark.parametrize("family", [sequences.gnn_aggregation, sequences.gnn_attention])
def test_calls_and_bound_forms(handle: Handle, family: Any) -> None:
    try:
        with rows(family, handle) as cases:

            def step() -> None:
                for case in cases.values():
                    for tensor in case():
                        if tensor is not None:
                            tensor.close()
                    with case.bind() as bound:
                        bound()

            check_no_memory_is_left(step, handle)
    except (NotSupportedError, SymbolNotFoundError) as error:
        pytest.skip(str(error))
