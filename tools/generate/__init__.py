"""Generate layer 1 (`cudnn_ctypes.raw`) from the cuDNN headers: `python -m tools.generate`."""
