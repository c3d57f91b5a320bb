from .porting.cudart import *
