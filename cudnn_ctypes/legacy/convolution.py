"""``ConvolutionDescriptor``: how a filter moves over an image."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import raw
from ..raw import operand_rules
from ..raw.descriptors import Convolution
from .descriptor import Descriptor, answer, read_back
from .layouts import spatial_entries
from .tensor import FilterDescriptor, TensorDescriptor


class ConvolutionDescriptor(Descriptor[raw.cudnnConvolutionDescriptor_t]):
    """How filters move over images; follows ``cudnnSetConvolutionNdDescriptor``.

    Parameters
    ----------
    padding, stride, dilation : int or sequence of int
        One entry for each spatial dimension; an int stands for all of them. Padding is on both
        sides. The number of spatial dimensions is that of the sequences, or 2. cuDNN has no kernels
        for 1 spatial dimension: it is made 2 with a height of 1, and so do the operations with
        tensors (N, C, W).
    groups : int
        Group g of the filters sees only group g of the input channels.
    mode : cudnnConvolutionMode_t or str
        "cross_correlation" (what deep learning calls convolution), or "convolution", which flips
        the filters.
    compute_data_type : data type
        What products are summed in: float64 for float64 tensors, int32 for int8, else float32.
    math_type : cudnnMathType_t or str
        "default_math", which includes TF32 for float32 on GPUs that have it; "tensor_op_math";
        "tensor_op_math_allow_conversion", which may round float32 down to use tensor cores;
        "fma_math", which forbids them.
    reorder_type : cudnnReorderType_t or str
        "default_reorder", or "no_reorder" for int8x32 filters that were reordered before.

    Raises
    ------
    BadParamError
        If cuDNN refuses: a zero stride or dilation, negative padding.
    ValueError
        If the numbers of spatial dimensions differ.

    Examples
    --------
    >>> conv = ConvolutionDescriptor(padding=1, stride=(2, 1))
    >>> x, w = TensorDescriptor((1, 3, 8, 8)), FilterDescriptor((16, 3, 3, 3))
    >>> conv.output_shape(x, w)
    (1, 16, 4, 8)
    """

    def __init__(
        self,
        padding: int | Sequence[int] = 0,
        stride: int | Sequence[int] = 1,
        dilation: int | Sequence[int] = 1,
        *,
        groups: int = 1,
        mode: Any = "cross_correlation",
        compute_data_type: Any = "float32",
        math_type: Any = "default_math",
        reorder_type: Any = "default_reorder",
    ) -> None:
        super().__init__(raw.cudnnConvolutionDescriptor_t())
        with self._closed_on_error():
            padding, stride, dilation = spatial_entries(
                {"padding": padding, "stride": stride, "dilation": dilation},
                {"padding": 0, "stride": 1, "dilation": 1},
            )
            self.set_nd(padding, stride, dilation, mode, compute_data_type)
            self.groups = groups
            self.math_type = math_type
            self.reorder_type = reorder_type

    # -- setting, as C does --------------------------------------------------------------------

    def set_2d(
        self,
        pad_h: int,
        pad_w: int,
        u: int,
        v: int,
        dilation_h: int,
        dilation_w: int,
        mode: Any,
        compute_data_type: Any,
    ) -> None:
        """Set 2 spatial dimensions; follows ``cudnnSetConvolution2dDescriptor``.

        Groups, math type and reorder type stay.

        Parameters
        ----------
        pad_h, pad_w : int
            Zeros above and below, left and right of the image.
        u, v : int
            Strides over height and width.
        dilation_h, dilation_w : int
            Distances between the taps of a filter.
        """
        self._set_by(raw.cudnnSetConvolution2dDescriptor, locals())

    def set_nd(
        self,
        padding: Sequence[int],
        stride: Sequence[int],
        dilation: Sequence[int],
        mode: Any,
        compute_data_type: Any,
    ) -> None:
        """Set any number of spatial dimensions; follows ``cudnnSetConvolutionNdDescriptor``.

        Groups, math type and reorder type stay.
        """
        self._set_by(raw.cudnnSetConvolutionNdDescriptor, locals())

    # -- reading back --------------------------------------------------------------------------

    def get_2d(self) -> dict[str, Any]:
        """The arguments of `set_2d`, by name; follows ``cudnnGetConvolution2dDescriptor``."""
        return self._arguments_of(self.set_2d, raw.cudnnGetConvolution2dDescriptor)

    padding: tuple[int, ...] = read_back(
        Convolution, "Zeros on both sides of each spatial dimension."
    )
    stride: tuple[int, ...] = read_back(
        Convolution, "Step of the filter along each spatial dimension."
    )
    dilation: tuple[int, ...] = read_back(
        Convolution, "Distance of the filter's taps along each spatial dimension."
    )
    mode: raw.cudnnConvolutionMode_t = read_back(Convolution, "Convolution or cross-correlation.")
    compute_data_type: raw.cudnnDataType_t = read_back(Convolution, "What products are summed in.")

    groups: int = read_back(
        Convolution,
        "Number of groups; follows ``cudnnSetConvolutionGroupCount``.",
        raw.cudnnSetConvolutionGroupCount,
    )
    math_type: raw.cudnnMathType_t = read_back(
        Convolution,
        "Whether tensor cores may be used; follows ``cudnnSetConvolutionMathType``.",
        raw.cudnnSetConvolutionMathType,
    )
    reorder_type: raw.cudnnReorderType_t = read_back(
        Convolution,
        "Whether int8x32 filters are still to be reordered; ``cudnnSetConvolutionReorderType``.",
        raw.cudnnSetConvolutionReorderType,
    )

    # -- what it makes -------------------------------------------------------------------------

    def output_shape(self, x_desc: TensorDescriptor, w_desc: FilterDescriptor) -> tuple[int, ...]:
        """The shape of y, (N, K, output sizes...).

        Follows ``cudnnGetConvolutionNdForwardOutputDim``, and
        ``cudnnGetConvolution2dForwardOutputDim`` for 2 spatial dimensions.

        Raises
        ------
        ValueError
            If x, w and this convolution do not fit together; the message says in what.
        """
        operand_rules.check(
            raw.cudnnGetConvolutionNdForwardOutputDim,
            {"convDesc": self, "inputTensorDesc": x_desc, "filterDesc": w_desc},
            {"inputTensorDesc": "x", "filterDesc": "w"},
        )
        given, ndim = (self, x_desc, w_desc), len(x_desc.shape)
        if ndim == 4:
            return tuple(answer(raw.cudnnGetConvolution2dForwardOutputDim, *given))
        return tuple(answer(raw.cudnnGetConvolutionNdForwardOutputDim, *given, ndim))
