"""The dictionaries of enumerators by name."""

from __future__ import annotations

from .... import raw
from ..v7 import enums

__all__ = ["DICTIONARIES"]

_ENUMS = (
    *("cudnnActivationMode", "cudnnConvolutionMode", "cudnnConvolutionFwdAlgo"),
    *("cudnnConvolutionBwdDataAlgo", "cudnnConvolutionBwdFilterAlgo", "cudnnDataType"),
    *("cudnnNanPropagation", "cudnnPoolingMode", "cudnnSoftmaxAlgorithm", "cudnnSoftmaxMode"),
    "cudnnTensorFormat",
)
_OLD_ENUMS = (
    *("cudnnAddMode", "cudnnConvolutionFwdPreference", "cudnnConvolutionBwdDataPreference"),
    "cudnnConvolutionBwdFilterPreference",
)

DICTIONARIES: dict[str, dict[str, int]] = {
    name: {each: int(member) for each, member in getattr(home, f"{name}_t").__members__.items()}
    for home, names in ((raw, _ENUMS), (enums, _OLD_ENUMS))
    for name in names
}
DICTIONARIES["cudnnPoolingMode"]["CUDNN_POOLING_AVERAGE"] = int(
    raw.CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING
)
