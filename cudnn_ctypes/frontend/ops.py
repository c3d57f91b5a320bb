"""``cudnn.ops`` of NVIDIA's Python front end: causal convolutions for PyTorch.

`cudnn_ctypes.frontend.left_out` says why its other names are not here.
"""

from __future__ import annotations

from ..torch_ops.front_end import causal_conv1d, causal_conv1d_nwh

__all__ = ["causal_conv1d", "causal_conv1d_nwh"]
