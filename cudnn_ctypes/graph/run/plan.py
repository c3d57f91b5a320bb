"""Execution plans: an engine config made ready for a GPU, stored, and bound to operands."""

from __future__ import annotations

import contextlib
import ctypes
import functools
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

from ... import raw
from ...errors import CudnnError, NotSupportedError
from ...raw import cudnnHandle_t, gpus
from ...raw.bare import bare
from ...raw.function import binding, watched
from ...raw.gpus import ordinals
from ...raw.log import forget, logged
from ...raw.memory import memory_pointer
from ...raw.values import described
from ...resource import Closing, Pointers, Uncopied
from ...runtime.launching.bound import FixedLaunch, as_machine_code
from ...runtime.launching.executions import Executions, Operand, VariantPacks
from ...runtime.launching.machine_code import fixed_call, is_available
from ..backend.descriptor import BackendDescriptor
from ..backend.device_properties import (
    DeviceLike,
    DeviceProperties,
    as_device,
    device_attribute,
    properties_text,
)
from ..backend.engine import EngineChoice, EngineConfig
from ..backend.values import device_address
from ..backend.warden import Death, ask, asking
from .scratch import Scratch
from .stored_plan import KernelCache, StoredPlan, sealed

if TYPE_CHECKING:
    from typing_extensions import Self

    from ...handle import Handle
    from ..describe.tensor import Tensor
    from .scratch import Writing
    from .tensor_memory import Shape

    class _Partial:
        """``functools.partial`` as far as it is used here."""

        def __new__(cls, function: Callable[..., Any]) -> Self: ...
        def __call__(self) -> None: ...

else:
    _Partial = functools.partial


class BoundPlan(Uncopied, _Partial, Closing):
    """A plan with its operands and workspace, which it keeps alive; call it to execute.

    ``ExecutionPlan.bind`` makes it.

    Attributes
    ----------
    handle : Handle
    plan : ExecutionPlan
    variant_pack : BackendDescriptor
        The addresses.
    operands
        What the addresses belong to.

    Examples
    --------
    >>> graph = Graph(io_data_type="float32")
    >>> x = graph.tensor((1, 2, 2), name="x")
    >>> y = graph.relu(x).set_output(name="y")
    >>> memory = DeviceTensor.full((1, 2, 2), -1, "float32")
    >>> with Handle() as handle:
    ...     bound = graph.build(handle).bind(handle, {x.uid: memory, y.uid: memory})
    ...     bound()
    >>> memory.numpy().ravel()
    array([0., 0., 0., 0.], dtype=float32)
    """

    # A partial without arguments, whose function a call reaches without a method in between.

    handle: Handle
    plan: ExecutionPlan
    variant_pack: BackendDescriptor
    operands: Any
    _prepare: Writing | None
    _fixed: FixedLaunch | None

    def __new__(
        cls,
        handle: Handle,
        plan: ExecutionPlan,
        variant_pack: BackendDescriptor,
        prepare: Writing | None = None,
    ) -> Self:
        """`prepare` is called before each execution."""
        call, fixed = _bound(handle, plan.descriptor, variant_pack)
        self = super().__new__(cls, call if prepare is None else _in_order(prepare, call))
        self._fixed = fixed if prepare is None else None
        self.handle = handle
        self.plan = plan
        self.variant_pack = variant_pack
        self.operands = None
        self._prepare = prepare
        return self

    @property
    def fixed(self) -> FixedLaunch | None:
        """For machine code; None where there can be none."""
        return self._fixed

    def execute(self) -> None:
        """Run the plan, as calling this does."""
        self()

    @property
    def workspace_size(self) -> int:
        """Bytes of workspace that these operands need; at most those of the plan for fixed shapes.

        Follows ``cudnnGetExecutionPlanWorkspaceSize``, which cuDNN has since 9.23; raises
        `SymbolNotFoundError` for an older one.
        """
        size = ctypes.c_size_t()
        raw.cudnnGetExecutionPlanWorkspaceSize(
            self.handle, self.plan.descriptor, self.variant_pack, size
        )
        return self.plan.scratch.total(size.value)

    def close(self) -> None:
        """Let the operands go. The plan stays."""
        self.variant_pack.close()
        if self._prepare is not None:
            self._prepare.close()
        self.operands = None

    def __repr__(self) -> str:
        return f"BoundPlan({self.plan!r}{', closed' if self.variant_pack.closed else ''})"


