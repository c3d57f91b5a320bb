from .porting.compat import OldNameWarning as OldNameWarning
from .porting.compat import v7 as v7
