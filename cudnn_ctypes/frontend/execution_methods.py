"""How a built `pygraph` is executed, and stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .. import raw
from .front_graph import FrontGraph
from .handles import as_handle
from .held_plans import Holding
from .serialization import describes_graph, restored, stored
from .tensors import integers

if TYPE_CHECKING:
    from ..handle import Handle

__all__ = ["RunningMethods"]


class RunningMethods(Holding):
    """Execution, CUDA graphs, and plans as bytes."""

    def execute(
        self,
        tensor_to_device_buffer: Mapping[Any, Any],
        workspace: Any,
        handle: int | Handle | None = None,
        override_uids: Sequence[int] | None = None,
        override_shapes: Sequence[Sequence[int]] | None = None,
        override_strides: Sequence[Sequence[int]] | None = None,
    ) -> None:
        """Run the plan on the handle's stream.

        Parameters
        ----------
        tensor_to_device_buffer : mapping
            By tensor, unique id or name: PyTorch tensors, anything with ``__dlpack__`` or
            ``__cuda_array_interface__``, or addresses. For operands by value a number, an array of
            one element on the host, or its address.
        workspace : device memory or None
            At least `get_workspace_size` bytes.
        handle : int or Handle, optional
            By default the graph's.
        override_uids, override_shapes, override_strides : sequence, optional
            Operands, by unique id, that have other dims and strides this time; for graphs with
            `is_override_shape_enabled`. cuDNN 9.21.
        """
        shapes = None
        if override_uids or override_shapes or override_strides:
            shapes = _overriding(override_uids, override_shapes, override_strides)
        chosen = None if handle is None else as_handle(handle)
        run = self._execution(None)
        run(
            chosen or self._handle or self._default_handle(),
            tensor_to_device_buffer,
            workspace,
            shapes,
        )

    def execute_plan_at_index(
        self,
        tensor_to_device_buffer: Mapping[Any, Any],
        workspace: Any,
        index: int,
        handle: int | Handle | None = None,
        override_uids: Sequence[int] | None = None,
        override_shapes: Sequence[Sequence[int]] | None = None,
        override_strides: Sequence[Sequence[int]] | None = None,
    ) -> None:
        """Run the plan of one engine config; otherwise as `execute`."""
        chosen = None if handle is None else as_handle(handle)
        shapes = _overriding(override_uids, override_shapes, override_strides)
        run = self._execution(index)
        run(chosen or self._default_handle(), tensor_to_device_buffer, workspace, shapes)

    def populate_cuda_graph(
        self, handle: int | Handle, memory: Mapping[Any, Any], workspace: Any, cuda_graph: Any
    ) -> None:
        """Add the plan to a CUDA graph; follows ``cudnnBackendPopulateCudaGraph``."""
        with self._execution(None).pack(memory, workspace) as pack:
            raw.cudnnBackendPopulateCudaGraph(
                as_handle(handle), self._plan(None).descriptor, pack, cuda_graph
            )

    def update_cuda_graph(
        self, handle: int | Handle, memory: Mapping[Any, Any], workspace: Any, cuda_graph: Any
    ) -> None:
        """Give a CUDA graph of `populate_cuda_graph` other addresses."""
        with self._execution(None).pack(memory, workspace) as pack:
            raw.cudnnBackendUpdateCudaGraph(
                as_handle(handle), self._plan(None).descriptor, pack, cuda_graph
            )

    def serialize(self) -> list[int]:
        """The built plan with its operands, as byte values; for the same cuDNN and GPU."""
        return list(stored(self._plan(None), self._tensors))

    def deserialize(self, *arguments: Any, **named: Any) -> None:
        """Take over what `serialize` gave: ``deserialize(data)``, ``deserialize(handle, data)``.

        `execute` then takes operands by unique id, by name, or by the tensors of the graph that was
        serialized. The text of a printed graph gives its description, which is to be built.

        Raises
        ------
        ValueError
            If the data are damaged, or for another cuDNN version or GPU.
        """
        handle, data = _handle_and_data(*arguments, **named)
        if handle is not None:
            self._handle = as_handle(handle)
        if describes_graph(data):
            self._graph, self._nodes = FrontGraph.from_json(data), None
            self._held.close()
            return
        device = self._device
        plan, tensors = restored(data, device)
        self._held.close()
        self._held.restored, self._held.tensors = plan, tensors
        self._held.device = device


def _overriding(uids: Any, shapes: Any, strides: Any) -> dict[int, Any] | None:
    """What layer 3 takes; None if nothing is given."""
    if not uids and not shapes and not strides:
        return None
    lists = (uids or (), shapes or (), strides or ())
    if len({len(each) for each in lists}) != 1:
        raise ValueError("override_uids, override_shapes and override_strides: as many of each")
    return {
        uid: (integers("override_shapes", dims), integers("override_strides", steps))
        for uid, dims, steps in zip(*lists, strict=True)
    }


def _handle_and_data(*arguments: Any, **named: Any) -> tuple[Any, Any]:
    given = dict(zip(("handle_", "pyobj")[2 - len(arguments) :], arguments, strict=False)) | named
    unknown = given.keys() - {"handle_", "pyobj"}
    if len(arguments) > 2 or unknown or "pyobj" not in given:
        raise TypeError("deserialize: expected (data) or (handle, data)")
    return given.get("handle_"), given["pyobj"]
