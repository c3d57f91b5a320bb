"""From a program's variant pack to an execution: what NVIDIA's front end takes beyond layer 3."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..arguments import items
from ..graph.describe.tensor import Tensor
from ..graph.run.execution import Execution
from ..graph.run.operands import Operands
from ..graph.run.tensor_memory import Extent, extent, host_value, memory_bytes
from .errors import InvalidGraphError
from .tensors import integers

if TYPE_CHECKING:
    from ..graph.run.plan import ExecutionPlan

__all__ = ["FrontExecution", "overriding"]

_LOWEST_ADDRESS = 1 << 16  # no memory lies below, on the host or on a GPU


class FrontExecution(Execution):
    """Carries out one plan with whatever a program calls its operands.

    What is wrong with them is an `InvalidGraphError`.

    Parameters
    ----------
    plan : ExecutionPlan
    tensors : sequence of Tensor
        Of a validated graph.
    """

    def __init__(self, plan: ExecutionPlan, tensors: Sequence[Tensor]) -> None:
        super().__init__(plan, FrontOperands(tensors))

    def check_workspace(self, workspace: Any) -> None:
        try:
            super().check_workspace(workspace)
        except ValueError as error:
            raise InvalidGraphError(str(error)) from None

    def pack(self, memory: Mapping[Any, Any], workspace: Any) -> Any:
        """A finalized VARIANT_PACK, which the caller closes."""
        by_uid = self.operands.by_uid(memory)
        self.check_workspace(workspace)
        return self._plan.variant_pack(by_uid, workspace)


class FrontOperands(Operands):
    """Keys that are None or of no operand are left out; numbers come in more forms.

    A tensor of another graph stands for the operand with its unique id: so a graph is executed that
    was deserialized, with the tensors of the one that was serialized.
    """

    error: type[ValueError] = InvalidGraphError
    advice = ""

    @staticmethod
    def extent(operand: Tensor) -> Extent:
        """Data type and size: programs of NVIDIA's front end give memory of any dims."""
        return extent(operand)._replace(strides=())

    def unknown(self, key: Any) -> int | None:
        if isinstance(key, Tensor):
            return self._places.get(key.uid)
        if isinstance(key, str) and any(each.name == key for each in self.tensors):
            raise InvalidGraphError(f"several tensors are called {key!r}: give them by uid")
        if not (key is None or isinstance(key, (int, str))):
            raise TypeError(
                f"keys of a variant pack are tensors, uids or names, got {key!r} "
                f"({type(key).__name__})"
            )
        return None

    def check_keys(self, memory: Mapping[Any, Any]) -> None:
        """Let the last one count, as a dict does."""

    def number(self, value: Any, operand: Tensor) -> Any:
        """From a number, an array of one element on the host, or the address of one."""
        if isinstance(value, int) and not isinstance(value, bool) and value >= _LOWEST_ADDRESS:
            ctype = type(host_value(0, operand))
            return ctype.from_buffer_copy(ctypes.string_at(value, memory_bytes(operand)))
        item = getattr(value, "item", None)  # NumPy and PyTorch
        return host_value(item() if callable(item) else value, operand)


def overriding(uids: Any, shapes: Any, strides: Any) -> dict[int, Any] | None:
    """Other dims and strides by unique id, as layer 3 takes them; None if nothing is given."""
    given = {"override_uids": uids, "override_shapes": shapes, "override_strides": strides}
    lists = [items(name, () if each is None else each, "a list") for name, each in given.items()]
    if not any(lists):
        return None
    if len({len(each) for each in lists}) != 1:
        raise ValueError("override_uids, override_shapes and override_strides: as many of each")
    return {
        uid: (integers("override_shapes", dims), integers("override_strides", steps))
        for uid, dims, steps in zip(*lists, strict=True)
    }
