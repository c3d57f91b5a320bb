"""The graph of NVIDIA's Python front end."""

from __future__ import annotations

import weakref
from os import PathLike
from typing import TYPE_CHECKING, Any

from ..graph.backend.devices import as_properties
from ..raw import log
from ..resource import Closing
from .enums import cuda_graph_retention, data_type
from .execution_methods import RunningMethods
from .filters import Filters
from .front_graph import FrontGraph
from .handles import AnyHandle, as_handle
from .held_plans import Held
from .inspection import InspectionMethods
from .layer3_methods import Layer3Methods
from .methods import OperationMethods
from .plan_methods import ChoosingMethods
from .properties import kernel_cache
from .retention import chosen_retention
from .tensor_methods import TensorMethods
from .tensors import tensor

if TYPE_CHECKING:
    from ..graph.backend.device_properties import DeviceProperties
    from ..graph.describe.node import Node

__all__ = ["pygraph"]

_NOT_SET = data_type.NOT_SET


class pygraph(
    TensorMethods,
    OperationMethods,
    Layer3Methods,
    ChoosingMethods,
    RunningMethods,
    InspectionMethods,
    Closing,
):
    """Operations that cuDNN carries out together.

    The steps are `validate`, `build_operation_graph`, `create_execution_plans`, `check_support` and
    `build_plans`; `build` takes them all. Then `execute`, with a workspace of `get_workspace_size`
    bytes.

    Parameters
    ----------
    name : str
    io_data_type, intermediate_data_type, compute_data_type : data type
        Of tensors with memory, of the others, and of the computation; the last two are FLOAT if
        they are not set. A ``data_type``, a ``torch.dtype``, or what ``as_data_type`` takes.
    handle : Handle or int, optional
        By default one of the current device that such graphs share.
    sm_count : int, optional
        How many multiprocessors to use.
    sm_version : int, optional
        Must be that of `device_property`, if both are given.
    kernel_cache : kernel_cache, optional
    device_property : device_properties, DeviceProperties, str or os.PathLike, optional
        Build for this GPU, which need not be there; also by the name of a preset, or a file.
    is_dynamic_shape_enabled, is_override_shape_enabled : bool
        Of cuDNN 9.4 and 9.21.
    cuda_graph_retention : cuda_graph_retention, optional
        Whether CUDA graphs keep alive what they need of this graph's plans; by default what the
        variable CUDNN_CUDA_GRAPH_RETENTION says, else PER_GRAPH. NONE is of cuDNN 9.28.
    is_cuda_graph_replay_expected : bool
        A hint to kernels of NVIDIA's own; cuDNN has no use for it.
    """

    def __init__(
        self,
        name: str = "test_graph",
        io_data_type: Any = _NOT_SET,
        intermediate_data_type: Any = _NOT_SET,
        compute_data_type: Any = _NOT_SET,
        handle: AnyHandle | None = None,
        sm_count: int | None = None,
        sm_version: int | None = None,
        kernel_cache: kernel_cache | None = None,
        device_property: DeviceProperties | str | PathLike[str] | None = None,
        is_dynamic_shape_enabled: bool = False,
        is_override_shape_enabled: bool = False,
        cuda_graph_retention: cuda_graph_retention | None = None,
        *,
        is_cuda_graph_replay_expected: bool = False,
    ) -> None:
        self._graph = FrontGraph(name, io_data_type, intermediate_data_type, compute_data_type)
        self._held = Held()
        self._held.handle = None if handle is None else as_handle(handle)
        self._sm_count = sm_count
        self._properties = None if device_property is None else as_properties(device_property)
        self._cache = kernel_cache
        self._attributes = {
            name: True
            for name, wanted in (
                ("is_dynamic_shape_enabled", is_dynamic_shape_enabled),
                ("is_override_shape_enabled", is_override_shape_enabled),
            )
            if wanted
        }
        self._retention = chosen_retention(cuda_graph_retention)
        self.is_cuda_graph_replay_expected: bool = bool(is_cuda_graph_replay_expected)
        self._filters = Filters()
        self._bound: dict[int, tuple[tensor, Any]] = self._held.arrays
        self._nodes: list[Node] | None = None
        # Programs for the front end close nothing. At exit each descriptor goes by itself.
        weakref.finalize(self, log.set_aside()(self._held.close)).atexit = False
        _check_sm_version(sm_version, self._properties)

    def close(self) -> None:
        """Destroy plans and descriptors. Without it they go with the graph."""
        self._held.close()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            from .left_out import missing

            raise AttributeError(missing("pygraph", name))

    def __repr__(self) -> str:
        return f"py{self._graph!r}".replace("pyGraph", "pygraph", 1)

    def __str__(self) -> str:
        """The description as JSON text, which `deserialize` takes; after `validate` it is whole."""
        return self._graph.to_json()


def _check_sm_version(sm_version: int | None, properties: DeviceProperties | None) -> None:
    if sm_version is None or properties is None:
        return
    major, minor = properties.compute_capability
    if sm_version != 10 * major + minor:
        raise ValueError(
            f"sm_version: {sm_version}, but {properties.name} has {10 * major + minor}"
        )
