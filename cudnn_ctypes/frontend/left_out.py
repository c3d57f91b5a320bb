"""The names of NVIDIA's Python front end 1.32 that are not here, and why; a test compares.

Names are those of its module; with a point, members of its classes and enums; in brackets,
arguments of its methods.
"""

from __future__ import annotations

_KERNELS = """
AlignedHCABackward BSA BlockScaledTensor CSA CSACompressorBackward CSACompressorForward
CausalConv3dWithCacheSm100 CompactGqaBackward Conv3dBiasResidualPadSm100 Conv3dRawSm100
Conv3dRmsNormSiluPadSm100 Conv3dRmsNormSiluSm100 DSA DiscreteGroupedGemmDswigluSm100
DiscreteGroupedGemmSwigluSm100 EngramGateSavedBackward EngramGateSavedForward FlexAttentionBwd
FlexAttentionFwd GatedAttentionBlockBwd GatedAttentionBlockFwd GemmAmaxSm100 GemmDsreluSm100
GemmProjRopeMxfp8Bf16InSm100 GemmProjRopeMxfp8Mxfp8InSm100 GemmSreluSm100 GemmSwigluSm100
GroupedGemmDgluSm100 GroupedGemmDsreluSm100 GroupedGemmDswigluSm100
GroupedGemmGluHadamardQuantSm100 GroupedGemmGluHadamardSm100 GroupedGemmGluSm100
GroupedGemmQuantSm100 GroupedGemmSm100 GroupedGemmSreluSm100 GroupedGemmSwigluSm100
GroupedGemmWgradSm100 MhcProjectionBackward MoeEp MoeEpAutotuneCandidateResult MoeEpAutotuneResult
MoeEpBackwardWeightStaging MoeEpBackwardWeights MoeEpConfig MoeEpDataPathConfig
MoeEpFc1WeightLayout MoeEpForwardWeightStaging MoeEpForwardWeights MoeEpModelConfig
MoeEpNativeBackwardWeights MoeEpNativeDiscreteBackwardWeights MoeEpNativeDiscreteForwardWeights
MoeEpNativeDiscreteWeight MoeEpNativeForwardWeights MoeEpNativeWeight MoeEpNativeWeightLayout
MoeEpNativeWeightStorageMode MoeEpParallelConfig MoeEpTrainingBackwardOutputs
MoeEpTrainingForwardOutputs MoeEpTrainingWgradOperands MoeEpTuningConfig MoeFormat MoeTensor NSA
Nvfp4AttentionQatBackward RmsNormRhtAmaxSm100 RmsNormSiluPadSm100 RopeQDQInplace TailRoPEForward
TriangleAttentionFwd TriangleMultiplicativeUpdateFwd VisionRoPEBackward
aligned_hca_backward_wrapper block_sparse_attention_backward block_sparse_attention_forward
block_sparse_attention_fp8_forward causal_conv3d_with_cache_wrapper_sm100 compact_gqa_backward
conv3d_bias_residual_pad_wrapper_sm100 conv3d_raw_wrapper_sm100
conv3d_rmsnorm_silu_pad_wrapper_sm100 conv3d_rmsnorm_silu_wrapper_sm100 create_mask_plan
csa_compressor_backward_wrapper csa_compressor_forward_wrapper discrete_grouped_gemm
discrete_grouped_gemm_dswiglu_jax_sm100 discrete_grouped_gemm_dswiglu_wrapper_sm100
discrete_grouped_gemm_swiglu_jax_sm100 discrete_grouped_gemm_swiglu_wrapper_sm100
engram_gate_saved_backward engram_gate_saved_forward flex_attn_func gated_attention_block
gated_attention_block_backward gated_attention_block_forward gemm_amax_jax_sm100
gemm_amax_wrapper_sm100 gemm_dsrelu_jax_sm100 gemm_dsrelu_wrapper_sm100
gemm_proj_rope_mxfp8_jax_sm100 gemm_proj_rope_mxfp8_wrapper_sm100 gemm_srelu_jax_sm100
gemm_srelu_wrapper_sm100 gemm_swiglu_jax_sm100 gemm_swiglu_wrapper_sm100
get_grouped_gemm_wgrad_workspace_size_sm100 gnn grouped_gemm grouped_gemm_dglu_jax_sm100
grouped_gemm_dglu_wrapper_sm100 grouped_gemm_dsrelu_jax_sm100 grouped_gemm_dsrelu_wrapper_sm100
grouped_gemm_dswiglu_wrapper_sm100 grouped_gemm_glu_hadamard_jax_forward
grouped_gemm_glu_hadamard_quant_jax_forward grouped_gemm_glu_hadamard_quant_wrapper_sm100
grouped_gemm_glu_hadamard_wrapper_sm100 grouped_gemm_glu_jax_sm100 grouped_gemm_glu_wrapper_sm100
grouped_gemm_jax_sm100 grouped_gemm_quant_jax_forward grouped_gemm_quant_wrapper_sm100
grouped_gemm_srelu_jax_forward grouped_gemm_srelu_wrapper_sm100 grouped_gemm_swiglu_wrapper_sm100
grouped_gemm_wgrad_jax_sm100 grouped_gemm_wgrad_wrapper_sm100 grouped_gemm_wrapper_sm100
hstu_attention_backward hstu_attention_forward hstu_lmsd_backward hstu_lmsd_forward
mask_to_kv_lengths mhc_projection_backward moe_ep nvfp4_attention_qat_backward
pack_backward_weights pack_causal_conv3d_weight_sm100 pack_conv3d_weight_sm100
pack_forward_weights prefix_mask_to_kv_lengths rmsnorm_rht_amax_wrapper_sm100
rmsnorm_silu_pad_wrapper_sm100 rope_qdq_inplace sdpa_torch tail_rope triangle_attention
triangle_multiplicative_update vision_rope_backward_wrapper
"""
_LINEAR_ATTENTION = """
NodeType.GDN NodeType.GDN2 NodeType.GDN2_BWD NodeType.GDN2_SUMMARY NodeType.GDN2_SUMMARY_BWD
NodeType.GDN_BWD NodeType.GDN_SUMMARY NodeType.GDN_SUMMARY_BWD NodeType.GDP NodeType.GDP_BWD
NodeType.GDP_SUMMARY NodeType.GDP_SUMMARY_BWD NodeType.KDA NodeType.KDA_BWD NodeType.KDA_SUMMARY
NodeType.KDA_SUMMARY_BWD NodeType.MAMBA2 NodeType.MAMBA2_BWD NodeType.MAMBA2_SUMMARY
NodeType.MAMBA2_SUMMARY_BWD pygraph.gdn pygraph.gdn2 pygraph.gdn2_bwd pygraph.gdn2_summary
pygraph.gdn2_summary_bwd pygraph.gdn_bwd pygraph.gdn_summary pygraph.gdn_summary_bwd pygraph.gdp
pygraph.gdp_bwd pygraph.gdp_summary pygraph.gdp_summary_bwd pygraph.kda pygraph.kda_bwd
pygraph.kda_summary pygraph.kda_summary_bwd pygraph.mamba2 pygraph.mamba2_bwd
pygraph.mamba2_summary pygraph.mamba2_summary_bwd
"""

