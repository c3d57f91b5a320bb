"""The table of names that earlier releases of cuDNN had and 9 has not.

Compared with the whole headers of 8.5.0 and 8.9.7; read from the header of 2, from parts of those
of 1, 3, 4, 5.0, 7.6.5 and 8.2.1, and from wrappers of 6, 7.0 and 8.0.2. No function that 8.5 and 9
share has other parameters in 9.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Group:
    """Names with one successor.

    A line of `names` is kind, name, first release that has it, first that has it not. ``{A,B}`` in
    a name stands for each alternative; ``{0}`` in `now` for the one that the first braces took, or
    for ``b`` where that is written ``A=b``. ``cudnnX`` and ``cudnnX(a=b)`` in `now` stand for a
    call with the declared parameters, ``b`` in place of ``a``.
    """

    why: str
    names: str
    now: str = ""


def _choices_of_algorithms() -> Iterator[Group]:
    for call, short, enumerators, first in (
        ("Forward", "Fwd", "FWD", "2.0"),
        ("BackwardData", "BwdData", "BWD_DATA", "3.0"),
        ("BackwardFilter", "BwdFilter", "BWD_FILTER", "3.0"),
    ):
        yield Group(
            "_v7 takes no preference and no limit; it returns every algorithm with its status and "
            "its memory, the one expected to be fastest first",
            f"""
            function cudnnGetConvolution{call}Algorithm {first} 8.0
            enum cudnnConvolution{short}Preference_t {first} 8.0
            enumerator CUDNN_CONVOLUTION_{enumerators}_NO_WORKSPACE {first} 8.0
            enumerator CUDNN_CONVOLUTION_{enumerators}_PREFER_FASTEST {first} 8.0
            enumerator CUDNN_CONVOLUTION_{enumerators}_SPECIFY_WORKSPACE_LIMIT {first} 8.0
            """,
            f"""
            perf, count = (cudnnConvolution{short}AlgoPerf_t * 8)(), c_int()
            cudnnGetConvolution{call}Algorithm_v7(requestedAlgoCount=8, returnedAlgoCount=count, \
perfResults=perf)
            found = [p for p in perf[: count.value] if p.status == CUDNN_STATUS_SUCCESS]
            algo = next(p.algo for p in found if p.memory <= memoryLimitInBytes)
            """,
        )


_SEQUENCES = "xDesc and yDesc are each one cudnnRNNDataDescriptor_t, not an array of descriptors"
_SHAPES = "the shapes say what is added to what: dimensions of 1 are repeated"
_NO_SHAPES = "a convolution descriptor no longer holds the shapes of the tensors"

GROUPS = (
    *_choices_of_algorithms(),
    # --- RNN --------------------------------------------------------------------------------------
    Group(
        "one call sets, and one reads, all that an RNN descriptor holds",
        """
        function cudnn{Set}RNNDescriptor_v6 6.0 9.0
        function cudnn{Get}RNNDescriptor_v6 8.0 9.0
        function cudnn{Set}RNNDescriptor_v5 7.0 8.0
        function cudnn{Set}RNNDescriptor 5.0 8.0
        function cudnn{Get}RNNDescriptor 7.0 8.0
        function cudnn{Set}RNNAlgorithmDescriptor 7.1 9.0
        function cudnn{Set}RNNMatrixMathType 7.0 9.0
        function cudnn{Get}RNNMatrixMathType 7.1 9.0
        function cudnn{Set,Get}RNNBiasMode 7.5 9.0
        function cudnn{Set,Get}RNNProjectionLayers 7.1 9.0
        function cudnn{Set,Get}RNNPaddingMode 7.2 9.0
        """,
        "cudnn{0}RNNDescriptor_v8",
    ),
    Group(
        "CUDNN_RNN_PADDED_IO_ENABLED is one of the auxFlags, an unsigned int",
        "typedef cudnnRNNPaddingMode_t 7.2 9.0",
        "cudnnSetRNNDescriptor_v8(auxFlags=CUDNN_RNN_PADDED_IO_ENABLED)",
    ),
    Group(
        "no function times the algorithms of an RNN; set each cudnnRNNAlgo_t and time it",
        """
        function cudnnGetRNN{ForwardInference,ForwardTraining}AlgorithmMaxCount 7.1 9.0
        function cudnnGetRNN{BackwardData,BackwardWeights}AlgorithmMaxCount 7.1 9.0
        function cudnnFindRNN{ForwardInference,ForwardTraining}AlgorithmEx 7.1 9.0
        function cudnnFindRNN{BackwardData,BackwardWeights}AlgorithmEx 7.1 9.0
        """,
        "cudnnSetRNNDescriptor_v8",
    ),
    Group(
        "it takes no handle and no clipNanOpt (cudnnRNNSetClip_v8 still takes clipNanOpt)",
        "function cudnnRNN{Set,Get}Clip 7.2 9.0",
        "cudnnRNN{0}Clip_v9",
    ),
    Group(
        "the RNN descriptor itself keeps the compiled kernels",
        """
        function cudnn{Create,Set,Destroy}PersistentRNNPlan 6.0 9.0
        handle-type cudnnPersistentRNNPlan_t 6.0 9.0
        """,
        "cudnnBuildRNNDynamic",
    ),
    Group(
        "one call gives both sizes; xDesc is one cudnnRNNDataDescriptor_t",
        "function cudnnGetRNN{WorkspaceSize=INFERENCE,TrainingReserveSize=TRAINING} 5.0 9.0",
        "cudnnGetRNNTempSpaceSizes(fwdMode=CUDNN_FWD_MODE_{0})",
    ),
    Group(
        "the RNN descriptor knows the data type and the size of the input",
        "function cudnnGetRNNParamsSize 5.0 9.0",
        "cudnnGetRNNWeightSpaceSize",
    ),
    Group(
        "one call gives a matrix and its bias, with tensor descriptors",
        "function cudnnGetRNNLinLayer{Matrix,Bias}Params 5.0 9.0",
        "cudnnGetRNNWeightParams",
    ),
    Group(
        f"one function with a mode; {_SEQUENCES}; the weights are a plain buffer",
        """
        function cudnnRNNForward{Inference=INFERENCE,Training=TRAINING} 5.0 9.0
        function cudnnRNNForward{Inference=INFERENCE,Training=TRAINING}Ex 7.2 9.0
        """,
        "cudnnRNNForward(fwdMode=CUDNN_FWD_MODE_{0})",
    ),
    Group(
        f"{_SEQUENCES}; the weights are a plain buffer",
        """
        function cudnnRNNBackward{Data,Weights} 5.0 9.0
        function cudnnRNNBackward{Data,Weights}Ex 7.2 9.0
        """,
        "cudnnRNNBackward{0}_v8",
    ),
    # --- without a successor ----------------------------------------------------------------------
    Group(
        "nothing replaces it; an algorithm is an enumerator, and a search gives structs such as "
        "cudnnConvolutionFwdAlgoPerf_t",
        """
        function cudnn{Create,Set,Get,Copy,Destroy}AlgorithmDescriptor 7.1 9.0
        function cudnn{Create,Set,Get,Destroy}AlgorithmPerformance 7.1 9.0
        handle-type cudnnAlgorithm{Descriptor,Performance}_t 7.1 9.0
        struct cudnnAlgorithm_t 7.1 9.0
        """,
    ),
    Group(
        "nothing replaces it; an algorithm is an enumerator, and what can be stored is an "
        "execution plan (CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION)",
        """
        function cudnn{Save,Restore}Algorithm 7.1 9.0
        function cudnnGetAlgorithmSpaceSize 7.1 9.0
        """,
    ),
    Group(
        "an unsigned int is enough: flags such as CUDNN_ATTN_QUERYMAP_ONE_TO_ONE, the attnMode of "
        "cudnnSetAttnDescriptor",
        "typedef cudnnAttnQueryMap_t 7.5 9.0",
    ),
    Group(
        "a plain number is enough, a hundred times the compute capability (900 for 9.0)",
        """
        macro CUDNN_SM_{50,52,53,60,61,62,70,72,75,80,86,87,89,90,9X_END} 8.9 9.0
        macro CUDNN_MIN_DEVICE_VERSION 8.9 9.0
        """,
    ),
    Group(
        "only 9.7 had it, as 2505; nothing replaces it",
        "enumerator CUDNN_ATTR_OPERATION_BLOCK_SCALE_QUANTIZE_DENOM_FACTOR_MODE 9.7 9.8",
    ),
    Group(
        "it chose one of the shapes that cudnnGetOutputTensor4dDim gave",
        """
        enum cudnnConvolutionPath_t 1.0 2.0
        enumerator CUDNN_CONVOLUTION_{FWD,WEIGHT_GRAD,DATA_GRAD} 1.0 2.0
        """,
    ),
    Group(
        "the factor beta says it: 1 adds to the result, 0 overwrites it",
        """
        enum cudnnAccumulateResult_t 1.0 2.0
        enumerator CUDNN_RESULT_{ACCUMULATE,NO_ACCUMULATE} 1.0 2.0
        """,
    ),
    # --- versions of the libraries ----------------------------------------------------------------
    Group(
        "the libraries for inference and for training are one",
        "function cudnn{Ops,Cnn,Adv}{Infer,Train}VersionCheck 8.0 9.0",
        "cudnn{0}VersionCheck",
    ),
    Group(
        "the libraries for inference and for training are one",
        "macro CUDNN_{OPS,CNN,ADV}_{INFER,TRAIN}_{MAJOR,MINOR,PATCH} 8.0 9.0",
        "CUDNN_{0}_{2}",
    ),
    # --- names of 1 to 6: mostly the old or the new way of a call, for one release ----------------
    Group(
        "the type of the computation is an argument; what was called upscale is the dilation",
        """
        function cudnn{Set,Get}Convolution2dDescriptor_v4 6.0 7.0
        function cudnn{Set,Get}Convolution2dDescriptor_v5 5.0 7.0
        """,
        "cudnn{0}Convolution2dDescriptor",
    ),
    Group(
        "the type of the computation is an argument; what was called upscale is the dilation",
        """
        function cudnn{Set,Get}ConvolutionNdDescriptor_v2 4.0 5.0
        function cudnn{Set,Get}ConvolutionNdDescriptor_v3 3.0 5.0
        """,
        "cudnn{0}ConvolutionNdDescriptor",
    ),
    Group(
        "the format, NCHW or NHWC, is an argument",
        """
        function cudnn{Set,Get}Filter{4d,Nd}Descriptor_v3 5.0 6.0
        function cudnn{Set,Get}Filter{4d,Nd}Descriptor_v4 4.0 6.0
        """,
        "cudnn{0}Filter{1}Descriptor",
    ),
    Group(
        "the format, NCHW or NHWC, is an argument",
        "function cudnn{Set,Get}FilterDescriptor 1.0 2.0",
        "cudnn{0}Filter4dDescriptor",
    ),
    Group(
        "whether NaN propagates is an argument",
        """
        function cudnn{Set,Get}Pooling{2d,Nd}Descriptor_v3 5.0 6.0
        function cudnn{Set,Get}Pooling{2d,Nd}Descriptor_v4 4.0 6.0
        """,
        "cudnn{0}Pooling{1}Descriptor",
    ),
    Group(
        "padding and whether NaN propagates are arguments",
        "function cudnn{Set,Get}PoolingDescriptor 1.0 2.0",
        "cudnn{0}Pooling2dDescriptor",
    ),
    Group(
        "padding counts as elements, or does not (..._EXCLUDE_PADDING)",
        "enumerator CUDNN_POOLING_AVERAGE 1.0 2.0",
        "CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING",
    ),
    Group(
        "a descriptor stands where the mode stood",
        """
        function cudnnActivation{Forward,Backward}_v3 5.0 6.0
        function cudnnActivation{Forward,Backward}_v4 4.0 6.0
        """,
        """
        cudnnSetActivationDescriptor
        cudnnActivation{0}
        """,
    ),
    Group(
        _SHAPES,
        """
        function cudnnAddTensor_v2 4.0 5.0
        function cudnnAddTensor_v3 3.0 5.0
        function cudnnAddTensor4d 1.0 2.0
        enum cudnnAddMode_t 1.0 5.0
        enumerator CUDNN_ADD_{IMAGE,SAME_HW,FEATURE_MAP,SAME_CHW,SAME_C,FULL_TENSOR} 1.0 5.0
        """,
        "cudnnAddTensor",
    ),
    Group(
        "algorithm and workspace are arguments",
        """
        function cudnnConvolutionBackward{Data,Filter}_v2 4.0 5.0
        function cudnnConvolutionBackward{Data,Filter}_v3 3.0 5.0
        """,
        "cudnnConvolutionBackward{0}",
    ),
    Group(
        "one kind of descriptor holds tensors of any number of dimensions",
        """
        function cudnn{Create,Destroy}Tensor4dDescriptor 1.0 2.0
        handle-type cudnn{Tensor4d=Create}Descriptor_t 1.0 2.0
        """,
        "cudnn{0}TensorDescriptor",
    ),
    Group(
        "factors alpha and beta came in",
        "function cudnnTransformTensor4d 1.0 2.0",
        "cudnnTransformTensor",
    ),
    Group(
        _NO_SHAPES,
        "function cudnnSetConvolutionDescriptor{,Ex} 1.0 2.0",
        "cudnnSetConvolution2dDescriptor",
    ),
    Group(
        _NO_SHAPES,
        "function cudnnGetOutputTensor4dDim 1.0 2.0",
        "cudnnGetConvolution2dForwardOutputDim",
    ),
)

OLD_STATUS_NUMBERS: dict[int, str] = {
    1: "CUDNN_STATUS_NOT_INITIALIZED",
    2: "CUDNN_STATUS_ALLOC_FAILED",
    3: "CUDNN_STATUS_BAD_PARAM",
    4: "CUDNN_STATUS_INTERNAL_ERROR",
    5: "CUDNN_STATUS_INVALID_VALUE",
    6: "CUDNN_STATUS_ARCH_MISMATCH",
    7: "CUDNN_STATUS_MAPPING_ERROR",
    8: "CUDNN_STATUS_EXECUTION_FAILED",
    9: "CUDNN_STATUS_NOT_SUPPORTED",
    10: "CUDNN_STATUS_LICENSE_ERROR",
    11: "CUDNN_STATUS_RUNTIME_PREREQUISITE_MISSING",
    12: "CUDNN_STATUS_RUNTIME_IN_PROGRESS",
    13: "CUDNN_STATUS_RUNTIME_FP_OVERFLOW",
    14: "CUDNN_STATUS_VERSION_MISMATCH",
}
"""Statuses by the number that they had before 9.0. They still have their names."""

CHANGED: dict[str, str] = {
    "cudnnAddTensor": "before 4.0 a cudnnAddMode_t stood before alpha",
    "cudnnConvolutionBackward{Data,Filter}": "before 4.0 without algorithm and workspace",
    "cudnn{Set,Get}ConvolutionNdDescriptor": "before 4.0 without computeType",
    "cudnn{Set,Get}Convolution2dDescriptor": "before 6.0 without computeType",
    "cudnn{Set,Get}Filter{4d,Nd}Descriptor": "before 5.0 without format",
    "cudnn{Set,Get}Pooling{2d,Nd}Descriptor": "before 5.0 without maxpoolingNanOpt",
    "cudnnActivation{Forward,Backward}": "before 5.0 with a mode in place of the descriptor",
}
"""Functions that are left and had other parameters in old releases; names with braces as above."""
