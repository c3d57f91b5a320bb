"""The atlas: which shapes compile for which GPU with which cuDNN, as measured and kept."""

from .cells import Atlas, Cell, Result

__all__ = ["Atlas", "Cell", "Result"]
