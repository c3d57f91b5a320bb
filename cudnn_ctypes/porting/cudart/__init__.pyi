from ...raw.types import cudaStream_t as cudaStream_t
from ...runtime.cuda import CudaError as CudaError
from .devices import *
from .function import *
from .memory import *
from .streams import *
from .types import *
