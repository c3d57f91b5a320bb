from .runtime import *
