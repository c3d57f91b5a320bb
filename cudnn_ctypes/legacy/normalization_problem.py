"""What the normalization functions have in common: mode, algorithm, descriptors and sizes."""

from __future__ import annotations

from ctypes import c_size_t
from typing import Any

from .. import raw
from ..handle import Handle
from .activation import ActivationDescriptor
from .enumerators import enumerator
from .normalization_operands import NormalizationOperands, NormalizationSizes
from .operands import expect
from .tensor import TensorDescriptor

__all__ = ["NormalizationProblem", "derive_norm_tensor_descriptor", "normalization_sizes"]


def derive_norm_tensor_descriptor(
    x_desc: TensorDescriptor, mode: Any = "per_channel", *, groups: int = 1
) -> tuple[TensorDescriptor, TensorDescriptor]:
    """The descriptors of scale and bias, and of mean and variance.

    Follows ``cudnnDeriveNormTensorDescriptor``.

    Parameters
    ----------
    x_desc : TensorDescriptor
    mode : cudnnNormMode_t or str
        "per_activation" or "per_channel".
    groups : int
        1; cuDNN has the argument for the future.

    Examples
    --------
    >>> scale_bias, mean_variance = derive_norm_tensor_descriptor(TensorDescriptor((8, 3, 4, 4)))
    >>> scale_bias.shape
    (1, 3, 1, 1)
    """
    expect("x_desc", x_desc, TensorDescriptor)
    mode = enumerator(raw.cudnnNormMode_t, mode, "mode")
    params = TensorDescriptor()
    with params._closed_on_error():
        statistics = TensorDescriptor()
        with statistics._closed_on_error():
            raw.cudnnDeriveNormTensorDescriptor(params, statistics, x_desc, mode, groups)
    return params, statistics


def normalization_sizes(
    handle: Handle,
    x_desc: TensorDescriptor,
    *,
    mode: Any = "per_channel",
    algorithm: Any = "standard",
    activation: ActivationDescriptor | str | None = None,
    adds: bool = False,
    groups: int = 1,
) -> NormalizationSizes:
    """Bytes of workspace and reserve space.

    Follows ``cudnnGetNormalizationForwardTrainingWorkspaceSize``,
    ``cudnnGetNormalizationBackwardWorkspaceSize`` and
    ``cudnnGetNormalizationTrainingReserveSpaceSize``. The parameters are those of
    `batch_normalization_ex_sizes` and of `normalization_forward_inference`.
    """
    with NormalizationProblem(handle, mode, algorithm, groups, x=(None, x_desc)) as operands:
        operands.follow(activation, adds)
        operands.describe_parameters(None, None)
        z_desc = x_desc if adds else None
        return NormalizationSizes(
            operands.forward_workspace_size(x_desc, z_desc),
            operands.backward_workspace_size(x_desc, x_desc, z_desc, x_desc),
            operands.reserve_size(),
        )


class NormalizationProblem(NormalizationOperands):
    """The operands of one call, and what the C functions are told besides.

    Parameters
    ----------
    mode, algorithm, groups
        As the user gave them.

    Attributes
    ----------
    how : tuple of enumerators
        Mode, operation and algorithm; complete after `follow`.
    activation : ActivationDescriptor or None
    """

    def __init__(
        self,
        handle: Handle,
        mode: Any,
        algorithm: Any,
        groups: int,
        **operands: tuple[Any, TensorDescriptor | None],
    ) -> None:
        self._mode = enumerator(raw.cudnnNormMode_t, mode, "mode")
        self._algorithm = enumerator(raw.cudnnNormAlgo_t, algorithm, "algorithm")
        self._groups = groups
        super().__init__(handle, **operands)

    def follow(self, activation: Any, adds: bool) -> None:
        """Say what follows the normalization."""
        self.activation, operation = self.follow_up(raw.cudnnNormOps_t, activation, adds)
        self.how = (self._mode, operation, self._algorithm)

    def describe_parameters(
        self, scale_bias_desc: TensorDescriptor | None, mean_variance_desc: TensorDescriptor | None
    ) -> tuple[TensorDescriptor, TensorDescriptor]:
        """The parameters' descriptors: those given, which must have the derived shapes."""
        params, statistics = derive_norm_tensor_descriptor(
            self.tensor("x")[1], self._mode, groups=self._groups
        )
        self.enter_context(params)
        self.enter_context(statistics)
        self.params = self.as_derived("scale_bias_desc", scale_bias_desc, params)
        self.statistics = self.as_derived("mean_variance_desc", mean_variance_desc, statistics)
        return self.params, self.statistics

    @property
    def data_type(self) -> raw.cudnnDataType_t:
        """Of x, which decides the type of alpha and beta."""
        return self.tensor("x")[1].data_type

    # -- sizes ---------------------------------------------------------------------------------

    def forward_workspace_size(
        self, y_desc: TensorDescriptor, z_desc: TensorDescriptor | None
    ) -> int:
        """Follows ``cudnnGetNormalizationForwardTrainingWorkspaceSize``."""
        size = c_size_t()
        raw.cudnnGetNormalizationForwardTrainingWorkspaceSize(
            self._handle,
            *self.how,
            self.tensor("x")[1],
            z_desc,
            y_desc,
            self.params,
            self.activation,
            self.statistics,
            size,
            self._groups,
        )
        return size.value

    def backward_workspace_size(
        self,
        y_desc: TensorDescriptor,
        dy_desc: TensorDescriptor,
        dz_desc: TensorDescriptor | None,
        dx_desc: TensorDescriptor,
    ) -> int:
        """Follows ``cudnnGetNormalizationBackwardWorkspaceSize``."""
        size = c_size_t()
        raw.cudnnGetNormalizationBackwardWorkspaceSize(
            self._handle,
            *self.how,
            self.tensor("x")[1],
            y_desc,
            dy_desc,
            dz_desc,
            dx_desc,
            self.params,
            self.activation,
            self.statistics,
            size,
            self._groups,
        )
        return size.value

    def reserve_size(self) -> int:
        """Follows ``cudnnGetNormalizationTrainingReserveSpaceSize``."""
        size = c_size_t()
        raw.cudnnGetNormalizationTrainingReserveSpaceSize(
            self._handle, *self.how, self.activation, self.tensor("x")[1], size, self._groups
        )
        return size.value
