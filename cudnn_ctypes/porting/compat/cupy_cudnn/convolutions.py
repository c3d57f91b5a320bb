"""Convolutions of ``cupy.cudnn``, the choice of their algorithms, and fused operations."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from ctypes import addressof, c_double, c_int, c_int64, c_size_t, c_void_p
from typing import Any, NamedTuple

import numpy as np

from .... import raw
from ....errors import CudnnError
from ..v7 import old_status_number
from ..v7.algorithms import choose
from ..v7.old_function import Refused
from .descriptors import (
    Descriptor,
    Session,
    contiguous,
    create_convolution_descriptor,
    create_filter_descriptor,
    create_tensor_descriptor,
    get_handle,
    is_tensor_core_available,
    tensor,
)
from .low_level import CuDNNError, handle_of, low

__all__ = [
    "Algorithm",
    "Problem",
    "algorithm_for",
    "convolution_backward_data",
    "convolution_backward_filter",
    "convolution_forward",
    "create_fused_ops_const_param_pack",
    "create_fused_ops_plan",
    "create_fused_ops_variant_param_pack",
    "fused_ops_execute",
    "get_fused_ops_const_param_pack_attribute",
    "get_fused_ops_variant_param_pack_attribute",
    "get_max_workspace_size",
    "make_fused_ops_plan",
    "set_fused_ops_const_param_pack_attribute",
    "set_fused_ops_variant_param_pack_attribute",
    "set_max_workspace_size",
]


_TENSOR_OP, _DEFAULT = int(raw.CUDNN_TENSOR_OP_MATH), int(raw.CUDNN_DEFAULT_MATH)
_max_workspace_size = 8 * 1024 * 1024


def get_max_workspace_size() -> int:
    """The largest workspace of a convolution, in bytes."""
    return _max_workspace_size


def set_max_workspace_size(size: int) -> None:
    """Set the largest workspace of a convolution, in bytes."""
    global _max_workspace_size
    _max_workspace_size = size


class Algorithm(NamedTuple):
    """An algorithm, the bytes of its workspace, and its math type."""

    algo: int
    memory: int
    math_type: int


class Problem(NamedTuple):
    """A convolution in one direction: its descriptors and memory, in the order of C's calls."""

    direction: str
    first: Descriptor
    second: Descriptor
    convolution: Descriptor
    result: Descriptor
    addresses: tuple[int, int, int]

    @property
    def descriptors(self) -> tuple[int, int, int, int]:
        return self.first.value, self.second.value, self.convolution.value, self.result.value


_found: dict[Any, Algorithm] = {}
"""The fastest timed algorithms, by the problems."""


def algorithm_for(
    problem: Problem, key: Any, session: Session, cores: bool, timed: bool, deterministic: bool
) -> Algorithm:
    """The algorithm for a problem: within the workspace limit, timed if requested."""
    handle, limit = get_handle(), _max_workspace_size
    if timed and not deterministic:
        return _timed(problem, (handle, key, limit), session, cores)
    if not cores and not deterministic:
        return _chosen(problem, limit)
    ask = getattr(low, f"getConvolution{problem.direction}Algorithm_v7")
    usable = [each for each in ask(handle, *problem.descriptors, 10) if not each.status]
    if deterministic:
        usable = [each for each in usable if each.determinism == raw.CUDNN_DETERMINISTIC]
    within = [each for each in usable if each.memory <= limit]
    if not within:
        raise RuntimeError(_none_within(problem, limit))
    if within[0] is not usable[0]:
        warnings.warn(
            f"The best algorithm of a convolution ({problem.direction}) might not be selected due "
            f"to lack of workspace size ({limit})",
            stacklevel=4,
        )
    best = within[0]
    return Algorithm(best.algo, best.memory, best.mathType)  # the memory is for this math type