_GROUPS = {
    "a kernel that NVIDIA's front end brings itself, in CuTe, Triton or CUDA; cuDNN has no part in "
    "it": _KERNELS,
    "linear attention of Python engines of NVIDIA's front end; cuDNN has no operation for it": (
        _LINEAR_ATTENTION
    ),
    "Python engines of NVIDIA's front end, and the glue of frameworks to them": """
        engines experimental fla jax torch
    """,
    "PyTorch operators; the functions of cuDNN under them are here: causal_conv1d_forward, "
    "gnn_agg_simple_forward and their kin": "gnn ops",
    "an argument for Python engines of NVIDIA's front end; cuDNN has nothing that reads it": """
        pygraph.sdpa(softmax_precision) pygraph.sdpa(attn_scale_prefolded) pygraph.sdpa(kv_mask)
        pygraph.sdpa_backward(softmax_precision) pygraph.sdpa_backward(attn_scale_prefolded)
        pygraph.sdpa_fp8(softmax_precision) pygraph.sdpa_fp8(attn_scale_prefolded)
        pygraph.sdpa_fp8(sf_o)
        pygraph.sdpa_fp8_backward(softmax_precision)
        pygraph.sdpa_fp8_backward(attn_scale_prefolded)
        pygraph.sdpa_mxfp8(softmax_precision) pygraph.sdpa_mxfp8(attn_scale_prefolded)
        pygraph.sdpa_mxfp8(sf_o) pygraph.sdpa_mxfp8(scale_o)
        pygraph.sdpa_mxfp8_backward(softmax_precision)
        pygraph.sdpa_mxfp8_backward(attn_scale_prefolded)
        pygraph.block_scale_quantize(group_offset)
    """,
    "how NVIDIA's front end finds cuDNN; see CUDNN_CTYPES_LIBRARY": "is_windows load_cudnn",
    "tensors and nodes are made by a graph": "Tensor.__init__ tensor.__init__ Node.__init__",
    "the address of a foreign handle cannot be checked: create_handle() makes handles": (
        "Handle.__init__"
    ),
    "by its place, or data_type as in 1.23": "Tensor.set_data_type(dtype)",
    "what NVIDIA's front end notes of a tensor for itself": """
        Tensor.dim_assigned Tensor.stride_assigned Tensor.uid_assigned Tensor.owner
    """,
    "pygraph.validate does it for all": "Node.infer_properties Node.validate",
}

LEFT_OUT = {name: reason for reason, names in _GROUPS.items() for name in names.split()}
"""Reasons by name."""


REFUSED = {
    name: reason
    for reason, names in {
        "attention on numbers of 8 bits with a scale for each block of 32 needs Blackwell, and "
        "layer 3 does not describe it": "pygraph.sdpa_mxfp8 pygraph.sdpa_mxfp8_backward",
        "options of attention as one operation that layer 3 does not describe": """
            pygraph.sdpa(stats_use_log2)
            pygraph.sdpa_fp8(cu_seq_len_q) pygraph.sdpa_fp8(cu_seq_len_kv)
            pygraph.sdpa_fp8(stats_use_log2) pygraph.sdpa_fp8(implementation)
        """,
        "a mode of kernels that NVIDIA's front end brings itself": """
            pygraph.moe_grouped_matmul(top_k_scores) moe_grouped_matmul_mode.COMBINE
        """,
    }.items()
    for name in names.split()
}
"""Reasons by name for what can be described, and ``pygraph.validate`` refuses."""


def missing(owner: str, name: str) -> str:
    """The text of an AttributeError for a name that is not here.

    Parameters
    ----------
    owner : str
        The object that was asked, for the message: "pygraph".
    """
    reason = LEFT_OUT.get(name) or LEFT_OUT.get(f"{owner}.{name}")
    return f"{owner} has no {name!r}" + (f": {reason}" if reason else "")
