"""What cuDNN leaves open: where two devices may differ, with the reason.

Of a call that breaks several rules both devices refuse it, and may tell of different ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

__all__ = ["FREEDOMS", "Freedom", "freedom"]


@dataclass(frozen=True)
class Freedom:
    """A difference that is no fault.

    Attributes
    ----------
    function : str
        A pattern of C names.
    kind : str
        "value", "number", "bits": of values returned through pointers, of numbers in memory, of
        two runs on the same device. "specials": of numbers, where an operand holds NaN or infinity.
        "overflow": of numbers, where an operand is large and sums are kept in HALF.
        "status": what the reference device and cuDNN return. "misuse": what cuDNN carries out
        though the reference device refuses it. "scratch": what one of them refuses.
    name : str
        A pattern of parameters, of both statuses, or of what was drawn wrong and its argument.
    reason : str
    """

    function: str
    kind: str
    name: str
    reason: str


_SIZES = "the size of scratch memory belongs to the implementation"
_ATOMICS = "atomic additions come in any order, so the lowest bits change from run to run"

_SPREADS = "how far NaN and infinity spread belongs to the algorithm"
_SPREADING = (
    *("cudnnConvolution*", "cudnnLRNCrossChannel*", "cudnnDivisiveNormalization*"),
    *("cudnnSpatialTfSampler*", "cudnnBatchNormalization*", "cudnnNormalization*"),
    *("cudnnOpTensor", "cudnnScaleTensor"),
)
_OVERFLOWS = "sums in HALF overflow on the way, in the order of the algorithm; 0 times that is NaN"
_OUTSIDE = "labels outside the alphabet or the memory, of which a GPU computes nonsense"
_CONVOLVING = ("cudnnConvolution*Forward",)
_UNSEEN = "cuDNN does not look at this descriptor, and takes the operand for what another one says"
_UNREAD: dict[str, str] = {
    "cudnnSpatialTfSampler*": "[xd]*Desc yDesc",
    "cudnnPoolingBackward": "d[xy]Desc",
    "cudnn*BatchNormalization*": "*bn*Desc *Bn*Desc zDesc",
    "cudnn*Normalization*": "norm*Desc *Norm*Desc zDesc",
    "cudnnTransform*": "srcDesc destDesc",
}
_PAIRED = "documented as both or neither; cuDNN carries out one without the other"
_SWISH = "SWISH may follow a norm, too, which is not documented"
_SCRATCH = "whether an algorithm needs scratch memory belongs to the implementation"
_SPACE = "the known fault of fused convolutions of few channels a group"
_ALIGNED = "addresses on the reference device are aligned otherwise"

FREEDOMS: tuple[Freedom, ...] = (
    *(
        Freedom("*", "value", name, _SIZES)
        for name in ("*orkspaceSize*", "*orkSpaceSize*", "*eserveSpaceSize*")
    ),
    Freedom("*WorkspaceSize*", "value", "sizeInBytes", _SIZES),
    Freedom("*ReserveSpaceSize", "value", "sizeInBytes", _SIZES),
    Freedom("cudnnDropoutGetStatesSize", "value", "sizeInBytes", "one state for each GPU thread"),
    Freedom("*Algorithm*", "value", "perfResults", "which algorithm is fastest, and its time"),
    Freedom("*Algorithm*", "value", "returnedAlgoCount", "how many algorithms a device has"),
    Freedom("cudnnDivisiveNormalization*", "number", "temp*", "scratch memory"),
    Freedom("cudnnConvolutionBackward*", "bits", "*", _ATOMICS),
    Freedom("cudnnSpatialTfSamplerBackward", "bits", "*", _ATOMICS),
    Freedom("cudnnPoolingBackward", "bits", "*", _ATOMICS + " (but max_deterministic)"),
    Freedom("cudnnCTCLoss*", "bits", "*", _ATOMICS + " (but the deterministic algorithm)"),
    Freedom("cudnnDropoutForward", "number", "y", "which elements are dropped"),
    Freedom("cudnnSpatialTfGridGeneratorBackward", "bits", "dtheta", _ATOMICS),
    *(Freedom(f"layer 2: {name}*", "bits", "*", _ATOMICS) for name in ("spatial", "convolution")),
    *(Freedom(f"graph: {name}", "bits", "*", _ATOMICS) for name in ("reduction", "convolution")),
    Freedom("layer 2: pooling backward", "bits", "*", _ATOMICS),
    *(Freedom(function, "specials", "*", _SPREADS) for function in _SPREADING),
    Freedom("cudnnConvolution*", "overflow", "*", _OVERFLOWS),
    Freedom("cudnnCTCLoss", "status", "BAD_PARAM SUCCESS", _OUTSIDE),
    Freedom("cudnnCTCLoss_v8", "status", "EXECUTION_FAILED SUCCESS", _OUTSIDE),
    Freedom("cudnn*Convolution*", "misuse", "dims *", "cuDNN goes by the channels, not the groups"),
    Freedom("cudnnGetCTCLossWorkspaceSize", "status", "SUCCESS BAD_PARAM", _OUTSIDE),
    Freedom("cudnnOpTensor", "misuse", "data type [ac]Desc", "factors of 0 take other types"),
    Freedom("layer 2: convolution fused", "status", "SUCCESS BAD_PARAM", _SPACE),
    Freedom("cudnnIm2Col", "status", "BAD_PARAM SUCCESS", "channels come from xDesc alone"),
    Freedom("cudnnFind*", "bits", "*", "the algorithm that ran last leaves its result"),
    Freedom("cudnnGetFoldedConv*", "status", "* SUCCESS", "cuDNN folds wrong what this is"),
    Freedom("cudnnReorderFilterAndBias", "status", "* SUCCESS", "filters of incomplete blocks"),
    Freedom("cudnnMakeFusedOpsPlan", "status", "SUCCESS NOT_SUPPORTED", "sums since Hopper"),
    *(
        Freedom(function, "misuse", f"{wrong} {name}", _UNSEEN)
        for function, names in _UNREAD.items()
        for name in names.split()
        for wrong in ("dims", "rank", "data type")
    ),
    Freedom("cudnn*ForwardTraining*", "status", "NOT_SUPPORTED SUCCESS", _SWISH),
    Freedom("cudnn*Training*", "misuse", "memory NULL resultRunning*", _PAIRED),
    *(
        Freedom(function, "scratch", f"memory NULL {name}", _SCRATCH)
        for function in ("cudnnConvolution*", "cudnnMultiHeadAttn*", "cudnn*Normalization*")
        for name in ("workSpace", "reserveSpace")
    ),
    *(Freedom(f, "status", "* BAD_PARAM_MISALIGNED_POINTER", _ALIGNED) for f in _CONVOLVING),
)


def freedom(function: str, kind: str, name: str) -> str:
    """Why this may differ, "" if it must not."""
    for each in FREEDOMS:
        of = each.kind == kind and fnmatchcase(function, each.function)
        if of and fnmatchcase(name, each.name):
            return each.reason
    return ""