def _timed(problem: Problem, key: Any, session: Session, cores: bool) -> Algorithm:
    if key not in _found:
        first, second, result = problem.addresses
        find = getattr(low, f"findConvolution{problem.direction}AlgorithmEx_v7")
        limit = _max_workspace_size
        (best,) = find(
            get_handle(),
            *(problem.first.value, first),
            *(problem.second.value, second),
            problem.convolution.value,
            *(problem.result.value, result),
            1,
            *(session.workspace(limit), limit),
        )
        if best.status:
            raise CuDNNError(best.status)
        if cores and best.mathType != _TENSOR_OP:
            warnings.warn(
                f"Tensor Core mode is set but the selected convolution ({problem.direction}) "
                f"algorithm is not a Tensor Core enabled algorithm.",
                RuntimeWarning,
                stacklevel=5,
            )
        _found[key] = Algorithm(best.algo, best.memory, best.mathType)
    return _found[key]


def _chosen(problem: Problem, limit: int) -> Algorithm:
    """The algorithm chosen like `get...Algorithm_v6` with a limit."""
    low.setConvolutionMathType(problem.convolution.value, _DEFAULT)
    kinds = {
        "Forward": ("Tensor", "Filter", "Tensor"),
        "BackwardData": ("Filter", "Tensor", "Tensor"),
        "BackwardFilter": ("Tensor", "Tensor", "Filter"),
    }[problem.direction]
    names = (*kinds[:2], "Convolution", kinds[2])
    typed = []
    for name, address in zip(names, problem.descriptors, strict=True):
        typed.append(getattr(raw, f"cudnn{name}Descriptor_t")())
        typed[-1].value = address
    handle = raw.cudnnHandle_t()
    handle.value = get_handle()
    try:
        algo = int(choose(problem.direction, limit, handle, *typed))
    except Refused:
        raise RuntimeError(_none_within(problem, limit)) from None
    except CudnnError as error:
        raise CuDNNError(old_status_number(error.status), str(error)) from error
    size = getattr(low, f"getConvolution{problem.direction}WorkspaceSize")
    memory = size(get_handle(), *problem.descriptors, algo)
    return Algorithm(algo, memory, _DEFAULT)


def _none_within(problem: Problem, limit: int) -> str:
    return (
        f"No convolution ({problem.direction}) algorithm available with workspace size less equal "
        f"{limit}"
    )


_NCHW = int(raw.CUDNN_TENSOR_NCHW)


def _convolution(
    pad: Sequence[int],
    stride: Sequence[int],
    dtype: Any,
    dilation: Sequence[int] | None,
    cores: bool,
    groups: int,
) -> Descriptor:
    mode = int(raw.CUDNN_CROSS_CORRELATION)
    return create_convolution_descriptor(pad, stride, dtype, mode, dilation, cores, groups)


def _tensor_cores(mode: str, dtype: Any, dilation: Sequence[int] | None) -> bool:
    if mode not in ("auto", "always", "never"):
        raise ValueError('tensor_core_mode must be either of "always", "auto", or "never".')
    dilated = any(each > 1 for each in dilation or ())
    return mode != "never" and not dilated and is_tensor_core_available(dtype)


def _run(problem: Problem, session: Session, algorithm: Algorithm) -> None:
    name = f"convolution{problem.direction}"
    name += "" if problem.direction == "Forward" else "_v3"
    low.setConvolutionMathType(problem.convolution.value, algorithm.math_type)
    first, second, result = problem.addresses
    getattr(low, name)(
        get_handle(),
        1.0,
        *(problem.first.value, first),
        *(problem.second.value, second),
        problem.convolution.value,
        algorithm.algo,
        *(session.workspace(algorithm.memory), algorithm.memory),
        0.0,
        *(problem.result.value, result),
    )


def _add_bias(session: Session, b: Any, y: Any, y_desc: Descriptor, address: int) -> None:
    if b is None:
        return
    b = contiguous(b, "b")
    channels = int(np.prod(b.shape))
    desc = tensor((1, channels, *(1,) * (len(y.shape) - 2)), b.dtype)
    low.addTensor_v3(get_handle(), 1.0, desc.value, session.read(b), 1.0, y_desc.value, address)


