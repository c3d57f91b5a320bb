"""Tensors and filters padded, folded and laid out anew, as a transform descriptor says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from ctypes import c_size_t
from typing import Any

from .. import raw
from ..arguments import enumerator, expect, integers
from ..handle import Handle
from ..raw import operand_rules
from ..raw.descriptors import TensorTransform
from ..raw.faults.calls import folds_other_layouts, unfolds_partial_blocks
from ..raw.operand_rules import refuse
from ..raw.operand_rules.language import equal, shaped
from ..raw.records import record
from .descriptor import Descriptor, read_back
from .documentation import launched
from .layouts import as_format
from .operand_memory import refuse_beta
from .operands import AnyDescriptor, Made, Operands
from .tensor import FilterDescriptor, TensorDescriptor


class TensorTransformDescriptor(Descriptor[raw.cudnnTensorTransformDescriptor_t]):
    """Padding, folding and a new layout; follows ``cudnnSetTensorTransformDescriptor``.

    Parameters
    ----------
    pad_before, pad_after : sequence of int, optional
        Elements added on both sides of each dimension, (N, C, spatial...); negative ones crop.
        Default: not set yet.
    fold : sequence of int, optional
        Pixels along each spatial dimension that become channels of one pixel; default: 1.
    direction : cudnnFoldingDirection_t or str
        "fold", or "unfold" for the way back.
    layout : {"NCHW", "NHWC"} or cudnnTensorFormat_t
        Of the result.

    Examples
    --------
    >>> padding = TensorTransformDescriptor((0, 0, 1, 1), (0, 0, 1, 1))
    >>> padding.destination(TensorDescriptor((1, 3, 8, 8))).shape
    (1, 3, 10, 10)
    """

    def __init__(
        self,
        pad_before: Sequence[int] | None = None,
        pad_after: Sequence[int] | None = None,
        *,
        fold: Sequence[int] | None = None,
        direction: Any = "fold",
        layout: Any = "NCHW",
    ) -> None:
        super().__init__(raw.cudnnTensorTransformDescriptor_t())
        with self._closed_on_error():
            if pad_before is not None:
                pad_before = integers("pad_before", pad_before)
                pad_after = (0,) * len(pad_before) if pad_after is None else pad_after
                fold = (1,) * (len(pad_before) - 2) if fold is None else fold
                self.set(layout, pad_before, pad_after, fold, direction)
            elif pad_after is not None or fold is not None:
                raise ValueError("pad_before: needed with pad_after or fold")

    def set(
        self,
        layout: Any,
        pad_before: Sequence[int],
        pad_after: Sequence[int],
        fold: Sequence[int],
        direction: Any,
    ) -> None:
        """Set all; follows ``cudnnSetTensorTransformDescriptor``."""
        pad_before = integers("pad_before", pad_before)
        pad_after, fold = integers("pad_after", pad_after), integers("fold", fold)
        ndim = len(pad_before)
        if len(pad_after) != ndim or len(fold) != ndim - 2:
            raise ValueError(
                f"{ndim} entries of pad_before need {ndim} of pad_after, got {len(pad_after)}, and "
                f"{ndim - 2} of fold, got {len(fold)}"
            )
        direction = enumerator(raw.cudnnFoldingDirection_t, direction, "direction")
        raw.cudnnSetTensorTransformDescriptor(
            self, ndim, as_format(layout), pad_before, pad_after, fold, direction
        )

    pad_before: tuple[int, ...] = read_back(
        TensorTransform, "Elements added before each dimension; negative ones crop."
    )
    pad_after: tuple[int, ...] = read_back(
        TensorTransform, "Elements added after each dimension; negative ones crop."
    )
    fold: tuple[int, ...] = read_back(
        TensorTransform, "Pixels along each spatial dimension that become channels."
    )
    direction: raw.cudnnFoldingDirection_t = read_back(TensorTransform, "Folding, or the way back.")
    format: raw.cudnnTensorFormat_t = read_back(
        TensorTransform, "Layout of the result, as cuDNN names it."
    )

    def _arguments(self) -> dict[str, Any]:
        arguments = self._held()
        if arguments:
            arguments["layout"] = arguments.pop("format")
        return arguments

    # -- what it makes -------------------------------------------------------------------------

    def destination(self, x_desc: TensorDescriptor) -> TensorDescriptor:
        """A new descriptor of x transformed, dense in `format`; ``cudnnInitTransformDest``.

        Raises
        ------
        BadParamError
            If nothing is left of a dimension.
        NotSupportedError
            For more than 5 dimensions, and layouts other than NCHW and NHWC.
        """
        descriptor = TensorDescriptor()
        with descriptor._closed_on_error():
            raw.cudnnInitTransformDest(self, x_desc, descriptor, c_size_t())
        return descriptor


@launched
def transform_tensor_ex(
    handle: Handle,
    x: Any,
    transform: TensorTransformDescriptor,
    y: Made | None = None,
    *,
    alpha: float = 1,
    beta: float = 0,
    x_desc: TensorDescriptor | None = None,
    y_desc: TensorDescriptor | None = None,
) -> Made:
    """y = alpha * transform(x) + beta * y; follows ``cudnnTransformTensorEx``.

    Unfolding to more channels than there are, by `pad_after`, cuDNN 9.14 and 9.19 take other
    channels of x than the reference device; factors other than 1 and 0 are for packed NCHW tensors.

    Parameters
    ----------
    x : tensor
        Of as many dimensions as the transform has.
    y : tensor, optional
        Of the shape of `TensorTransformDescriptor.destination`. Default: allocated.

    Examples
    --------
    >>> x = DeviceTensor.full((1, 1, 2, 2), 1, "float32")
    >>> with Handle() as handle, TensorTransformDescriptor((0, 0, 1, 1), (0, 0, 0, 0)) as transform:
    ...     y = transform_tensor_ex(handle, x, transform)
    >>> y.numpy()[0, 0]
    array([[0., 0., 0.],
           [0., 1., 1.],
           [0., 1., 1.]], dtype=float32)
    """
    with Operands(handle, x=(x, x_desc), y=(y, y_desc)) as operands:
        x_desc = operands.describe("x")
        return _transform(raw.cudnnTransformTensorEx, operands, x_desc, transform, y, alpha, beta)


@launched
def transform_filter(
    handle: Handle,
    w: Any,
    transform: TensorTransformDescriptor,
    y: Made | None = None,
    *,
    alpha: float = 1,
    beta: float = 0,
    w_desc: FilterDescriptor | None = None,
    y_desc: FilterDescriptor | None = None,
) -> Made:
    """y = alpha * transform(w) + beta * y for filters; follows ``cudnnTransformFilter``.

    Parameters
    ----------
    w : tensor
        (K, C, filter sizes...), dense.
    y : tensor, optional
        The transformed filters, in the layout of the transform. Default: allocated.

    The other parameters, and the errors, are those of `transform_tensor_ex`.

    Examples
    --------
    >>> w = DeviceTensor.from_numpy(np.array([1, 2], "float32").reshape(1, 1, 1, 2))
    >>> with Handle() as handle, TensorTransformDescriptor((0, 0, 0, 1), (0, 0, 0, 1)) as padding:
    ...     y = transform_filter(handle, w, padding)
    >>> y.numpy().ravel()
    array([0., 1., 2., 0.], dtype=float32)
    """
    with Operands(handle, w=(w, w_desc), y=(y, y_desc)) as operands:
        w_desc = operands.describe_filter("w")
        return _transform(raw.cudnnTransformFilter, operands, w_desc, transform, y, alpha, beta)


def _transform(
    function: Callable[..., Any],
    operands: Operands,
    x_desc: AnyDescriptor,
    transform: TensorTransformDescriptor,
    y: Made | None,
    alpha: float,
    beta: float,
) -> Made:
    """Launch with the tensor x, or the filters w, which `x_desc` describes; returns y."""
    expect("transform", transform, TensorTransformDescriptor)
    is_filter = isinstance(x_desc, FilterDescriptor)
    name, ndim = "w" if is_filter else "x", len(transform.pad_before)
    if len(x_desc.shape) != ndim:
        raise ValueError(
            f"{name}: expected {ndim} dimensions, those of the transform, got shape {x_desc.shape}"
        )
    if isinstance(x_desc, TensorDescriptor):
        source = x_desc
    else:
        like_w = TensorDescriptor(x_desc.shape, x_desc.data_type, layout=x_desc.layout)
        source = operands.enter_context(like_w)
    descriptor = operands.enter_context(transform.destination(source))
    if y is None:
        refuse_beta("y", beta)
        y = operands.make("y", descriptor.shape, descriptor.data_type, layout=descriptor.layout)
    # Where the strides fit two layouts, the transform says which one.
    operands.layout = descriptor.layout
    y_desc = operands.describe_filter("y") if is_filter else operands.describe("y")
    destination = operand_rules.Operand("y", record(y_desc))
    refuse(shaped(destination, descriptor.shape, f"that of {name} transformed"))
    refuse(equal("data_type", operand_rules.Operand(name, record(x_desc)), destination))
    records = [record(each) for each in (transform, x_desc, y_desc)]
    if not is_filter and (folds_other_layouts(*records) or unfolds_partial_blocks(*records)):
        name = operands.packed(name)
    source_and_destination = {"srcDesc": name, "srcData": name, "destDesc": "y", "destData": "y"}
    operands.launch(function, transDesc=transform, alpha=alpha, beta=beta, **source_and_destination)
    return y
