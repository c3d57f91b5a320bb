"""Element-wise operations on one or two tensors: add, multiply, minimum, maximum, root, not.

Operands and results as for convolutions: ``DeviceTensor``s, tensors of other libraries, or a
``DeviceBuffer`` or an address together with its descriptor.
"""

from __future__ import annotations

from typing import Any

from .. import raw
from ..dtypes import as_data_type, host_scalar
from ..handle import Handle
from ..raw.descriptors import OpTensor
from .agreement import check_broadcast, check_same
from .descriptor import Descriptor
from .enumerators import enumerator, short_name
from .launch import launch, launched
from .operands import Made, Operands, check_memory, expect
from .tensor import TensorDescriptor

__all__ = ["OpTensorDescriptor", "op_tensor"]

_OF_ONE_OPERAND = (raw.CUDNN_OP_TENSOR_SQRT, raw.CUDNN_OP_TENSOR_NOT)


class OpTensorDescriptor(Descriptor[raw.cudnnOpTensorDescriptor_t]):
    """An element-wise operation; follows ``cudnnSetOpTensorDescriptor``.

    Parameters
    ----------
    op : cudnnOpTensorOp_t or str
        "add", "mul", "min", "max"; "sqrt" and "not" (1 - a) of one tensor.
    compute_type : data type
        float64 for float64 tensors, else float32.
    nan_propagation : cudnnNanPropagation_t or str
        "not_propagate_nan" or "propagate_nan": whether the minimum or maximum with NaN is NaN.

    Examples
    --------
    >>> OpTensorDescriptor("max")
    OpTensorDescriptor(op='max', compute_type='float32', nan_propagation='not_propagate_nan')
    """

    def __init__(
        self,
        op: Any = "add",
        *,
        compute_type: Any = "float32",
        nan_propagation: Any = "not_propagate_nan",
    ) -> None:
        super().__init__(
            raw.cudnnOpTensorDescriptor_t(),
            raw.cudnnCreateOpTensorDescriptor,
            raw.cudnnDestroyOpTensorDescriptor,
        )
        with self._closed_on_error():
            self.set(op, compute_type, nan_propagation)

    def set(self, op: Any, compute_type: Any, nan_propagation: Any) -> None:
        """Set all; follows ``cudnnSetOpTensorDescriptor``."""
        op = enumerator(raw.cudnnOpTensorOp_t, op, "op")
        nan_propagation = enumerator(raw.cudnnNanPropagation_t, nan_propagation, "nan_propagation")
        raw.cudnnSetOpTensorDescriptor(self, op, as_data_type(compute_type), nan_propagation)

    @property
    def op(self) -> raw.cudnnOpTensorOp_t:
        """Which operation."""
        return self._record(OpTensor).op

    @property
    def compute_type(self) -> raw.cudnnDataType_t:
        """What it is computed in."""
        return self._record(OpTensor).compute_type

    @property
    def nan_propagation(self) -> raw.cudnnNanPropagation_t:
        """Whether the minimum or maximum with NaN is NaN."""
        return self._record(OpTensor).nan_propagation


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
        Of the shape of a; may be a. Left out: made, in the layout of a.
    alpha1, alpha2, beta : float
        Factors; with beta = 0 what c held is not read.
    data_type : data type, optional
        Of c, if c is not given; default: that of a.
    a_desc, b_desc, c_desc : TensorDescriptor, optional
        How the memory is to be read; needed for addresses and buffers.

    Returns
    -------
    DeviceTensor, or c as it was given

    Raises
    ------
    TypeError
        If an operand is host memory or has no shape.
    ValueError
        If shapes do not fit together, or memory is too small; the message names the argument.
    NotSupportedError
        If cuDNN has no kernel for the combination of types.

    Examples
    --------
    >>> total = op_tensor(handle, a, b, "add")  # doctest: +SKIP
    """
    with Operands(handle, a=(a, a_desc), b=(b, b_desc), c=(c, c_desc)) as operands:
        a_memory, a_desc = operands.tensor("a")
        op = _described(operands, op, a_desc.data_type)
        if c is None:
            c = operands.make_like("c", "a", beta=beta, data_type=data_type)
        c_memory, c_desc = operands.tensor("c")
        check_same("a", a_desc, "c", c_desc, types=False)
        b_name = "b"
        if b is None:
            if op.op not in _OF_ONE_OPERAND:
                raise ValueError(f"b: needed for {short_name(op.op)}")
            # C has the parameter also where it is not read.
            b_name, b_memory, b_desc = "a", a_memory, a_desc
        elif b_desc is None and getattr(b, "ndim", 0) == 1:
            b_memory, b_desc = operands.channels("b", a_desc.shape)
        else:
            b_memory, b_desc = operands.tensor("b")
        check_broadcast("b", b_desc, "a", a_desc)
        compute_type = op.compute_type
        launch(
            raw.cudnnOpTensor,
            handle,
            op,
            host_scalar(alpha1, compute_type),
            a_desc,
            check_memory("a", a_memory, a_desc, handle),
            host_scalar(alpha2, compute_type),
            b_desc,
            check_memory(b_name, b_memory, b_desc, handle),
            host_scalar(beta, compute_type),
            c_desc,
            check_memory("c", c_memory, c_desc, handle, written=True),
        )
    return c


def _described(
    operands: Operands, op: OpTensorDescriptor | str, data_type: raw.cudnnDataType_t
) -> OpTensorDescriptor:
    """`op` as a descriptor, which is closed with the operands if it is made here."""
    if isinstance(op, str):
        compute_type = "float64" if data_type == raw.CUDNN_DATA_DOUBLE else "float32"
        return operands.enter_context(OpTensorDescriptor(op, compute_type=compute_type))
    return expect("op", op, OpTensorDescriptor)
