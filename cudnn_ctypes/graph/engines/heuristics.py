"""Who proposes engine configs: cuDNN's heuristics, and each engine with its knobs left open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import CudnnError, NotSupportedError, OwnReason
from ...raw import cudnnStatus_t
from ..backend.descriptor import BackendDescriptor
from ..backend.devices import DeviceLike
from ..backend.engine import Engine, EngineConfig, engine_attributes

if TYPE_CHECKING:
    from ..lower.lowering import Lowering


def default_configs(engine: Engine) -> list[EngineConfig]:
    """Configs of an engine that leave to cuDNN what can be left to it; each to be closed.

    Mostly this is one. Some engines want the knob kernel_cfg to be set; then it is one for each
    of its values that they accept.

    Raises CudnnError if there is none; with several refusals the most frequent.
    """
    refusals: list[CudnnError] = []
    try:
        return [engine.config()]
    except CudnnError as error:
        unset = any("KERNEL_CFG knob must be set" in message for message in error.messages)
        kernels = engine.knobs.get("kernel_cfg") if unset else None
        if kernels is None:
            raise
    found = []
    for value in kernels.values:
        try:
            found.append(engine.config({"kernel_cfg": value}))
        except CudnnError as error:
            refusals.append(error)
    if found:
        return found
    first_lines = [error.messages[:1] for error in refusals]
    raise max(refusals, key=lambda error: first_lines.count(error.messages[:1]))


def heuristics(
    operation_graph: BackendDescriptor,
    *,
    device: DeviceLike,
    mode: str = "a",
    sm_count: int | None = None,
) -> list[EngineConfig]:
    """The engine configs that cuDNN proposes for an operation graph, the best first.

    Parameters
    ----------
    operation_graph : BackendDescriptor
        Finalized.
    device : Handle, DeviceProperties, str or os.PathLike
        The GPU. A handle must be that of the operation graph too.
    mode : {"a", "b", "fallback", "instant"}
        "a" is fast, "b" predicts better for some convolutions and takes longer, "fallback" gives
        engines that support much and are slow, "instant" is another name of "a".
    sm_count : int, optional
        How many multiprocessors they should use.

    Returns
    -------
    list of EngineConfig
        At least one; each is to be closed.

    Raises
    ------
    NotSupportedError
        If cuDNN knows no engine for this graph at all.

    Examples
    --------
    >>> like = {"dimensions": [8, 64, 32], "strides": [2048, 32, 1], "data_type": "float16"}
    >>> x, y = (BackendDescriptor("tensor", unique_id=n, byte_alignment=16, **like) for n in (1, 2))
    >>> relu = BackendDescriptor("pointwise", mode="relu_fwd", math_prec="float32").finalize()
    >>> operation = BackendDescriptor(
    ...     "operation_pointwise", pw_descriptor=relu, xdesc=x.finalize(), ydesc=y.finalize()
    ... )
    >>> graph = BackendDescriptor("operationgraph", ops=[operation.finalize()]).finalize()
    >>> configs = heuristics(graph, device="H200")
    >>> len(configs) >= 1
    True
    """
    query = BackendDescriptor(
        "engineheur",
        mode=mode,
        operation_graph=operation_graph,
        sm_count_target=sm_count,
        **engine_attributes(device, operation_graph),
    )
    with query.finalize():
        return [EngineConfig(each) for each in query.get("results")]


def proposed_configs(
    lowering: Lowering, *, device: DeviceLike, mode: str, sm_count: int | None = None
) -> list[EngineConfig]:
    """`heuristics` of a lowered graph, unless the mode is known to end the process on it.

    Raises NotSupportedError if cuDNN knows no engine for this graph at all, or must not be asked.
    """
    if mode in lowering.faults.modes:
        raise NotSupportedError(
            "Graph.build",
            cudnnStatus_t.CUDNN_STATUS_NOT_SUPPORTED,
            arguments={"heuristics": mode},
            messages=(lowering.faults.modes[mode],),
            source=OwnReason.source,
        )
    return heuristics(lowering.graph, device=device, mode=mode, sm_count=sm_count)
