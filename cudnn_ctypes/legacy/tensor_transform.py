"""``TensorTransformDescriptor``: padding a tensor, and folding its pixels into channels."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import c_int32, c_size_t, c_uint32
from typing import Any

from .. import raw
from .descriptor import Descriptor
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
        Left out: not set yet.
    fold : sequence of int, optional
        Pixels along each spatial dimension that become channels of one pixel; default: 1.
    direction : cudnnFoldingDirection_t or str
        "fold", or "unfold" for the way back.
    layout : {"NCHW", "NHWC"} or cudnnTensorFormat_t
        Of the result.
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
        super().__init__(
            raw.cudnnTensorTransformDescriptor_t(),
            raw.cudnnCreateTensorTransformDescriptor,
            raw.cudnnDestroyTensorTransformDescriptor,
        )
        self._ndim = 0
        with self._closed_on_error():
            if pad_before is not None:
                pad_after = (0,) * len(pad_before) if pad_after is None else pad_after
                fold = (1,) * (len(pad_before) - 2) if fold is None else fold
                self.set(layout, pad_before, pad_after, fold, direction)
            elif pad_after is not None or fold is not None:
                raise ValueError("pad_before: needed with pad_after or fold")

    @classmethod
    def unset(cls, ndim: int) -> TensorTransformDescriptor:
        """A descriptor that cuDNN will set itself, for tensors of `ndim` dimensions."""
        made = cls()
        made._ndim = ndim
        return made

    def set(
        self,
        layout: Any,
        pad_before: Sequence[int],
        pad_after: Sequence[int],
        fold: Sequence[int],
        direction: Any,
    ) -> None:
        """Set all; follows ``cudnnSetTensorTransformDescriptor``."""
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
        self._ndim = ndim

    def _held(self) -> dict[str, Any]:
        ndim = self._ndim  # cuDNN does not give it back
        tensor_format = raw.cudnnTensorFormat_t()
        before, after = (c_int32 * ndim)(), (c_int32 * ndim)()
        fold = (c_uint32 * max(ndim - 2, 0))()
        direction = raw.cudnnFoldingDirection_t()
        raw.cudnnGetTensorTransformDescriptor(
            self, ndim, tensor_format, before, after, fold, direction
        )
        return {
            "pad_before": tuple(before),
            "pad_after": tuple(after),
            "fold": tuple(fold),
            "direction": direction.value,
            "layout": tensor_format.value,
        }

    def _arguments(self) -> dict[str, Any]:
        return self._held() if self._ndim else {}

    @property
    def pad_before(self) -> tuple[int, ...]:
        """Elements added before each dimension; negative ones crop."""
        pad: tuple[int, ...] = self._held()["pad_before"]
        return pad

    @property
    def pad_after(self) -> tuple[int, ...]:
        """Elements added after each dimension; negative ones crop."""
        pad: tuple[int, ...] = self._held()["pad_after"]
        return pad

    @property
    def fold(self) -> tuple[int, ...]:
        """Pixels along each spatial dimension that become channels."""
        fold: tuple[int, ...] = self._held()["fold"]
        return fold

    @property
    def direction(self) -> raw.cudnnFoldingDirection_t:
        """Folding, or the way back."""
        return raw.cudnnFoldingDirection_t(self._held()["direction"])

    @property
    def format(self) -> raw.cudnnTensorFormat_t:
        """Layout of the result, as cuDNN names it."""
        return raw.cudnnTensorFormat_t(self._held()["layout"])

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
        made = TensorDescriptor()
        with made._closed_on_error():
            raw.cudnnInitTransformDest(self, x_desc, made, c_size_t())
        return made
