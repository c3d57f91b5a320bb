"""The types that the cuDNN headers take from CUDA's, stated by hand: they do not change."""

from __future__ import annotations

# Opaque pointers, with the structs that they point to.
HANDLES = {"cudaStream_t": "CUstream_st", "cudaGraph_t": "CUgraph_st"}

# The enum libraryPropertyType of library_types.h, which cudnnGetProperty takes.
LIBRARY_PROPERTIES = {"MAJOR_VERSION": 0, "MINOR_VERSION": 1, "PATCH_LEVEL": 2}

NAMES = frozenset(HANDLES) | {"libraryPropertyType"}
