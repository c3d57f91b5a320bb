"""``ActivationDescriptor``: an activation function and its coefficient."""

from __future__ import annotations

from ctypes import c_double
from typing import Any

from .. import raw
from .descriptor import Descriptor
from .enumerators import enumerator

__all__ = ["ActivationDescriptor"]


class ActivationDescriptor(Descriptor):
    """An activation function; follows ``cudnnSetActivationDescriptor``.

    Parameters
    ----------
    mode : cudnnActivationMode_t or str
        "relu", "identity", "sigmoid", "tanh", "clipped_relu", "elu" or "swish".
    nan_propagation : cudnnNanPropagation_t or str
        "not_propagate_nan" or "propagate_nan".
    coef : float
        The ceiling of clipped ReLU, the alpha of ELU; the other functions ignore it.
    swish_beta : float
        The beta of swish, x * sigmoid(beta * x).

    Examples
    --------
    >>> ActivationDescriptor("clipped_relu", coef=6.0).coef
    6.0
    """

    def __init__(
        self,
        mode: Any = "relu",
        *,
        nan_propagation: Any = "not_propagate_nan",
        coef: float = 0.0,
        swish_beta: float = 1.0,
    ) -> None:
        super().__init__(
            raw.cudnnActivationDescriptor_t(),
            raw.cudnnCreateActivationDescriptor,
            raw.cudnnDestroyActivationDescriptor,
        )
        with self._closed_on_error():
            self.set(mode, nan_propagation, coef)
            self.swish_beta = swish_beta

    def set(self, mode: Any, nan_propagation: Any, coef: float) -> None:
        """Set all but beta; follows ``cudnnSetActivationDescriptor``."""
        mode = enumerator(raw.cudnnActivationMode_t, mode, "mode")
        nan_propagation = enumerator(raw.cudnnNanPropagation_t, nan_propagation, "nan_propagation")
        raw.cudnnSetActivationDescriptor(self, mode, nan_propagation, coef)

    def _read(self) -> tuple[raw.cudnnActivationMode_t, raw.cudnnNanPropagation_t, float]:
        mode = raw.cudnnActivationMode_t.variable()
        nan_propagation, coef = raw.cudnnNanPropagation_t.variable(), c_double()
        raw.cudnnGetActivationDescriptor(self, mode, nan_propagation, coef)
        return mode.value, nan_propagation.value, coef.value

    @property
    def mode(self) -> raw.cudnnActivationMode_t:
        """Which function."""
        return self._read()[0]

    @property
    def nan_propagation(self) -> raw.cudnnNanPropagation_t:
        """What ReLU does with NaN."""
        return self._read()[1]

    @property
    def coef(self) -> float:
        """The ceiling of clipped ReLU, the alpha of ELU."""
        return self._read()[2]

    @property
    def swish_beta(self) -> float:
        """The beta of swish; follows ``cudnnSetActivationDescriptorSwishBeta``."""
        beta = c_double()
        raw.cudnnGetActivationDescriptorSwishBeta(self, beta)
        return beta.value

    @swish_beta.setter
    def swish_beta(self, beta: float) -> None:
        raw.cudnnSetActivationDescriptorSwishBeta(self, beta)

    def _held(self) -> dict[str, Any]:
        mode, nan_propagation, coef = self._read()
        return {
            "mode": mode,
            "nan_propagation": nan_propagation,
            "coef": coef,
            "swish_beta": self.swish_beta,
        }
