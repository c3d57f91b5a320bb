"""Which names ``cupy_cudnn`` has, how it fails, and what it warns of."""

from __future__ import annotations

import pickle
import warnings

import pytest
from programs import printed

from cudnn_ctypes import raw
from cudnn_ctypes.porting.compat import OldNameWarning, cupy_cudnn

quiet = pytest.mark.filterwarnings("ignore::cudnn_ctypes.compat.OldNameWarning")

# The public names of cupyx.cudnn and of cupy_backends.cuda.libs.cudnn in CuPy 13.6.
HIGH_LEVEL = """
    Descriptor DropoutStates activation_backward activation_forward add_tensor
    batch_normalization_backward batch_normalization_forward_inference
    batch_normalization_forward_training batch_normalization_forward_training_ex
    convolution_backward_data convolution_backward_filter convolution_forward
    create_activation_descriptor create_convolution_descriptor create_dropout_descriptor
    create_dropout_states create_filter_descriptor create_fused_ops_const_param_pack
    create_fused_ops_plan create_fused_ops_variant_param_pack create_op_tensor_descriptor
    create_pooling_descriptor create_reduce_tensor_descriptor create_rnn_descriptor
    create_spatial_transformer_descriptor create_tensor_descriptor create_tensor_nd_descriptor
    create_uninitialized_tensor_descriptor ctc_loss fused_ops_execute get_data_type
    get_fused_ops_const_param_pack_attribute get_fused_ops_variant_param_pack_attribute get_handle
    get_max_workspace_size get_rnn_lin_layer_bias_params get_rnn_lin_layer_matrix_params
    is_tensor_core_available make_fused_ops_plan pooling_backward pooling_forward reset_handles
    rnn_backward_data rnn_backward_data_ex rnn_backward_weights rnn_backward_weights_ex
    rnn_forward_inference rnn_forward_inference_ex rnn_forward_training rnn_forward_training_ex
    set_dropout_descriptor set_fused_ops_const_param_pack_attribute
    set_fused_ops_variant_param_pack_attribute set_max_workspace_size softmax_backward
    softmax_forward
"""
LOW_LEVEL = """
    CuDNNAlgoPerf CuDNNError check_status get_build_version getVersion queryRuntimeError
    CTCLoss RNNBackwardData RNNBackwardDataEx RNNBackwardWeights RNNBackwardWeightsEx
    RNNForwardInference RNNForwardInferenceEx RNNForwardTraining RNNForwardTrainingEx
    activationBackward_v4 activationForward_v4 addTensor_v3 batchNormalizationBackward
    batchNormalizationBackwardEx batchNormalizationForwardInference
    batchNormalizationForwardTraining batchNormalizationForwardTrainingEx
    convolutionBackwardBias convolutionBackwardData_v3 convolutionBackwardFilter_v3
    convolutionForward create createActivationDescriptor createCTCLossDescriptor
    createConvolutionDescriptor createDropoutDescriptor createFilterDescriptor
    createFusedOpsConstParamPack createFusedOpsPlan createFusedOpsVariantParamPack
    createOpTensorDescriptor createPersistentRNNPlan createPoolingDescriptor
    createRNNDataDescriptor createRNNDescriptor createReduceTensorDescriptor
    createSpatialTransformerDescriptor createTensorDescriptor deriveBNTensorDescriptor destroy
    destroyActivationDescriptor destroyCTCLossDescriptor destroyConvolutionDescriptor
    destroyDropoutDescriptor destroyFilterDescriptor destroyFusedOpsConstParamPack
    destroyFusedOpsPlan destroyFusedOpsVariantParamPack destroyOpTensorDescriptor
    destroyPersistentRNNPlan destroyPoolingDescriptor destroyRNNDataDescriptor
    destroyRNNDescriptor destroyReduceTensorDescriptor destroySpatialTransformerDescriptor
    destroyTensorDescriptor dropoutBackward dropoutForward dropoutGetStatesSize
    findConvolutionBackwardDataAlgorithm findConvolutionBackwardDataAlgorithmEx
    findConvolutionBackwardDataAlgorithmEx_v7 findConvolutionBackwardFilterAlgorithm
    findConvolutionBackwardFilterAlgorithmEx findConvolutionBackwardFilterAlgorithmEx_v7
    findConvolutionForwardAlgorithm findConvolutionForwardAlgorithmEx
    findConvolutionForwardAlgorithmEx_v7 fusedOpsExecute
    getBatchNormalizationBackwardExWorkspaceSize
    getBatchNormalizationForwardTrainingExWorkspaceSize
    getBatchNormalizationTrainingExReserveSpaceSize getCTCLossDescriptor
    getCTCLossWorkspaceSize getConvolutionBackwardDataAlgorithm_v6
    getConvolutionBackwardDataAlgorithm_v7 getConvolutionBackwardDataWorkspaceSize
    getConvolutionBackwardFilterAlgorithm_v6 getConvolutionBackwardFilterAlgorithm_v7
    getConvolutionBackwardFilterWorkspaceSize getConvolutionForwardAlgorithm_v6
    getConvolutionForwardAlgorithm_v7 getConvolutionForwardWorkspaceSize
    getConvolutionGroupCount getConvolutionMathType getDropoutReserveSpaceSize
    getFilterNdDescriptor getFusedOpsConstParamPackAttribute
    getFusedOpsVariantParamPackAttribute getOpTensorDescriptor getRNNDataDescriptor
    getRNNLinLayerBiasParams getRNNLinLayerMatrixParams getRNNPaddingMode getRNNParamsSize
    getRNNTrainingReserveSize getRNNWorkspaceSize getReduceTensorDescriptor
    getReductionIndicesSize getReductionWorkspaceSize getStream getTensor4dDescriptor
    makeFusedOpsPlan opTensor poolingBackward poolingForward reduceTensor scaleTensor
    setActivationDescriptor setCTCLossDescriptor setConvolution2dDescriptor_v4
    setConvolution2dDescriptor_v5 setConvolutionGroupCount setConvolutionMathType
    setConvolutionNdDescriptor_v3 setDropoutDescriptor setFilter4dDescriptor_v4
    setFilterNdDescriptor_v4 setFusedOpsConstParamPackAttribute
    setFusedOpsVariantParamPackAttribute setOpTensorDescriptor setPersistentRNNPlan
    setPooling2dDescriptor_v4 setPoolingNdDescriptor_v4 setRNNDataDescriptor
    setRNNDescriptor_v5 setRNNDescriptor_v6 setRNNPaddingMode setReduceTensorDescriptor
    setSpatialTransformerDescriptor setStream setTensor setTensor4dDescriptor
    setTensor4dDescriptorEx setTensorNdDescriptor softmaxBackward softmaxForward
    spatialTfGridGeneratorBackward spatialTfGridGeneratorForward spatialTfSamplerBackward
    spatialTfSamplerForward
"""


