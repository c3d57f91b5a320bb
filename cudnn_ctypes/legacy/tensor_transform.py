"""``TensorTransformDescriptor``: padding a tensor, and folding its pixels into channels."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import c_size_t
from typing import Any

from .. import raw
from ..arguments import integers
from ..raw.descriptors import TensorTransform
from .descriptor import Descriptor, read_back
from .enumerators import enumerator
from .layouts import as_format
from .tensor import TensorDescriptor

__all__ = ["TensorTransformDescriptor"]


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