def _in_order(first: Callable[[], None], then: Callable[[], None]) -> Callable[[], None]:
    def call() -> None:
        first()
        then()

    return call


def _bound(handle: Any, *descriptors: BackendDescriptor) -> tuple[Callable[[], Any], Any]:
    """The C call for a plan and a variant pack, and the same for machine code, if it can be."""
    pointer = getattr(handle, "_as_parameter_", handle)
    if pointer is not None and not isinstance(pointer, cudnnHandle_t):
        raise TypeError(f"handle: expected a Handle, got {described(handle)}")
    through_raw = functools.partial(raw.cudnnBackendExecute, handle, *descriptors)
    if pointer is None or pointer is handle:  # nobody tells when it is destroyed
        return through_raw, None
    native, settle = bare.cudnnBackendExecute, binding("cudnnBackendExecute").settle
    pointers = Pointers(handle, *descriptors)

    def by_ctypes(_: int = 0) -> None:
        if watched or ordinals:
            through_raw()
            return
        if logged:
            forget()
        try:
            arguments = pointers.arguments
        except AttributeError:  # one is closed
            through_raw()
            return
        if code := native(*arguments):
            if not arguments[0]:
                through_raw()  # cuDNN refuses NULL; this says more
            settle(code, (handle, *descriptors))

    call = fixed_call(native, pointers.arguments) if pointer and is_available() else None
    if call is None:  # with handles on several GPUs, too
        return by_ctypes, None

    def settled(_: int, code: int) -> None:
        settle(code, (handle, *descriptors))

    fixed = FixedLaunch([call], settled, by_ctypes, pointers)
    return as_machine_code([fixed], by_ctypes) or by_ctypes, fixed