def convolution_forward(
    x: Any,
    W: Any,
    b: Any,
    y: Any,
    pad: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    groups: int,
    *,
    auto_tune: bool,
    tensor_core: str,
    d_layout: int = _NCHW,
    w_layout: int = _NCHW,
) -> None:
    """Convolve x with W into y, and add the bias b of (channels,) if it is not None.

    Parameters
    ----------
    auto_tune : bool
        Time the algorithms, once for each problem.
    tensor_core : {"auto", "always", "never"}
    """
    x, W = contiguous(x, "x"), contiguous(W, "W")
    cores = _tensor_cores(tensor_core, x.dtype, dilation)
    about = pad, stride, x.dtype, dilation, cores, groups
    with Session(x) as s:
        problem = Problem(
            "Forward",
            create_tensor_descriptor(x, d_layout),
            create_filter_descriptor(W, w_layout),
            _convolution(*about),
            create_tensor_descriptor(y, d_layout),
            (s.read(x), s.read(W), s.write(y)),
        )
        key = ("Forward", x.shape, W.shape, y.shape, d_layout, w_layout, *map(str, about))
        _run(problem, s, algorithm_for(problem, key, s, cores, auto_tune, False))
        _add_bias(s, b, y, problem.result, problem.addresses[2])


def convolution_backward_filter(
    x: Any,
    gy: Any,
    gW: Any,
    pad: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    groups: int,
    *,
    deterministic: bool,
    auto_tune: bool,
    tensor_core: str,
    d_layout: int = _NCHW,
    w_layout: int = _NCHW,
) -> None:
    """Write the gradient of the filter into gW."""
    x, gy = contiguous(x, "x"), contiguous(gy, "gy")
    cores = _tensor_cores(tensor_core, x.dtype, None)
    about = pad, stride, x.dtype, dilation, cores, groups
    with Session(x) as s:
        problem = Problem(
            "BackwardFilter",
            create_tensor_descriptor(x, d_layout),
            create_tensor_descriptor(gy, d_layout),
            _convolution(*about),
            create_filter_descriptor(gW, w_layout),
            (s.read(x), s.read(gy), s.write(gW)),
        )
        key = ("BackwardFilter", x.shape, gW.shape, gy.shape, d_layout, w_layout, *map(str, about))
        _run(problem, s, algorithm_for(problem, key, s, cores, auto_tune, deterministic))


def convolution_backward_data(
    W: Any,
    x: Any,
    b: Any,
    y: Any,
    pad: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    groups: int,
    *,
    deterministic: bool,
    auto_tune: bool,
    tensor_core: str,
    d_layout: int = _NCHW,
    w_layout: int = _NCHW,
) -> None:
    """Write the gradient of a convolution's input into y, for the gradient x of its output.

    This is a transposed convolution of x, whose bias b is added if it is not None.
    """
    x, W = contiguous(x, "x"), contiguous(W, "W")
    cores = _tensor_cores(tensor_core, x.dtype, dilation)
    about = pad, stride, x.dtype, dilation, cores, groups
    with Session(x) as s:
        problem = Problem(
            "BackwardData",
            create_filter_descriptor(W, w_layout),
            create_tensor_descriptor(x, d_layout),
            _convolution(*about),
            create_tensor_descriptor(y, d_layout),
            (s.read(W), s.read(x), s.write(y)),
        )
        key = ("BackwardData", x.shape, W.shape, y.shape, d_layout, w_layout, *map(str, about))
        _run(problem, s, algorithm_for(problem, key, s, cores, auto_tune, deterministic))
        _add_bias(s, b, y, problem.result, problem.addresses[2])


def create_fused_ops_plan(ops: int) -> Descriptor:
    """A plan that is not made."""
    return Descriptor(low.createFusedOpsPlan(ops), low.destroyFusedOpsPlan)


def create_fused_ops_const_param_pack(
    ops: int, list_attr_param: Iterable[tuple[int, Any]]
) -> Descriptor:
    """A pack of descriptors and modes, by pairs of a label and its value."""
    pack = Descriptor(low.createFusedOpsConstParamPack(ops), low.destroyFusedOpsConstParamPack)
    for label, value in list_attr_param:
        set_fused_ops_const_param_pack_attribute(pack, label, value)
    return pack


