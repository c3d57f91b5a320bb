"""Whole tensors: copy to another layout, add, set, scale, element-wise operations, reductions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import raw
from ..arguments import flag
from ..dtypes import data_type_name, host_scalar, numpy_dtype
from ..handle import Handle
from ..raw.ctypes_support import short_name
from ..raw.descriptors import OpTensor, ReduceTensor
from ..runtime.layout import to_shape
from .descriptor import Descriptor, number, read_back
from .documentation import launched
from .operands import Made, Operands, accumulator, refuse_beta
from .tensor import TensorDescriptor


@launched
def transform_tensor(
    handle: Handle,
    x: Any,
    y: Made | None = None,
    *,
    layout: Any = None,
    data_type: Any = None,
    alpha: float = 1,
    beta: float = 0,
    x_desc: TensorDescriptor | None = None,
    y_desc: TensorDescriptor | None = None,
) -> Made:
    """y = alpha * x + beta * y, in another layout; follows ``cudnnTransformTensor``.

    Parameters
    ----------
    x : tensor
        Of any rank and strides.
    y : tensor, optional
        Of the shape of x, with any strides, in other memory. Default: allocated.
    layout : {"NCHW", "NHWC", "NCHW_VECT_C4", "NCHW_VECT_C32"}, optional
        Of y, if y is not given; default: that of x.
    data_type : data type, optional
        Of y, if y is not given; default: that of x.

    Examples
    --------
    >>> x = DeviceTensor.from_numpy(np.arange(-2, 2, dtype="float32").reshape(1, 1, 2, 2))

    >>> with Handle() as handle:
    ...     y = transform_tensor(handle, x, layout="NHWC", data_type="float16")
    >>> y.strides, y.dtype.name
    ((4, 1, 2, 1), 'float16')
    """
    with Operands(handle, x=(x, x_desc), y=(y, y_desc)) as operands:
        x_desc = operands.describe("x")
        if y is None:
            refuse_beta("y", beta)
            shape = operands.shape_like("x", x_desc.shape)
            y = operands.make("y", shape, data_type, layout=layout, default=x_desc.data_type)
        operands.launch(raw.cudnnTransformTensor, alpha=alpha, beta=beta)
    return y


@launched
def add_tensor(
    handle: Handle,
    a: Any,
    c: Made,
    *,
    alpha: float = 1,
    beta: float = 1,
    a_desc: TensorDescriptor | None = None,
    c_desc: TensorDescriptor | None = None,
) -> Made:
    """c = alpha * a + beta * c, as for a bias; follows ``cudnnAddTensor``.

    Parameters
    ----------
    a : tensor
        Of the shape of c, with ones where it is repeated, (1, C, 1, 1) for a bias; or (C,).
    c : tensor
        Changed in place.
    alpha, beta : float
        Factors; with beta = 0 what c held is not read.

    Returns
    -------
    c as it was given

    The errors are those of `transform_tensor`.

    Examples
    --------
    >>> y = DeviceTensor.zeros((1, 2, 1, 3), "float32")
    >>> bias = DeviceTensor.from_numpy(np.array([1, 2], "float32").reshape(1, 2, 1, 1))
    >>> with Handle() as handle:
    ...     _ = add_tensor(handle, bias, y)
    >>> y.numpy().ravel()
    array([1., 1., 1., 2., 2., 2.], dtype=float32)
    """
    with Operands(handle, a=(a, a_desc), c=(c, c_desc)) as operands:
        operands.describe_repeated("a", "c")
        operands.launch(raw.cudnnAddTensor, alpha=alpha, beta=beta)
    return c


@launched
def set_tensor(
    handle: Handle, y: Made, value: Any, *, y_desc: TensorDescriptor | None = None
) -> Made:
    """Every element of y = value; follows ``cudnnSetTensor``.

    Parameters
    ----------
    y : tensor
        Changed in place; gaps between elements are not.
    value : number
        Rounded to the type of y.

    Returns
    -------
    y as it was given

    Raises
    ------
    TypeError
        If y is host memory or has no shape, or `value` is no number.
    ValueError
        If `value` does not fit in the type, or the memory is too small.

    Examples
    --------
    >>> y = DeviceTensor.empty((1, 1, 1, 3), "float32")
    >>> with Handle() as handle:
    ...     _ = set_tensor(handle, y, 2.5)
    >>> y.numpy().ravel()
    array([2.5, 2.5, 2.5], dtype=float32)
    """
    with Operands(handle, y=(y, y_desc)) as operands:
        element = _element(value, operands.describe("y").data_type)
        operands.launch(raw.cudnnSetTensor, valuePtr=element)
    return y


@launched
def scale_tensor(
    handle: Handle, y: Made, alpha: float, *, y_desc: TensorDescriptor | None = None
) -> Made:
    """y = alpha * y; follows ``cudnnScaleTensor``.

    Parameters
    ----------
    y : tensor
        Changed in place.

    Returns
    -------
    y as it was given

    The errors are those of `transform_tensor`.

    Examples
    --------
    >>> x = DeviceTensor.from_numpy(np.arange(-2, 2, dtype="float32").reshape(1, 1, 2, 2))

    >>> with Handle() as handle:
    ...     _ = scale_tensor(handle, x, 0.5)
    >>> x.numpy().ravel()
    array([-1. , -0.5,  0. ,  0.5], dtype=float32)
    """
    with Operands(handle, y=(y, y_desc)) as operands:
        operands.launch(raw.cudnnScaleTensor, alpha=alpha)
    return y


def _element(value: Any, data_type: raw.cudnnDataType_t) -> Any:
    """The number as cuDNN reads it: a float, for double data a double (cuDNN 9.14, 9.19)."""
    number = host_scalar(value, data_type)  # a TypeError for what is none
    dtype = numpy_dtype(data_type)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        if number.value != int(number.value) or not limits.min <= number.value <= limits.max:
            raise ValueError(
                f"value: expected an int from {limits.min} to {limits.max} for "
                f"{data_type_name(data_type)}, got {value!r}"
            )
    return number


# -- element-wise operations ----------------------------------------------------------------------


_OF_ONE_OPERAND = (raw.CUDNN_OP_TENSOR_SQRT, raw.CUDNN_OP_TENSOR_NOT)


class OpTensorDescriptor(Descriptor[raw.cudnnOpTensorDescriptor_t]):
    """An element-wise operation; follows ``cudnnSetOpTensorDescriptor``.

    Parameters
    ----------
    op : cudnnOpTensorOp_t or str
        "add", "mul", "min", "max"; "sqrt" and "not" (1 - a) of one tensor.
    compute_data_type : data type
        float64 for float64 tensors, else float32.
    nan_propagation : cudnnNanPropagation_t or str
        "propagate_nan" or "not_propagate_nan": whether the minimum or maximum of a number and NaN
        is NaN, or the number.

    Examples
    --------
    >>> OpTensorDescriptor("max")
    OpTensorDescriptor(op='max', compute_data_type='float32', nan_propagation='propagate_nan')
    """

    def __init__(
        self,
        op: Any = "add",
        *,
        compute_data_type: Any = "float32",
        nan_propagation: Any = "propagate_nan",
    ) -> None:
        super().__init__(raw.cudnnOpTensorDescriptor_t())
        with self._closed_on_error():
            self.set(op, compute_data_type, nan_propagation)

    def set(self, op: Any, compute_data_type: Any, nan_propagation: Any) -> None:
        """Set all; follows ``cudnnSetOpTensorDescriptor``."""
        self._set_by(raw.cudnnSetOpTensorDescriptor, locals())

    op: raw.cudnnOpTensorOp_t = read_back(OpTensor, "Which operation.")
    compute_data_type: raw.cudnnDataType_t = read_back(OpTensor, "What it is computed in.")
    nan_propagation: raw.cudnnNanPropagation_t = read_back(
        OpTensor, "Whether the minimum or maximum with NaN is NaN."
    )


@launched
def op_tensor(
    handle: Handle,
    a: Any,
    b: Any,
    op: OpTensorDescriptor | str,
    c: Made | None = None,
    *,
    alpha1: float = 1,
    alpha2: float = 1,
    beta: float = 0,
    data_type: Any = None,
    a_desc: TensorDescriptor | None = None,
    b_desc: TensorDescriptor | None = None,
    c_desc: TensorDescriptor | None = None,
) -> Made:
    """c = op(alpha1 * a, alpha2 * b) + beta * c; follows ``cudnnOpTensor``.

    Parameters
    ----------
    a : tensor
        Of 2 to 5 dimensions.
    b : tensor or None
        Of the shape of a, with ones where it is repeated; or (C,). None for "sqrt" and "not".
    op : OpTensorDescriptor or str
        A name stands for the descriptor with the type that the computation needs.
    c : tensor, optional
        Of the shape of a; may be a. Default: allocated, in the layout of a.
    alpha1, alpha2, beta : float
        Factors; with beta = 0 what c held is not read.
    data_type : data type, optional
        Of c, if c is not given; default: that of a.

    Examples
    --------
    >>> a = DeviceTensor.full((1, 2, 1, 2), 1, "float32")
    >>> b = DeviceTensor.from_numpy(np.array([1, 2], "float32").reshape(1, 2, 1, 1))
    >>> with Handle() as handle:
    ...     total = op_tensor(handle, a, b, "add")
    >>> total.numpy().ravel()
    array([2., 2., 3., 3.], dtype=float32)
    """
    with Operands(handle, a=(a, a_desc), b=(b, b_desc), c=(c, c_desc)) as operands:
        a_desc = operands.describe("a")
        computed_in = accumulator(a_desc.data_type)
        desc = operands.descriptor("op", op, OpTensorDescriptor, compute_data_type=computed_in)
        if c is None:
            c = operands.make_like("c", "a", beta=beta, data_type=data_type)
        if b is None and desc.op not in _OF_ONE_OPERAND:
            raise ValueError(f"b: needed for {short_name(desc.op)}")
        second = "a" if b is None else "b"  # C has the parameter also where it is not read
        operands.describe_repeated(second, "c")
        operands.launch(
            raw.cudnnOpTensor,
            opTensorDesc=desc,
            alpha1=alpha1,
            alpha2=alpha2,
            beta=beta,
            bDesc=second,
            B=second,
        )
    return c


# -- reductions -----------------------------------------------------------------------------------


_INDEX_TYPE = "uint32"  # whatever the descriptor says (cuDNN 9.14 and 9.19)
_INDEXED = (raw.CUDNN_REDUCE_TENSOR_MIN, raw.CUDNN_REDUCE_TENSOR_MAX, raw.CUDNN_REDUCE_TENSOR_AMAX)


class ReduceTensorDescriptor(Descriptor[raw.cudnnReduceTensorDescriptor_t]):
    """A reduction; follows ``cudnnSetReduceTensorDescriptor``.

    Parameters
    ----------
    op : cudnnReduceTensorOp_t or str
        "add", "mul", "min", "max", "amax" (the largest absolute value), "avg", "norm1", "norm2" or
        "mul_no_zeros", which leaves out partial products that underflow to 0 as well.
    compute_data_type : data type
        float64 for float64 tensors, else float32.
    nan_propagation : cudnnNanPropagation_t or str
        "propagate_nan" or "not_propagate_nan": whether the minimum or maximum over elements with a
        NaN is NaN.
    indices : bool
        Whether "min", "max" and "amax" also tell where they found it.
    indices_type : cudnnIndicesType_t
        ``CUDNN_32BIT_INDICES``; cuDNN 9 has no kernels for the others.

    Examples
    --------
    >>> ReduceTensorDescriptor("norm2").op
    cudnnReduceTensorOp_t.CUDNN_REDUCE_TENSOR_NORM2
    """

    def __init__(
        self,
        op: Any = "add",
        *,
        compute_data_type: Any = "float32",
        nan_propagation: Any = "propagate_nan",
        indices: bool = False,
        indices_type: Any = raw.CUDNN_32BIT_INDICES,
    ) -> None:
        super().__init__(raw.cudnnReduceTensorDescriptor_t())
        with self._closed_on_error():
            self.set(op, compute_data_type, nan_propagation, indices, indices_type)

    def set(
        self,
        op: Any,
        compute_data_type: Any,
        nan_propagation: Any,
        indices: bool,
        indices_type: Any,
    ) -> None:
        """Set all; follows ``cudnnSetReduceTensorDescriptor``."""
        asked = raw.cudnnReduceTensorIndices_t(int(flag("indices", indices)))
        self._set_by(raw.cudnnSetReduceTensorDescriptor, {**locals(), "indices": asked})

    op: raw.cudnnReduceTensorOp_t = read_back(ReduceTensor, "Which reduction.")
    compute_data_type: raw.cudnnDataType_t = read_back(ReduceTensor, "What it is computed in.")
    nan_propagation: raw.cudnnNanPropagation_t = read_back(
        ReduceTensor, "Whether the minimum or maximum over NaN is NaN."
    )
    indices: bool = read_back(
        ReduceTensor, "Whether it also tells where it found the minimum or maximum."
    )
    indices_type: raw.cudnnIndicesType_t = read_back(ReduceTensor, "The type of these indices.")

    # -- what it needs -------------------------------------------------------------------------

    def indices_size(
        self, handle: Handle, a_desc: TensorDescriptor, c_desc: TensorDescriptor
    ) -> int:
        """Bytes of the indices; follows ``cudnnGetReductionIndicesSize``."""
        return number(raw.cudnnGetReductionIndicesSize, handle, self, a_desc, c_desc)

    def workspace_size(
        self, handle: Handle, a_desc: TensorDescriptor, c_desc: TensorDescriptor
    ) -> int:
        """Bytes of scratch memory; follows ``cudnnGetReductionWorkspaceSize``."""
        return number(raw.cudnnGetReductionWorkspaceSize, handle, self, a_desc, c_desc)


class ReduceResult(NamedTuple):
    """Result of `reduce_tensor`.

    Attributes
    ----------
    c : DeviceTensor, or c as it was given
    indices : DeviceTensor or None
        If they are asked for: where each minimum or maximum is, counting the reduced elements in
        row-major order; uint32 of the shape of c. As it was given, if it was.

    Examples
    --------
    >>> a = DeviceTensor.from_numpy(np.array([1, 5, 2], "float32").reshape(1, 1, 1, 3))
    >>> reduction = ReduceTensorDescriptor("max", indices=True)
    >>> with Handle() as handle:
    ...     result = reduce_tensor(handle, a, reduction, c_shape=(1, 1, 1, 1))
    >>> result.c.numpy().item(), result.indices.numpy().item()
    (5.0, 1)
    """

    c: Any
    indices: Any


@launched
def reduce_tensor(
    handle: Handle,
    a: Any,
    reduction: ReduceTensorDescriptor | str,
    c: Any = None,
    *,
    c_shape: Sequence[int] | None = None,
    alpha: float = 1,
    beta: float = 0,
    indices: Any = None,
    workspace: Any = None,
    data_type: Any = None,
    a_desc: TensorDescriptor | None = None,
    c_desc: TensorDescriptor | None = None,
) -> ReduceResult:
    """c = alpha * (a reduced) + beta * c; follows ``cudnnReduceTensor``.

    Parameters
    ----------
    a : tensor
        Of 2 to 8 dimensions.
    reduction : ReduceTensorDescriptor or str
        A name stands for the descriptor with the type that the computation needs.
    c : tensor, optional
        Of the shape of a, with ones where a is to be reduced. Default: allocated.
    c_shape : sequence of int, optional
        The shape of c, if c is not given: (1, C, 1, 1) for a number for each channel.
    alpha, beta : float
        Factors; with beta = 0 what c held is not read.
    indices : DeviceBuffer or tensor, optional
        Where indices go, if the descriptor asks for them. Default: allocated.
    data_type : data type, optional
        Of c, if c is not given; default: that of a.

    Raises
    ------
    ValueError
        If shapes do not fit together, memory is too small, or indices are asked for of a reduction
        that has none; the message names the argument.

    Examples
    --------
    >>> a = DeviceTensor.full((2, 3, 4, 4), 1, "float32")
    >>> with Handle() as handle:
    ...     total = reduce_tensor(handle, a, "add", c_shape=(1, 3, 1, 1)).c
    >>> total.numpy().ravel()
    array([32., 32., 32.], dtype=float32)
    """
    with Operands(handle, a=(a, a_desc), c=(c, c_desc), indices=(None, None)) as operands:
        a_desc = operands.describe("a")
        computed_in = accumulator(a_desc.data_type)
        desc = operands.descriptor(
            "reduction", reduction, ReduceTensorDescriptor, compute_data_type=computed_in
        )
        if c is None:
            refuse_beta("c", beta)
            if c_shape is None:
                if c_desc is None:
                    raise ValueError("c: pass c_shape or c itself: it says what is reduced")
                c_shape = c_desc.shape
            c = operands.make(
                "c", to_shape(c_shape, "c_shape"), data_type, default=a_desc.data_type
            )
        c_desc = operands.describe("c")
        operands.check(raw.cudnnReduceTensor, reduceTensorDesc=desc)
        if desc.indices and desc.op not in _INDEXED:  # cuDNN would leave them unwritten
            raise ValueError(f"reduction: asks for indices, and {desc.op.name} has none")
        if indices is not None and not desc.indices:
            raise ValueError(
                "indices: given, but the reduction asks for none: pass a ReduceTensorDescriptor "
                "with indices=True"
            )
        needed = desc.indices_size(handle, a_desc, c_desc)
        if indices is None and needed:
            indices = operands.make("indices", c_desc.shape, _INDEX_TYPE, layout="NCHW")
        operands.launch(
            raw.cudnnReduceTensor,
            reduceTensorDesc=desc,
            indices=operands.room("indices", indices, needed),
            workspace=operands.workspace(workspace, desc.workspace_size(handle, a_desc, c_desc)),
            alpha=alpha,
            beta=beta,
        )
    return ReduceResult(c, indices)