class ExecutionPlan(Closing, Uncopied):
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

    names: Mapping[int, str] = {}
    """Names of the graph's tensors by unique id, for messages; empty if they are not known."""

    seen_twice: Tensor | None = None
    """A tensor that the graph reads as it is and transposed, of which a text keeps one."""

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

        Raises
        ------
        NotSupportedError
            If the graph reads a tensor both as it is and transposed: cuDNN's JSON keeps one of the
            two, so that x times x transposed becomes x times x (seen with 9.19 on an H200).
        """
        if self.seen_twice is not None:
            raise NotSupportedError(
                "ExecutionPlan.to_json",
                raw.CUDNN_STATUS_NOT_SUPPORTED,
                detail=f"{self.seen_twice.name!r} is read as it is and transposed, of which cuDNN "
                "stores one; give a tensor for each",
                source="cudnn_ctypes",
            )
        return sealed(str(self.descriptor.get("json_representation")))

    @property
    def config(self) -> EngineConfig:
        """Its engine config as cuDNN has it; closed with the plan."""
        if self._config is None:
            self._config = EngineConfig(self.descriptor.read_back("engine_config"))
        return self._config

    @property
    def choices(self) -> tuple[EngineChoice, ...]:
        """The engines and knobs that an execution runs: one, but for a `Program`."""
        return (self.config.choice,)

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self.descriptor.closed

    @property
    def is_one_call(self) -> bool:
        """Whether an execution is one call of cuDNN."""
        return not self.scratch.must_write

    def executions(self) -> Executions:
        """A memory of its executions, for those that resemble one of before."""
        return Executions(self.descriptor)

    @property
    def numerical_notes(self) -> frozenset[str]:
        return self.config.numerical_notes

    @property
    def behavior_notes(self) -> frozenset[str]:
        return self.config.behavior_notes

    @functools.cached_property
    def scratch(self) -> Scratch:
        """The graph's tensors in the workspace, behind what the plan itself needs there."""
        return Scratch()

    @functools.cached_property
    def uids(self) -> frozenset[int]:
        """The unique ids of the tensors that an execution needs; empty if cuDNN does not tell."""
        try:
            return self._stored().uids
        except (CudnnError, ValueError):
            return frozenset()

    @functools.cached_property
    def takes_shapes(self) -> bool:
        """Whether an execution may give other shapes than those of the graph."""
        return self._stored().takes_shapes

    def _stored(self) -> StoredPlan:
        return StoredPlan(self.descriptor.get("json_representation"))

    @property
    def scratch_offsets(self) -> dict[int, int]:
        """Where the graph's tensors are in the workspace, in bytes, by unique id."""
        return self.scratch.offsets(self._own_size)

    @functools.cached_property
    def _own_size(self) -> int:
        return int(self.descriptor.get("workspace_size"))

    @property
    def workspace_size(self) -> int:
        """Bytes of device memory that it needs beside its operands."""
        return self.scratch.total(self._own_size)

    def variant_pack(
        self,
        pointers: Mapping[int, Any],
        workspace: Any = None,
        *,
        shapes: Mapping[int, Shape] | None = None,
    ) -> BackendDescriptor:
        """A finalized VARIANT_PACK: the addresses of one execution, which cannot be changed.

        Parameters
        ----------
        pointers : mapping of int to device memory
            By the tensors' unique ids. For a tensor that is passed by value a ctypes scalar such
            as ``c_float(0.5)``; its bytes are the value.
        workspace : device memory, optional
            At least `workspace_size` bytes.
        shapes : mapping of int to (dims, strides), optional
            Of tensors that have others this time, if the operation graph has override_shape
            enabled; cuDNN 9.21. It trusts them.

        Raises
        ------
        ValueError
            If a tensor is missing or NULL, the plan needs a workspace and none is given, or it is
            too small.
        TypeError
            If something is no device memory.
        """
        pointers = self.scratch.own(self._complete(pointers, workspace))
        self._check_uids(pointers)
        _addresses(pointers)  # refuses what is none
        overrides: dict[str, Any] = {}
        if shapes:
            if not self.takes_shapes:  # cuDNN would take no notice of them
                raise ValueError(
                    "this plan was built for fixed shapes: build it with override_shapes=True"
                )
            overrides = {
                "override_unique_ids": list(shapes),
                "override_shapes": [list(dims) for dims, _ in shapes.values()],
                "override_strides": [list(strides) for _, strides in shapes.values()],
            }
        return BackendDescriptor(
            "variant_pack",
            unique_ids=list(pointers),
            data_pointers=list(pointers.values()),
            workspace=workspace,
            **overrides,
        ).finalize()

    def workspace_size_for(self, handle: Handle, shapes: Mapping[int, Shape]) -> int:
        """Bytes of device memory that it needs for other dims. cuDNN 9.23.

        ``cudnnGetExecutionPlanWorkspaceSize``.

        Parameters
        ----------
        shapes : mapping of int to (dims, strides)
            As for `execute`.

        Raises
        ------
        ValueError
            If the plan was built for fixed shapes.
        SymbolNotFoundError
            Before cuDNN 9.23.
        """
        size = ctypes.c_size_t()
        # Only the shapes count: nothing is read or written, so one address does for all.
        with self.variant_pack(dict.fromkeys(self.uids, 256), 256, shapes=shapes) as pack:
            raw.cudnnGetExecutionPlanWorkspaceSize(handle, self.descriptor, pack, size)
        return self.scratch.total(size.value)

    def execute(
        self,
        handle: Handle,
        pointers: Mapping[int, Any],
        workspace: Any = None,
        *,
        shapes: Mapping[int, Shape] | None = None,
    ) -> None:
        """Run it on the handle's stream; follows ``cudnnBackendExecute``.

        The other parameters are those of `variant_pack`. For memory that stays where it is there is
        `bind`.
        """
        if shapes or watched:
            with self.bind(handle, pointers, workspace, shapes=shapes) as bound:
                bound()
            return
        known = self._known
        if type(pointers) is dict and (
            known.execute(handle, pointers, workspace) or known.tried(handle, pointers, workspace)
        ):
            return
        self._execute(handle, pointers, workspace)

    def _execute(self, handle: Handle, given: Mapping[int, Any], workspace: Any) -> None:
        """`execute` with what was not executed before."""
        if gpus.ordinals:
            gpus.check_memory(handle, [*given.items(), ("workspace", workspace)])
        complete = self._complete(given, workspace)
        pointers = self.scratch.own(complete)
        packs = self.packs(tuple(pointers))
        addresses = _addresses(pointers)
        # A number on the host may be another one the next time.
        numbers = any(isinstance(value, ctypes._SimpleCData) for value in pointers.values())
        space = self.check_workspace(workspace)
        if self.scratch.must_write:
            self.scratch.write(handle, self._own_size, complete, workspace)
        packs.execute(handle, self.descriptor, (*addresses, space), numbers)
        if type(given) is dict and pointers is given and not numbers:
            operands = [Operand()] * len(given)
            self._known.learn(
                given, workspace if space else None, packs, operands, range(len(given))
            )

    def packs(self, uids: tuple[int, ...]) -> VariantPacks:
        """The variant packs for tensors with these unique ids, `uids`.

        Raises
        ------
        ValueError
            If one is missing that an execution needs.
        """
        found = self._packs.get(uids)
        if found is None:
            self._check_uids(uids)
            found = self._packs[uids] = VariantPacks(uids)
        return found

    @functools.cached_property
    def _known(self) -> Executions:
        return self.executions()

    @functools.cached_property
    def _packs(self) -> dict[tuple[int, ...], VariantPacks]:
        return {}

    def _complete(self, pointers: Mapping[int, Any], workspace: Any) -> Mapping[int, Any]:
        """`pointers` with those of scratch tensors; refuses what an execution lacks."""
        if not isinstance(pointers, Mapping):
            raise TypeError(f"pointers: expected a mapping, got {described(pointers)}")
        self.check_workspace(workspace)
        return self.scratch.added_to(pointers, self._own_size, workspace)

    def _check_uids(self, uids: Collection[int]) -> None:
        if not self.uids.issubset(uids):
            missing = sorted(self.uids.difference(uids))
            names = (f"{self.names[uid]!r} (uid {uid})" for uid in missing if uid in self.names)
            told = ", ".join([*names, *(f"uid {uid}" for uid in missing if uid not in self.names)])
            raise ValueError(f"pointers: no memory was given for {told}; keys are uids")

    def check_workspace(self, workspace: Any) -> int:
        """The address of a workspace; 0 if none is needed.

        Raises
        ------
        TypeError, ValueError
            If it is no device memory, or too small.
        """
        needed, address = self.workspace_size, memory_pointer(workspace, "workspace")
        if needed and not address:
            raise ValueError(f"workspace: this plan needs {needed} bytes of device memory")
        available = getattr(workspace, "nbytes", needed)
        if isinstance(available, int) and available < needed:
            raise ValueError(f"workspace: this plan needs {needed} bytes, got {available}")
        return address if needed and address else 0

    def bind(
        self,
        handle: Handle,
        pointers: Mapping[int, Any],
        workspace: Any = None,
        *,
        shapes: Mapping[int, Shape] | None = None,
    ) -> BoundPlan:
        """This plan for fixed addresses: executing it is one C call.

        The other parameters and errors are those of `variant_pack`.
        """
        if gpus.ordinals:
            gpus.check_memory(handle, [*pointers.items(), ("workspace", workspace)])
        pack = self.variant_pack(pointers, workspace, shapes=shapes)
        prepare = None
        if self.scratch.must_write:
            complete = self._complete(pointers, workspace)
            prepare = self.scratch.writing(handle, self._own_size, complete, workspace)
        return BoundPlan(handle, self, pack, prepare)

    def close(self) -> None:
        """Destroy its descriptors. A second call does nothing."""
        if self._config is not None:
            self._config.close()
        for packs in tuple(self._packs.values()):  # another thread may add one
            packs.close()
        if "scratch" in vars(self):
            self.scratch.close()
        self.descriptor.close()

    def __repr__(self) -> str:
        if self.closed:
            return "ExecutionPlan(closed)"
        return f"ExecutionPlan({self.config!r}, workspace of {self.workspace_size} bytes)"


def _addresses(pointers: Mapping[int, Any]) -> list[int]:
    """The addresses of device memory, by unique id, none of which may be NULL."""
    addresses = []
    for uid, value in pointers.items():
        address = device_address(f"pointers[{uid}]", value)
        if not address:
            raise ValueError(f"pointers[{uid}]: expected device memory, got {value!r}")
        addresses.append(address)
    return addresses


def _try_loading(text: str, gpu: str) -> None:
    try:
        ask(_load, text, gpu)
    except Death as death:
        raise ValueError(
            f"cuDNN ends the process that loads this plan ({death.signal}); it is damaged"
        ) from None


def _load(text: str, gpu: str) -> None:
    """In a helper process, where the GPU is not: only what ends it is told."""
    with contextlib.suppress(CudnnError, ValueError), DeviceProperties(gpu) as device:
        ExecutionPlan.from_stored(StoredPlan(text), device=device).close()
