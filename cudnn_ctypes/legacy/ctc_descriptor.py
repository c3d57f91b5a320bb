"""``CTCLossDescriptor``: the options of the CTC loss."""

from __future__ import annotations

from typing import Any

from .. import raw
from ..dtypes import as_data_type
from ..raw.descriptors import CTCLoss
from .descriptor import Descriptor, read_back
from .enumerators import enumerator

__all__ = ["CTCLossDescriptor"]


class CTCLossDescriptor(Descriptor[raw.cudnnCTCLossDescriptor_t]):
    """The options of the CTC loss; follows ``cudnnSetCTCLossDescriptor_v9``.

    cuDNN keeps the gradient mode in the place of what used to be called NaN propagation: setting
    one sets the other. Propagate is skip, do not propagate is zero.

    Parameters
    ----------
    compute_data_type : data type
        float32 or float64, that of the probabilities too.
    normalization : cudnnLossNormalizationMode_t or str
        "softmax": the input is activations, and the loss takes their softmax; "none": the input is
        probabilities. Gradients are by the activations both times.
    gradient_mode : cudnnCTCGradMode_t or str
        For samples with too few time steps for their labels (out of bounds): "zero_oob_gradients"
        writes zeros, "skip_oob_gradients" leaves what is there.
    max_label_length : int
        The longest labels that `ctc_loss_v8` will be given, at most 255, and at least 5, or 3 for
        float64, however short they are; `ctc_loss` does not read it.

    Raises
    ------
    NotSupportedError
        For another compute type.

    Examples
    --------
    >>> CTCLossDescriptor(gradient_mode="skip_oob_gradients").nan_propagation
    cudnnNanPropagation_t.CUDNN_PROPAGATE_NAN
    """

    def __init__(
        self,
        compute_data_type: Any = "float32",
        *,
        normalization: Any = "softmax",
        gradient_mode: Any = "zero_oob_gradients",
        max_label_length: int = 0,
    ) -> None:
        super().__init__(raw.cudnnCTCLossDescriptor_t())
        with self._closed_on_error():
            self.set_v9(compute_data_type, normalization, gradient_mode, max_label_length)

    # -- setting, as C does --------------------------------------------------------------------

    def set(self, compute_data_type: Any) -> None:
        """Set the compute type, and normalization "none"; follows ``cudnnSetCTCLossDescriptor``.

        What else cuDNN holds becomes 0.
        """
        raw.cudnnSetCTCLossDescriptor(self, as_data_type(compute_data_type))

    def set_ex(self, compute_data_type: Any, normalization: Any, nan_propagation: Any) -> None:
        """Set all but the longest labels; follows ``cudnnSetCTCLossDescriptorEx``.

        What else cuDNN holds becomes 0.

        Parameters
        ----------
        nan_propagation : cudnnNanPropagation_t or str
            "not_propagate_nan" or "propagate_nan": the gradient mode by its earlier name.
        """
        raw.cudnnSetCTCLossDescriptorEx(
            self,
            as_data_type(compute_data_type),
            enumerator(raw.cudnnLossNormalizationMode_t, normalization, "normalization"),
            enumerator(raw.cudnnNanPropagation_t, nan_propagation, "nan_propagation"),
        )

    def set_v8(
        self,
        compute_data_type: Any,
        normalization: Any,
        nan_propagation: Any,
        max_label_length: int,
    ) -> None:
        """Set everything; follows ``cudnnSetCTCLossDescriptor_v8``.

        Parameters
        ----------
        nan_propagation : cudnnNanPropagation_t or str
            "not_propagate_nan" or "propagate_nan": the gradient mode by its earlier name.
        """
        raw.cudnnSetCTCLossDescriptor_v8(
            self,
            as_data_type(compute_data_type),
            enumerator(raw.cudnnLossNormalizationMode_t, normalization, "normalization"),
            enumerator(raw.cudnnNanPropagation_t, nan_propagation, "nan_propagation"),
            max_label_length,
        )

    def set_v9(
        self, compute_data_type: Any, normalization: Any, gradient_mode: Any, max_label_length: int
    ) -> None:
        """Set everything; follows ``cudnnSetCTCLossDescriptor_v9``."""
        raw.cudnnSetCTCLossDescriptor_v9(
            self,
            as_data_type(compute_data_type),
            enumerator(raw.cudnnLossNormalizationMode_t, normalization, "normalization"),
            enumerator(raw.cudnnCTCGradMode_t, gradient_mode, "gradient_mode"),
            max_label_length,
        )

    # -- reading back --------------------------------------------------------------------------

    compute_data_type: raw.cudnnDataType_t = read_back(CTCLoss, "What is computed in.")
    normalization: raw.cudnnLossNormalizationMode_t = read_back(
        CTCLoss, "Whether the input is activations."
    )
    gradient_mode: raw.cudnnCTCGradMode_t = read_back(
        CTCLoss, "What becomes of gradients out of bounds."
    )

    @property
    def nan_propagation(self) -> raw.cudnnNanPropagation_t:
        """The gradient mode by its earlier name."""
        return raw.cudnnNanPropagation_t(int(self.gradient_mode))

    max_label_length: int = read_back(CTCLoss, "The longest labels that `ctc_loss_v8` takes.")
