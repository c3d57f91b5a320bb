from typing import Any

from ...runtime.cuda import CudaError as CudaError

from .handles import (
    cublasCreate as cublasCreate,
    cublasDestroy as cublasDestroy,
    cublasGetPointerMode as cublasGetPointerMode,
    cublasGetStream as cublasGetStream,
    cublasGetVersion as cublasGetVersion,
    cublasSetMathMode as cublasSetMathMode,
    cublasSetPointerMode as cublasSetPointerMode,
    cublasSetStream as cublasSetStream,
)
from .matrices import (
    cublasDgeam as cublasDgeam,
    cublasDgemm as cublasDgemm,
    cublasDgemmStridedBatched as cublasDgemmStridedBatched,
    cublasDgemv as cublasDgemv,
    cublasDger as cublasDger,
    cublasGemmEx as cublasGemmEx,
    cublasHgemm as cublasHgemm,
    cublasHgemmStridedBatched as cublasHgemmStridedBatched,
    cublasSgeam as cublasSgeam,
    cublasSgemm as cublasSgemm,
    cublasSgemmStridedBatched as cublasSgemmStridedBatched,
    cublasSgemv as cublasSgemv,
    cublasSger as cublasSger,
)
from .transfers import (
    cublasGetMatrix as cublasGetMatrix,
    cublasGetVector as cublasGetVector,
    cublasSetMatrix as cublasSetMatrix,
    cublasSetVector as cublasSetVector,
)
from .types import *
from .vectors import (
    cublasDasum as cublasDasum,
    cublasDaxpy as cublasDaxpy,
    cublasDcopy as cublasDcopy,
    cublasDdot as cublasDdot,
    cublasDnrm2 as cublasDnrm2,
    cublasDscal as cublasDscal,
    cublasDswap as cublasDswap,
    cublasIdamax as cublasIdamax,
    cublasIsamax as cublasIsamax,
    cublasSasum as cublasSasum,
    cublasSaxpy as cublasSaxpy,
    cublasScopy as cublasScopy,
    cublasSdot as cublasSdot,
    cublasSnrm2 as cublasSnrm2,
    cublasSscal as cublasSscal,
    cublasSswap as cublasSswap,
)

def __getattr__(name: str) -> Any: ...  # cublasX_v2