def create_fused_ops_variant_param_pack(
    ops: int, list_attr_param: Iterable[tuple[int, Any]]
) -> Descriptor:
    """A pack of memory and numbers, by pairs of a label and its value."""
    pack = Descriptor(low.createFusedOpsVariantParamPack(ops), low.destroyFusedOpsVariantParamPack)
    for label, value in list_attr_param:
        set_fused_ops_variant_param_pack_attribute(pack, label, value)
    return pack


def make_fused_ops_plan(plan: Descriptor, const_pack: Descriptor) -> int:
    """Make a plan; the bytes of workspace that it needs."""
    size: int = low.makeFusedOpsPlan(get_handle(), plan.value, const_pack.value)
    return size


def fused_ops_execute(plan: Descriptor, var_pack: Descriptor) -> None:
    """Execute a plan."""
    low.fusedOpsExecute(get_handle(), plan.value, var_pack.value)


# -- attributes --------------------------------------------------------------------------------


def _is_number(label: raw.cudnnFusedOpsConstParamLabel_t) -> bool:
    return label.name.endswith("_PLACEHOLDER") or label == raw.CUDNN_PARAM_BN_MODE


_KINDS = {
    raw.CUDNN_PARAM_ACTIVATION_DESC: "Activation",
    raw.CUDNN_PARAM_CONV_DESC: "Convolution",
    raw.CUDNN_PARAM_WDESC: "Filter",
    raw.CUDNN_PARAM_DWDESC: "Filter",
}
"""Kinds of descriptors by label; other labels take tensors."""


def _kind(label: raw.cudnnFusedOpsConstParamLabel_t) -> str:
    return f"{_KINDS.get(label, 'Tensor')}Descriptor"


def set_fused_ops_const_param_pack_attribute(
    const_pack: Descriptor, param_label: int, desc_or_scalar: Any
) -> None:
    """Set a placeholder or mode, an int, or a descriptor."""
    label = raw.cudnnFusedOpsConstParamLabel_t(param_label)
    if _is_number(label):
        value: Any = c_int(int(desc_or_scalar))
    else:
        value = handle_of(getattr(raw, f"cudnn{_kind(label)}_t"), desc_or_scalar.value)
    low.setFusedOpsConstParamPackAttribute(const_pack.value, param_label, value)


def get_fused_ops_const_param_pack_attribute(
    const_pack: Descriptor, param_label: int
) -> tuple[int, int]:
    """The number or the address of a new descriptor, and whether the value is NULL."""
    label = raw.cudnnFusedOpsConstParamLabel_t(param_label)
    if _is_number(label):
        number = c_int()
        is_null = low.getFusedOpsConstParamPackAttribute(const_pack.value, param_label, number)
        return number.value, is_null
    address = getattr(low, f"create{_kind(label)}")()
    typed = handle_of(getattr(raw, f"cudnn{_kind(label)}_t"), address)
    is_null = low.getFusedOpsConstParamPackAttribute(const_pack.value, param_label, typed)
    return address, is_null


_NUMBERS = {
    "CUDNN_SCALAR_SIZE_T_": c_size_t,
    "CUDNN_SCALAR_INT64_T_": c_int64,
    "CUDNN_SCALAR_DOUBLE_": c_double,
}


def _number_type(param_label: int) -> Any:
    """The C type of a number, None for the label of memory."""
    name = raw.cudnnFusedOpsVariantParamLabel_t(param_label).name
    return next((kind for prefix, kind in _NUMBERS.items() if name.startswith(prefix)), None)


def set_fused_ops_variant_param_pack_attribute(
    var_pack: Descriptor, param_label: int, arr_or_scaler: Any
) -> None:
    """Set a number or an array. NumPy arrays cannot stand in here: the pack keeps the address."""
    kind = _number_type(param_label)
    if kind is not None:
        value: Any = kind(arr_or_scaler)
    else:
        with Session(arr_or_scaler) as session:
            value = c_void_p(session.read(arr_or_scaler))
    low.setFusedOpsVariantParamPackAttribute(var_pack.value, param_label, value)


def get_fused_ops_variant_param_pack_attribute(var_pack: int, param_label: int) -> Any:
    """The number, or the address."""
    variable = (_number_type(param_label) or c_size_t)()
    low.getFusedOpsVariantParamPackAttribute(var_pack, param_label, addressof(variable))
    return variable.value
