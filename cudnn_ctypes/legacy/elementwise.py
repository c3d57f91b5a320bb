"""Element-wise operations on one or two tensors: add, multiply, minimum, maximum, root, not."""

from __future__ import annotations

from typing import Any

from .. import raw
from ..arguments import enumerator, short_name
from ..dtypes import as_data_type
from ..handle import Handle
from ..raw.descriptors import OpTensor
from .descriptor import Descriptor, read_back
from .documentation import launched
from .operand_memory import accumulator
from .operands import Made, Operands
from .tensor import TensorDescriptor

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
        op = enumerator(raw.cudnnOpTensorOp_t, op, "op")
        nan_propagation = enumerator(raw.cudnnNanPropagation_t, nan_propagation, "nan_propagation")
        raw.cudnnSetOpTensorDescriptor(self, op, as_data_type(compute_data_type), nan_propagation)

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
