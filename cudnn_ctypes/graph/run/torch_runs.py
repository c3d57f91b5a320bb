"""Runs of a built graph on tensors of PyTorch alone, like one that was made before.

The caller knows, by a key of its own, that shapes, strides, data types, GPU and alignment are those
of that run. So nothing is looked at: results and workspace are allocated, the addresses are put
together, and the plan is executed on a default handle in the order of PyTorch's current stream.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from itertools import compress
from typing import TYPE_CHECKING, Any

from ...raw.function import watched
from ...runtime import pytorch
from .given_memory import give_back, taken

if TYPE_CHECKING:
    from ..describe.tensor import Tensor
    from .operands import Operands
    from .plan import ExecutionPlan
    from .results import ResultMemory

TorchRun = Callable[..., Any]
"""From the tensors that were given to the results; None if it must be done the long way."""


def torch_run(
    plan: ExecutionPlan,
    operands: Operands,
    inputs: Sequence[Tensor | None],
    results: Sequence[ResultMemory],
    returned: Tensor | tuple[Tensor, ...],
    like: Any,
) -> TorchRun | None:
    """A function for runs with tensors like those of the one that was just made.

    None if a run needs other memory than inputs, results and workspace, or something is to be
    written there before.

    - `inputs`: tensors that the arguments of the function stand for; None is not looked at.
    - `results`: memory that is allocated, of which the function gives `returned`.
    - `like`: one on the GPU.
    """
    tensors = [*(each for each in inputs if each is not None), *(each.tensor for each in results)]
    launched = operands.launched(dict.fromkeys(tensors))
    if launched is None or not plan.is_one_call:
        return None
    # Each address is that of the tensor at an index, and bytes behind it; or is a number alone.
    index = {place: i for i, place in enumerate(launched[1])}
    wanted: list[tuple[int | None, int]] = [
        (None, each.number)
        if each.number is not None
        else (index[place if each.base is None else each.base], each.offset)
        for place, each in enumerate(launched[0])
    ]
    forms, size, offsets = [each.torch_form() for each in results], plan.workspace_size, {}
    if size:
        forms.append(pytorch.bytes_form(size))
        offsets = plan.scratch_offsets
        wanted += [(len(tensors), offset) for offset in offsets.values()]
    wanted.append((len(tensors) if size else None, 0))
    of_result = {id(each.tensor): i for i, each in enumerate(results)}
    several = [of_result[id(each)] for each in returned] if isinstance(returned, tuple) else None
    only = of_result[id(returned)] if several is None else 0
    descriptor, packs = plan.descriptor, plan.packs((*operands.uids, *offsets))
    ordinal, device, empty = like.get_device(), like.device, sys.modules["torch"].empty_strided
    is_used = [each is not None for each in inputs]

    def run(*given: Any) -> Any:
        if watched or descriptor.closed:
            return None
        made = [empty(shape, steps, dtype=dtype, device=device) for shape, steps, dtype in forms]
        at = [each.data_ptr() for each in (*compress(given, is_used), *made)]
        key = tuple([number if i is None else at[i] + number for i, number in wanted])
        lent = taken(ordinal, pytorch.current_stream(ordinal))
        try:
            packs.execute(lent[0], descriptor, key)
        finally:
            give_back(ordinal, lent)
        return made[only] if several is None else tuple([made[i] for i in several])

    return run
