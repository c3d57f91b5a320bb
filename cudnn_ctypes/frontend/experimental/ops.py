"""``cudnn.experimental.ops`` of NVIDIA's Python front end: norms and products for PyTorch."""

from __future__ import annotations

from ...torch_ops.front_end import layer_norm, moe_grouped_matmul, rms_norm, swiglu_mlp

__all__ = ["layer_norm", "moe_grouped_matmul", "rms_norm", "swiglu_mlp"]
