from .porting.cublas import *
