from typing import Any

from ...raw.types import cudaStream_t as cudaStream_t
from ...runtime.cuda import CudaError as CudaError
from .devices import *
from .function import *
from .memory import *
from .types import *

def __getattr__(name: str) -> Any: ...  # enumerators
