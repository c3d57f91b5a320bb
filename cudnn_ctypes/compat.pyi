from .porting.compat import OldNameWarning as OldNameWarning
from .porting.compat import cupy_cudnn as cupy_cudnn
from .porting.compat import v7 as v7
