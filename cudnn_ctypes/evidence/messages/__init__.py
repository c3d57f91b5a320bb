"""cuDNN's log messages as objects.

>>> from cudnn_ctypes import raw
>>> with log_messages("info") as messages:
...     descriptor = raw.cudnnTensorDescriptor_t()
...     _ = raw.cudnnCreateTensorDescriptor(descriptor)
...     _ = raw.cudnnSetTensor4dDescriptor(
...         descriptor, raw.CUDNN_TENSOR_NHWC, raw.CUDNN_DATA_HALF, 2, 3, 4, 5)
>>> messages[0].function
'cudnnCreateTensorDescriptor'
>>> messages[1].arguments["format"].value
cudnnTensorFormat_t.CUDNN_TENSOR_NHWC

This package's exceptions and a callback set with ``raw.cudnnSetCallback`` still receive messages
while a block listens. The reference device logs nothing.
"""

from __future__ import annotations

from .arguments import LoggedArgument
from .message import Message, log_messages

__all__ = ["LoggedArgument", "Message", "log_messages"]
