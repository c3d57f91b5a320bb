"""From a `pygraph` to what layer 3 does beyond NVIDIA's front end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..graph.describe.pictures import PictureMethods
from .build_methods import BuildingMethods
from .candidates import NoSuchPlanError
from .errors import translated
from .handles import AnyHandle, Handle, as_handle

if TYPE_CHECKING:
    from ..evidence.pictures.diagram import Diagram, Region
    from ..graph.engines.explaining.explanation import Explanation
    from ..graph.engines.tuning.measurements import Autotuning

__all__ = ["Layer3Methods"]


class Layer3Methods(BuildingMethods, PictureMethods):
    """Explanations, measurements, pictures and the description as text, beyond NVIDIA's front end.

    Pictures show the engine of the plan that `execute` takes, once there is one.
    """

    def explain(self, device: Any = None, **options: Any) -> Explanation:
        """Every engine config: what it is and needs, whether it works and, if not, why.

        Parameters
        ----------
        device : Handle, DeviceProperties, str or os.PathLike, optional
            By default that for which this graph is built; also by the name of a preset, or a file.
        **options
            Those of ``cudnn_ctypes.Graph.explain``.

        Returns
        -------
        Explanation
            Rows as data; ``print`` gives a table.

        Raises
        ------
        InvalidGraphError
            As in `validate`.

        Examples
        --------
        >>> print(graph.explain())  # doctest: +SKIP
        """
        with translated("pygraph.explain"):
            return self._graph.explain(self._chosen(device), **options)

    def autotune(
        self,
        memory: Mapping[Any, Any] | None = None,
        handle: AnyHandle | None = None,
        **options: Any,
    ) -> Autotuning:
        """Measure the plans that there are on a GPU; `execute` takes the fastest from then on.

        Parameters
        ----------
        memory : mapping, optional
            As for `execute`; outputs are overwritten. Tensors that are not in it get memory of
            their own with random numbers.
        handle : Handle, optional
            By default the graph's.
        **options
            Those of ``cudnn_ctypes.Graph.autotune``.

        Returns
        -------
        Autotuning
            All measurements as data; ``print`` gives a table.

        Raises
        ------
        NoDeviceError
            On the reference device.
        """
        chosen = self._default_handle() if handle is None else as_handle(handle)
        with translated("pygraph.autotune"):
            measured = self._graph.autotune(chosen, memory, **options)
        self._graph.close()
        self.build_operation_graph()
        with translated("pygraph.autotune"):
            self._plans.take(measured.best.engine, measured.best.knobs)
        return measured

    def to_json(self, *, indent: int | None = 2) -> str:
        """The description as JSON text, without a plan; ``cudnn_ctypes.Graph.from_json`` takes it.

        So does `deserialize`. What `validate` has filled in is part of it.
        """
        return self._graph.to_json(indent=indent)

    def _diagram(self) -> Diagram:
        from ..evidence.pictures.diagram import diagram

        return diagram(self._graph.name, self._graph.nodes, self._region())

    def _region(self) -> Region | None:
        from ..graph.engines.explaining.plan_region import plan_region

        try:
            return plan_region(self._plan(None))
        except NoSuchPlanError:
            return None

    def _chosen(self, device: Any) -> Any:
        if device is None:
            return self._device
        return as_handle(device) if isinstance(device, (Handle, int)) else device
