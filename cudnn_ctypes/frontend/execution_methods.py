"""How a built `pygraph` is executed, and stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .. import raw
from .build_methods import BuildingMethods
from .execution import overriding
from .front_graph import FrontGraph
from .handles import AnyHandle, as_handle
from .serialization import describes_graph, restored, stored
from .tensors import tensor

__all__ = ["RunningMethods"]


class RunningMethods(BuildingMethods):
    """Execution, CUDA graphs, and plans as bytes."""

    def execute(
        self,
        tensor_dict: Mapping[Any, Any] | Sequence[Any],
        workspace: Any = None,
        handle: AnyHandle | None = None,
        override_uids: Sequence[int] | None = None,
        override_shapes: Sequence[Sequence[int]] | None = None,
        override_strides: Sequence[Sequence[int]] | None = None,
        tensor_uids: Sequence[int] | None = None,
    ) -> None:
        """Run the plan on the handle's stream. A graph that is not built yet is built first.

        Parameters
        ----------
        tensor_dict : mapping, or sequence
            By tensor, unique id or name: PyTorch tensors, anything with ``__dlpack__`` or
            ``__cuda_array_interface__``, or addresses. For operands by value a number, an array of
            one element on the host, or its address. Arrays that the operations were described with
            need not be named again. With `tensor_uids` the memory alone.
        workspace : device memory or None
            At least `get_workspace_size` bytes.
        handle : Handle or int, optional
            By default the graph's.
        override_uids, override_shapes, override_strides : sequence, optional
            Operands, by unique id, that have other dims and strides this time; for graphs with
            `is_override_shape_enabled`. cuDNN 9.21.
        tensor_uids : sequence of int, optional
            The unique ids of what is in `tensor_dict`, in its order.
        """
        held, shapes = self._held, None
        memory: Any = tensor_dict
        if not (override_uids is None and override_shapes is None and override_strides is None):
            shapes = overriding(override_uids, override_shapes, override_strides)
        chosen = held.handle if handle is None else as_handle(handle)
        plans = held.plans
        run = held.executions.get(None if plans is None else plans.candidate)
        if run is None:
            if held.restored is None and (plans is None or plans.candidate is None):
                self._build_rest()
            run = self._execution(None)
        if tensor_uids is not None or held.arrays:
            memory = self._memory(tensor_dict, tensor_uids)
        to = chosen or self._default_handle()
        if type(memory) is dict and shapes is None:
            run.launches.last(run, to, memory, workspace)
        else:
            run(to, memory, workspace, shapes)

    def execute_plan_at_index(
        self,
        tensor_dict: Mapping[Any, Any] | Sequence[Any],
        workspace: Any = None,
        index: int = 0,
        handle: AnyHandle | None = None,
        override_uids: Sequence[int] | None = None,
        override_shapes: Sequence[Sequence[int]] | None = None,
        override_strides: Sequence[Sequence[int]] | None = None,
        *,
        tensor_uids: Sequence[int] | None = None,
    ) -> None:
        """Run the plan of one engine config; otherwise as `execute`."""
        chosen = None if handle is None else as_handle(handle)
        shapes = overriding(override_uids, override_shapes, override_strides)
        run = self._execution(index)
        memory = self._memory(tensor_dict, tensor_uids)
        run(chosen or self._default_handle(), memory, workspace, shapes)

    def _memory(self, given: Any, uids: Sequence[int] | None) -> Mapping[Any, Any]:
        """Memory by tensor or uid, with the arrays that operations were described with."""
        if uids is not None:
            if isinstance(given, Mapping) or len(given) != len(uids):
                raise ValueError("tensor_uids: expected one unique id for each of the buffers")
            if len(set(uids)) < len(uids):
                raise ValueError(f"tensor_uids: one is there twice: {list(uids)}")
            given = dict(zip(uids, given, strict=True))
        if not self._held.arrays:
            memory: Mapping[Any, Any] = given
            return memory
        return {**{each.uid: array for each, array in self._held.arrays.values()}, **_by_uid(given)}

    def populate_cuda_graph(
        self, handle: AnyHandle, variant_pack: Mapping[Any, Any], workspace: Any, cuda_graph: Any
    ) -> None:
        """Add the plan to a CUDA graph; follows ``cudnnBackendPopulateCudaGraph``."""
        with self._execution(None).pack(self._memory(variant_pack, None), workspace) as pack:
            raw.cudnnBackendPopulateCudaGraph(
                as_handle(handle), self._plan(None).descriptor, pack, cuda_graph
            )

    def update_cuda_graph(
        self, handle: AnyHandle, variant_pack: Mapping[Any, Any], workspace: Any, cuda_graph: Any
    ) -> None:
        """Give a CUDA graph of `populate_cuda_graph` other addresses."""
        with self._execution(None).pack(self._memory(variant_pack, None), workspace) as pack:
            raw.cudnnBackendUpdateCudaGraph(
                as_handle(handle), self._plan(None).descriptor, pack, cuda_graph
            )

    def serialize(self, *, as_bytes: bool = False, include_kernels: bool = True) -> Any:
        """The built plan with its operands; for the same cuDNN and GPU.

        Parameters
        ----------
        as_bytes : bool
            Whether as ``bytes``, rather than as a list of byte values.
        include_kernels : bool
            Changes nothing: a plan of cuDNN's holds its kernels.
        """
        data = stored(self._plan(None), self._tensors)
        return data if as_bytes else list(data)

    def deserialize(self, *arguments: Any, **named: Any) -> None:
        """Take over what `serialize` gave: ``deserialize(data)``, ``deserialize(handle, data)``.

        `enforce_precompiled`, by name or last, changes nothing: plans hold their kernels.

        `execute` then takes operands by unique id, by name, or by the tensors of the graph that was
        serialized. The text of a printed graph gives its description, which is to be built.

        Raises
        ------
        ValueError
            If the data are damaged, of NVIDIA's front end, or for another cuDNN version or GPU.
        """
        handle, data = _handle_and_data(*arguments, **named)
        if handle is not None:
            self._held.handle = as_handle(handle)
        if describes_graph(data):
            self._graph, self._nodes = FrontGraph.from_json(data), None
            self._held.close()
            return
        device = self._device
        plan, tensors = restored(data, device)
        self._held.close()
        self._held.restored, self._held.tensors = plan, tensors
        self._held.device = device


def _by_uid(given: Mapping[Any, Any]) -> dict[Any, Any]:
    return {key.uid if isinstance(key, tensor) else key: each for key, each in given.items()}


def _handle_and_data(*arguments: Any, **named: Any) -> tuple[Any, Any]:
    named.pop("enforce_precompiled", None)
    if len(arguments) > 1 and isinstance(arguments[-1], bool):
        arguments = arguments[:-1]
    given = dict(zip(("handle_", "pyobj")[2 - len(arguments) :], arguments, strict=False)) | named
    unknown = given.keys() - {"handle_", "pyobj"}
    if len(arguments) > 2 or unknown or "pyobj" not in given:
        raise TypeError("deserialize: expected (data) or (handle, data)")
    return given.get("handle_"), given["pyobj"]