@quiet
def test_every_name_of_cupy_is_there_and_no_other() -> None:
    expected = {*HIGH_LEVEL.split(), *LOW_LEVEL.split(), "available"}
    assert set(cupy_cudnn.__all__) == expected
    for name in cupy_cudnn.__all__:
        value = getattr(cupy_cudnn, name)
        assert value is True or value.__name__ == name
        assert cupy_cudnn.available
    for name in HIGH_LEVEL.split():
        assert getattr(cupy_cudnn, name).__doc__


@quiet
@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("CUDNN_DATA_HALF", 2),
        ("CUDNN_TENSOR_OP_MATH", 1),
        ("CUDNN_ADD_SAME_C", 2),
        ("CUDNN_CONVOLUTION_FWD_SPECIFY_WORKSPACE_LIMIT", 2),
        ("CUDNN_STATUS_SUCCESS", 0),
        ("CUDNN_STATUS_RUNTIME_FP_OVERFLOW", 13),
        ("CUDNN_BN_MIN_EPSILON", 0.0),
    ],
)
def test_constants_are_the_numbers_of_cudnn_8(name: str, number: float) -> None:
    assert getattr(cupy_cudnn, name) == number
    assert type(getattr(cupy_cudnn, name)) in (int, float)


@quiet
def test_what_is_not_there() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'convolve'"):
        cupy_cudnn.convolve  # noqa: B018
    with pytest.raises(AttributeError, match="CUDNN_RESULT_ACCUMULATE"):
        cupy_cudnn.CUDNN_RESULT_ACCUMULATE  # noqa: B018


@quiet
def test_a_call_that_fails_raises_cupy_s_exception() -> None:
    descriptor = cupy_cudnn.createTensorDescriptor()
    with pytest.raises(cupy_cudnn.CuDNNError, match="CUDNN_STATUS_BAD_PARAM") as error:
        cupy_cudnn.setTensor4dDescriptor(descriptor, 0, 0, -1, 2, 3, 4)
    assert error.value.status == 3
    error.value.add_info("func: test")
    assert str(error.value).endswith("\n  func: test")
    assert pickle.loads(pickle.dumps(error.value)).status == 3
    cupy_cudnn.destroyTensorDescriptor(descriptor)
    with pytest.raises(cupy_cudnn.CuDNNError, match="which is destroyed"):
        cupy_cudnn.destroyTensorDescriptor(descriptor)
    with pytest.raises(TypeError, match="setTensor4dDescriptor takes 7 arguments"):
        cupy_cudnn.setTensor4dDescriptor(1)
    with pytest.raises(cupy_cudnn.CuDNNError, match="NOT_SUPPORTED"):
        cupy_cudnn.check_status(9)
    assert cupy_cudnn.check_status(0) is None


def test_each_name_warns_once_with_its_modern_form(warnings_again: None) -> None:
    for name in ("getVersion", "softmax_forward", "CUDNN_DATA_FLOAT"):
        vars(cupy_cudnn).pop(name, None)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            assert cupy_cudnn.getVersion() == raw.cudnnGetVersion()
            assert cupy_cudnn.softmax_forward
            assert cupy_cudnn.CUDNN_DATA_FLOAT == 0
    texts = [str(each.message) for each in caught]
    assert [each.category for each in caught] == [OldNameWarning] * 3
    assert {each.filename for each in caught} == {__file__}
    assert "cudnn_ctypes.raw.cudnnGetVersion()" in texts[0]
    assert "with cudnn_ctypes: softmax_forward(handle, x)" in texts[1]
    assert "cudnn_ctypes.raw.CUDNN_DATA_FLOAT" in texts[2]


def test_importing_it_loads_neither_numpy_nor_cudnn_nor_cupy() -> None:
    program = """
        import sys
        before = set(sys.modules)
        from cudnn_ctypes.compat import cupy_cudnn
        loaded = {name.split(".")[0] for name in set(sys.modules) - before}
        print(sorted(loaded & {"cupy", "numpy", "cuda"}))
        print("libcudnn" in open("/proc/self/maps").read())
    """
    assert printed(program) == ["[]", "False"]
