"""Execution plans: an engine config made ready for a GPU, and stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ... import raw
from ...errors import CudnnError
from ...resource import Closing
from ..backend.descriptor import BackendDescriptor
from ..backend.device_properties import DeviceProperties
from ..backend.devices import DeviceLike, as_device, device_attribute, properties_text
from ..backend.engine import EngineConfig
from ..backend.warden import Death, ask, asking
from .bound_plan import BoundPlan
from .plan_execution import PlanExecution
from .stored_plan import StoredPlan, sealed

if TYPE_CHECKING:
    from .kernel_cache import KernelCache

__all__ = ["BoundPlan", "ExecutionPlan"]


class ExecutionPlan(PlanExecution, Closing):
    """A compiled plan; the EXECUTION_PLAN descriptor.

    Parameters
    ----------
    config : EngineConfig
        From heuristics or an engine. It may be closed afterwards.
    device : Handle, DeviceProperties, str or os.PathLike
        The GPU. With properties it is compiled for that GPU, which need not be there.
    kernel_cache : KernelCache or BackendDescriptor, optional
        Compiled kernels, which plans of one graph with dynamic shapes share.
    cuda_graph_retention : {"per_graph", "none"}, optional
        Whether CUDA graphs that were made from it keep its kernels alive, or it must live as long
        as they. cuDNN 9.28; older versions never keep them.

    Raises
    ------
    NotSupportedError
        If the engine cannot do it with these knobs; the message has cuDNN's reason.

    Notes
    -----
    Engines with the note "runtime_compilation" are compiled here, which takes about a second each.

    Threads may share a plan, each with a handle of its own. A plan that is closed while one
    executes it is destroyed after that execution.

    Examples
    --------
    >>> graph = Graph(io_data_type="float16")
    >>> y = graph.relu(graph.tensor((8, 64, 32), name="x")).set_output(name="y")
    >>> plan = graph.build("H200")
    >>> plan.workspace_size, len(plan.uids)
    (0, 2)
    """

    def __init__(
        self,
        config: EngineConfig | BackendDescriptor,
        *,
        device: DeviceLike,
        kernel_cache: KernelCache | BackendDescriptor | None = None,
        cuda_graph_retention: str | raw.cudnnCudaGraphRetention_t | None = None,
    ) -> None:
        self.descriptor: BackendDescriptor = BackendDescriptor(
            "execution_plan",
            engine_config=getattr(config, "descriptor", config),
            kernel_cache=kernel_cache,
            cuda_graph_retention=cuda_graph_retention,
            **device_attribute(device),
        ).finalize()
        self._config: EngineConfig | None = None

    @classmethod
    def from_json(
        cls,
        text: str | bytes,
        *,
        device: DeviceLike,
        cuda_graph_retention: str | raw.cudnnCudaGraphRetention_t | None = None,
    ) -> ExecutionPlan:
        """The plan that `to_json` stored.

        It holds machine code, which the GPU will run: take it only from where you would take a
        program. Text without a checksum, which a program in C wrote, is first loaded in a helper
        process, which it may end (`use_warden`). The other parameters are those of the class.

        Raises
        ------
        ValueError
            If the text is damaged, or the plan belongs to another cuDNN version or GPU.
        """
        meant = as_device(device)
        stored = StoredPlan(text)
        stored.check_gpu(meant)
        if not stored.sealed:
            with asking(None, default=True) as warded:
                if warded:
                    _try_loading(stored.text, properties_text(meant))
        return cls.from_stored(stored, device=meant, cuda_graph_retention=cuda_graph_retention)

    @classmethod
    def from_stored(
        cls,
        stored: StoredPlan,
        *,
        device: DeviceLike,
        cuda_graph_retention: str | raw.cudnnCudaGraphRetention_t | None = None,
    ) -> ExecutionPlan:
        """The plan of a text, `stored`, that is checked, and known to be for this GPU.

        Raises
        ------
        ValueError
            If cuDNN refuses it.
        """
        plan = cls.__new__(cls)
        # For these cuDNN would write the text anew, which takes as long as reading it.
        plan.uids, plan.takes_shapes = stored.uids, stored.takes_shapes
        try:
            plan.descriptor = BackendDescriptor(
                "execution_plan",
                json_representation=stored.text,
                cuda_graph_retention=cuda_graph_retention,
                **device_attribute(device),
            ).finalize()
        except CudnnError as error:
            raise ValueError(f"cuDNN does not take this plan; it is damaged: {error}") from error
        plan._config = None
        return plan

    def to_json(self) -> str:
        """The plan with its compiled kernels as text, for the same cuDNN version and GPU.

        It is cuDNN's JSON and one member more, a checksum, which cuDNN reads past.
        """
        return sealed(str(self.descriptor.get("json_representation")))

    @property
    def config(self) -> EngineConfig:
        """Its engine config as cuDNN has it; closed with the plan."""
        if self._config is None:
            self._config = EngineConfig(self.descriptor.read_back("engine_config"))
        return self._config

    @property
    def numerical_notes(self) -> frozenset[str]:
        return self.config.numerical_notes

    @property
    def behavior_notes(self) -> frozenset[str]:
        return self.config.behavior_notes

    def close(self) -> None:
        """Destroy its descriptors. A second call does nothing."""
        if self._config is not None:
            self._config.close()
        self.close_packs()
        if "scratch" in vars(self):
            self.scratch.close()
        self.descriptor.close()

    def __repr__(self) -> str:
        if self.descriptor.closed:
            return "ExecutionPlan(closed)"
        return f"ExecutionPlan({self.config!r}, workspace of {self.workspace_size} bytes)"


def _try_loading(text: str, gpu: str) -> None:
    try:
        ask(_load, text, gpu)
    except Death as death:
        raise ValueError(
            f"cuDNN ends the process that loads this plan ({death.signal}); it is damaged"
        ) from None


def _load(text: str, gpu: str) -> None:
    """In a helper process."""
    with DeviceProperties(gpu) as device:
        ExecutionPlan.from_stored(StoredPlan(text), device=device).close()
