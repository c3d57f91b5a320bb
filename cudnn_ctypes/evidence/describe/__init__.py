"""``describe``: an explanation of an object's contents, in words and as a picture.

>>> from cudnn_ctypes import TensorDescriptor
>>> print(describe(TensorDescriptor((1, 3, 4, 5), "float16", layout="NHWC")))
TensorDescriptor: a tensor of 4 dimensions
  dims (n, c, h, w) = (1, 3, 4, 5): 60 elements
  data type float16: 2 bytes an element
  strides (60, 1, 15, 3): one step moves on by 60 elements along n, 1 along c, 15 along h, 3 along w
  layout NHWC: the channels of a pixel lie together
  120 bytes from the first element to the last, without gaps
  element [n, c, h, w] is at byte 2 * (60 * n + c + 15 * h + 3 * w)
"""

from __future__ import annotations

from .choosing import describe
from .description import Description, Section

__all__ = ["Description", "Section", "describe"]
