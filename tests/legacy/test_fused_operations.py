"""Fused operations: packs and plans, each operation against the reference, and wrong input."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import raw
from cudnn_ctypes.raw.origins import POINTEES
from cudnn_ctypes.reference import fused_operations as reference

from .fused_problems import statistics, upload

OPERATIONS = list(raw.cudnnFusedOps_t)
RESERVED = OPERATIONS[4:]
HALF, SINGLE = 2.0**-11, 2.0**-24


def test_a_constant_pack_reads_back() -> None:
    with (
        cudnn.TensorDescriptor((2, 8, 4, 4), "float16", layout="NHWC") as x,
        cudnn.ConvolutionDescriptor(1, groups=2) as conv,
        cudnn.ActivationDescriptor("relu") as activation,
        cudnn.FilterDescriptor((8, 4, 3, 3), "float16", layout="NHWC") as w,
        cudnn.FusedOpsConstParamPack("scale_bias_activation_conv_bnstats", xdesc=x) as pack,
    ):
        pack.set("conv_desc", conv)
        pack.set(raw.CUDNN_PARAM_ACTIVATION_DESC, activation)
        pack.set("wdesc", w)
        pack.set("bn_mode", "spatial_persistent")
        pack.set("xdata_placeholder", "ptr_16b_aligned")
        for label, given in (("xdesc", x), ("conv_desc", conv), ("activation_desc", activation)):
            with pack.get(label) as held:
                assert held == given
        with pack.get("wdesc") as held:
            assert held == w
        assert pack.get("ydesc") is None
        assert pack.get("bn_mode") == raw.CUDNN_BATCHNORM_SPATIAL_PERSISTENT
        assert pack.get("xdata_placeholder") == raw.CUDNN_PTR_16B_ALIGNED
        assert pack.get("wdata_placeholder") == raw.CUDNN_PTR_NULL
        text = repr(pack)
        assert "operation='scale_bias_activation_conv_bnstats'" in text
        assert "xdesc=Tensor(data_type=" in text
        assert "shape=(2, 8, 4, 4)" in text
        pack.set("xdesc", None)
        assert pack.get("xdesc") is None


def test_every_label_can_be_set_and_read() -> None:
    """Each label belongs to an operation; all but those of one operation can be read back."""
    made: dict[str, Any] = {
        "cudnnTensorDescriptor_t": cudnn.TensorDescriptor((1, 8, 1, 1)),
        "cudnnFilterDescriptor_t": cudnn.FilterDescriptor((8, 8, 3, 3)),
        "cudnnConvolutionDescriptor_t": cudnn.ConvolutionDescriptor(),
        "cudnnActivationDescriptor_t": cudnn.ActivationDescriptor(),
    }
    settable: dict[Any, set[Any]] = {}
    for operation in OPERATIONS:
        with cudnn.FusedOpsConstParamPack(operation) as pack:
            for label in raw.cudnnFusedOpsConstParamLabel_t:
                name = POINTEES.get(label.name)
                value = made.get(name or "")
                if name is None:
                    value = "spatial" if label.name.endswith("MODE") else "ptr_elem_aligned"
                try:
                    pack.set(label, value)
                except cudnn.BadParamError:
                    continue
                settable.setdefault(label, set()).add(operation)
                if operation == raw.CUDNN_FUSED_CONV_SCALE_BIAS_ADD_ACTIVATION:
                    with pytest.raises(cudnn.BadParamError):
                        pack.get(label)
                elif name is None:
                    assert pack.get(label) == 1
                else:
                    with pack.get(label) as held:
                        assert held == value
    assert set(settable) == set(raw.cudnnFusedOpsConstParamLabel_t)
    for descriptor in made.values():
        descriptor.close()


def test_every_variant_label_can_be_set_and_read() -> None:
    settable: set[Any] = set()
    for operation in OPERATIONS:
        with cudnn.FusedOpsVariantParamPack(operation) as pack:
            for label in raw.cudnnFusedOpsVariantParamLabel_t:
                value = 0.25 if "DOUBLE" in label.name else 4096
                try:
                    pack.set(label, value)
                except cudnn.BadParamError:
                    continue
                settable.add(label)
                if operation == raw.CUDNN_FUSED_BN_FINALIZE_STATISTICS_INFERENCE:
                    with pytest.raises(cudnn.BadParamError):
                        pack.get(label)
                else:
                    assert pack.get(label) == value
    assert settable == set(raw.cudnnFusedOpsVariantParamLabel_t)


def test_wrong_values() -> None:
    operation = "scale_bias_activation_conv_bnstats"
    with pytest.raises(ValueError, match="operation: expected one of"):
        cudnn.FusedOpsPlan("conv")
    with cudnn.TensorDescriptor((1, 8, 4, 4)) as x, cudnn.FusedOpsConstParamPack(operation) as pack:
        with pytest.raises(TypeError, match="wdesc: expected a FilterDescriptor"):
            pack.set("wdesc", x)
        with pytest.raises(ValueError, match="xdata_placeholder: expected one of 'ptr_null'"):
            pack.set("xdata_placeholder", "aligned")
        with pytest.raises(ValueError, match="label: expected one of"):
            pack.set("x", x)
        with pytest.raises(cudnn.BadParamError):
            pack.set("dxdesc", x)
    with pytest.raises(cudnn.BadParamError):
        cudnn.FusedOpsConstParamPack(operation, dxdata_placeholder="null")
    with cudnn.FusedOpsVariantParamPack(operation) as variants:
        with pytest.raises(TypeError, match="ptr: host memory"):
            variants.set("ptr_xdata", np.zeros(3))
        with pytest.raises(cudnn.BadParamError):
            variants.set("scalar_double_bn_epsilon", 1e-5)
    with pytest.raises(cudnn.ClosedError):
        variants.set("ptr_xdata", 4096)


@pytest.mark.parametrize("operation", RESERVED, ids=str)
def test_reserved_operations_have_no_plans(handle, report, operation):
    with cudnn.FusedOpsPlan(operation) as plan, cudnn.FusedOpsConstParamPack(operation) as pack:
        assert plan.workspace_size is None
        with pytest.raises((cudnn.NotSupportedError, cudnn.BadParamError)) as caught:
            plan.make(handle, pack)
    where = "reference" if handle.on_reference_device else "GPU"
    report.not_supported((where, "any", str(operation)[12:28]), f"{caught.value.status!s}")


def test_wrong_plans(reference_handle: cudnn.Handle) -> None:
    training, inference = OPERATIONS[2], OPERATIONS[3]
    handle = reference_handle
    with (
        cudnn.FusedOpsPlan(training) as plan,
        cudnn.FusedOpsConstParamPack(inference) as other,
        cudnn.FusedOpsConstParamPack(training) as pack,
        cudnn.FusedOpsVariantParamPack(training) as variants,
        cudnn.TensorDescriptor((1, 8, 1, 1)) as sums,
        cudnn.TensorDescriptor((1, 4, 1, 1)) as wrong,
    ):
        with pytest.raises(cudnn.NotInitializedError, match="created, but never made"):
            plan.execute(handle, variants)
        with pytest.raises(TypeError, match="variants: expected a FusedOpsVariantParamPack"):
            plan.execute(handle, pack)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="constants: expected a FusedOpsConstParamPack"):
            plan.make(handle, variants)  # type: ignore[arg-type]
        with pytest.raises(cudnn.BadParamError, match="constPack is for CUDNN_FUSED_BN_FINALIZE"):
            plan.make(handle, other)
        with pytest.raises(cudnn.NotSupportedError, match="BN_MODE must be spatial"):
            plan.make(handle, pack)
        pack.set("bn_mode", "spatial")
        for label in ("ystats_desc", "bn_scalebias_meanvar_desc", "bn_eqscalebias_desc"):
            with pytest.raises(
                cudnn.BadParamError, match=f"CUDNN_PARAM_{label.upper()} is not set"
            ):
                plan.make(handle, pack)
            pack.set(label, sums)
        for name in ("ysum", "ysqsum", "bn_scale", "bn_bias"):
            with pytest.raises(cudnn.BadParamError, match=f"{name.upper()}_PLACEHOLDER is not set"):
                plan.make(handle, pack)
            pack.set(f"{name}_placeholder", "ptr_16b_aligned")
        pack.set("bn_eqscalebias_desc", wrong)
        with pytest.raises(
            cudnn.BadParamError, match=r"BN_EQSCALEBIAS_DESC must have shape \(1, 8"
        ):
            plan.make(handle, pack)
        pack.set("bn_eqscalebias_desc", sums)
        assert plan.make(handle, pack) == 0
        with pytest.raises(cudnn.BadParamError, match="CUDNN_PTR_YSUM is NULL"):
            raw.cudnnFusedOpsExecute(handle, plan, variants)
        memory = cudnn.DeviceTensor.zeros((9,), "float32")
        variants.set("ptr_ysum", memory.ptr + 4)
        with pytest.raises(cudnn.BadParamError, match="promises 16-byte alignment"):
            raw.cudnnFusedOpsExecute(handle, plan, variants)
        for label in ("ysum", "ysqsum", "bn_scale", "bn_bias", "bn_eqscale", "bn_eqbias"):
            variants.set(f"ptr_{label}", memory)
        with pytest.raises(cudnn.BadParamError, match="BN_ACCUMULATION_COUNT is not set"):
            plan.execute(handle, variants)
        with (
            cudnn.FusedOpsVariantParamPack(inference) as others,
            pytest.raises(cudnn.BadParamError, match="different operations"),
        ):
            raw.cudnnFusedOpsExecute(handle, plan, others)


def test_pointers_that_a_plan_was_not_made_for(handle: cudnn.Handle) -> None:
    """cuDNN would follow them, and end the CUDA context."""
    names = ("bn_eqscale", "bn_eqbias", "bn_scale", "bn_bias", "bn_running_mean", "bn_running_var")
    memory = cudnn.DeviceTensor.full((128,), 1, "float32")
    with (
        cudnn.TensorDescriptor((1, 8, 1, 1)) as single,
        cudnn.TensorDescriptor((1, 8, 1, 1), "float16") as half,
        cudnn.FusedOpsPlan(OPERATIONS[3]) as plan,
        cudnn.FusedOpsConstParamPack(
            OPERATIONS[3],
            bn_mode="spatial",
            bn_scalebias_meanvar_desc=single,
            bn_eqscalebias_desc=half,
            **{f"{name}_placeholder": "ptr_16b_aligned" for name in names},
        ) as pack,
        cudnn.FusedOpsVariantParamPack(OPERATIONS[3], scalar_double_bn_epsilon=1e-3) as variants,
    ):
        assert set(pack.placeholders) == {f"ptr_{name}" for name in names}
        plan.make(handle, pack)
        for place, name in enumerate(names):
            with pytest.raises(ValueError, match=f"variants: ptr_{name} is NULL"):
                plan.execute(handle, variants)
            variants.set(f"ptr_{name}", memory.ptr + 64 * place)
        variants.set("ptr_bn_bias", memory.ptr + 4)
        with pytest.raises(ValueError, match=r"variants: ptr_bn_bias is .* 16-byte alignment"):
            plan.execute(handle, variants)
        with cudnn.DeviceTensor.full((64,), 1, "float32") as closed:
            variants.set("ptr_bn_bias", closed)
        with pytest.raises(cudnn.ClosedError):
            plan.execute(handle, variants)
        variants.set("ptr_bn_bias", memory.ptr + 6 * 64)
        plan.execute(handle, variants)
        set_variant = raw.cudnnSetFusedOpsVariantParamPackAttribute
        set_variant(variants, raw.CUDNN_PTR_BN_BIAS, None)  # what layer 1 does counts too
        with cudnn.FusedOpsPlan(OPERATIONS[3]) as other:
            raw.cudnnMakeFusedOpsPlan(handle, other, pack, ctypes.c_size_t())
            with pytest.raises(ValueError, match="variants: ptr_bn_bias is NULL"):
                other.execute(handle, variants)


def test_executions_of_a_plan_are_found_by_their_key(handle: cudnn.Handle) -> None:
    """A pack may be set anew between them, and is looked at each time."""
    names = ("bn_scale", "bn_bias", "bn_running_mean", "bn_running_var")
    labels = [f"{name}_placeholder" for name in (*names, "bn_eqscale", "bn_eqbias")]
    with (
        cudnn.TensorDescriptor((1, 32, 1, 1)) as single,
        cudnn.TensorDescriptor((1, 32, 1, 1), "float16") as half,
        cudnn.FusedOpsPlan(OPERATIONS[3]) as plan,
        cudnn.FusedOpsConstParamPack(
            OPERATIONS[3],
            bn_mode="spatial",
            bn_scalebias_meanvar_desc=single,
            bn_eqscalebias_desc=half,
            **dict.fromkeys(labels, "ptr_16b_aligned"),
        ) as pack,
        cudnn.FusedOpsVariantParamPack(OPERATIONS[3], scalar_double_bn_epsilon=1e-5) as variants,
    ):
        plan.make(handle, pack)
        for seed in range(4):
            given = statistics(seed=seed)
            scale, bias = (cudnn.DeviceTensor.full((1, 32, 1, 1), 7, "float16") for _ in range(2))
            for name, array in zip(names, given, strict=True):
                variants.set(f"ptr_{name}", upload(array))
            variants.set("ptr_bn_eqscale", scale)
            variants.set("ptr_bn_eqbias", bias)
            plan.execute(handle, variants)
            expected = reference.finalize_statistics_inference(*given, epsilon=1e-5)
            np.testing.assert_allclose(scale.numpy(), expected[0], rtol=2e-3, atol=2e-3)
            np.testing.assert_allclose(bias.numpy(), expected[1], rtol=2e-3, atol=4e-3)
        assert len(handle._plans) == 1
        variants.set("ptr_bn_bias", scale.ptr + 4)
        with pytest.raises(ValueError, match=r"variants: ptr_bn_bias is .* 16-byte alignment"):
            plan.execute(handle, variants)
        variants.set("ptr_bn_bias", None)
        with pytest.raises(ValueError, match="variants: ptr_bn_bias is NULL"):
            plan.execute(handle, variants)
        memory = upload(given[1])
        variants.set("ptr_bn_bias", memory)
        plan.execute(handle, variants)
        memory.close()
        with pytest.raises(cudnn.ClosedError):
            plan.execute(handle, variants)
        assert len(handle._plans) == 1


def test_sums_are_per_channel(handle: cudnn.Handle) -> None:
    """cuDNN checks them by the normalization's mode, which is per activation where it is unset."""
    with (
        cudnn.TensorDescriptor((2, 8, 4, 4), "float16", layout="NHWC") as x,
        cudnn.FilterDescriptor((8, 8, 3, 3), "float16", layout="NHWC") as w,
        cudnn.ConvolutionDescriptor(
            1, compute_data_type="float32", math_type="tensor_op_math"
        ) as conv,
        cudnn.TensorDescriptor((1, 8, 1, 1), layout="NHWC") as sums,
        cudnn.FusedOpsPlan(OPERATIONS[0]) as plan,
        cudnn.FusedOpsConstParamPack(
            OPERATIONS[0],
            xdesc=x,
            wdesc=w,
            ydesc=x,
            conv_desc=conv,
            ystats_desc=sums,
            **{
                f"{name}_placeholder": "ptr_16b_aligned"
                for name in ("xdata", "wdata", "ydata", "ysum", "ysqsum")
            },
        ) as pack,
        pytest.raises((cudnn.BadParamError, cudnn.NotSupportedError)),
    ):
        plan.make(handle, pack)


def test_scale_and_bias_in_a_type_that_is_not_supported(handle: cudnn.Handle) -> None:
    given = [upload(v) for v in statistics()]
    for data_type in ("bfloat16", "int32"):
        with pytest.raises(cudnn.NotSupportedError):
            cudnn.finalize_statistics_inference(handle, *given, data_type=data_type)
        with pytest.raises(cudnn.NotSupportedError):
            cudnn.finalize_statistics_training(
                handle, *given[:2], 9, *given[2:], average_factor=1.0, data_type=data_type
            )
