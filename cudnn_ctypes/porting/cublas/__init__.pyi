from typing import Any

from ...runtime.cuda import CudaError as CudaError
from .handles import *
from .operations import *

def __getattr__(name: str) -> Any: ...  # enumerators, cublasSgemm, cublasX_v2
