__version__: str

from . import (
    cublas as cublas,
    cudart as cudart,
    frontend as frontend,
    graph as graph,
    legacy as legacy,
    raw as raw,
    reference as reference,
)
from .runtime import (
    DeviceBuffer as DeviceBuffer,
    DeviceTensor as DeviceTensor,
    StreamLike as StreamLike,
    TensorLike as TensorLike,
    as_tensor as as_tensor,
)
from .runtime.allocation import OutOfDeviceMemoryError as OutOfDeviceMemoryError
from .runtime.cuda import CudaError as CudaError
from .dtypes import DataTypeLike as DataTypeLike, as_data_type as as_data_type
from .errors import (
    BadParamError as BadParamError,
    CleanUpWarning as CleanUpWarning,
    ClosedError as ClosedError,
    CrashError as CrashError,
    CudnnError as CudnnError,
    CudnnWarning as CudnnWarning,
    DeviceMemoryWarning as DeviceMemoryWarning,
    ExecutionFailedError as ExecutionFailedError,
    FaultWarning as FaultWarning,
    InternalError as InternalError,
    LibraryNotFoundError as LibraryNotFoundError,
    NoDeviceError as NoDeviceError,
    NotInitializedError as NotInitializedError,
    NotSupportedError as NotSupportedError,
    PlanCacheWarning as PlanCacheWarning,
    SymbolNotFoundError as SymbolNotFoundError,
    UnclosedWarning as UnclosedWarning,
)
from .evidence.atlas.cells import Atlas as Atlas
from .evidence.known_faults import known_faults as known_faults
from .raw.faults import Fault as Fault
from .graph.backend.descriptor import BackendDescriptor as BackendDescriptor
from .graph.backend.device_properties import DeviceProperties as DeviceProperties
from .graph.backend.engine import (
    Engine as Engine,
    EngineChoice as EngineChoice,
    EngineConfig as EngineConfig,
)
from .graph.backend.warden import use_warden as use_warden
from .graph.compilation import compile_graphs as compile_graphs
from .graph.engines.cache.plan_cache import PlanCache as PlanCache
from .graph.backend.engine import heuristics as heuristics
from .graph.engines.selection import Selection as Selection
from .graph.graph import Graph as Graph
from .graph.run.cuda_graph import (
    CapturedGraph as CapturedGraph,
    NativeGraph as NativeGraph,
    capture as capture,
)
from .graph.run.stored_plan import KernelCache as KernelCache
from .graph.run.plan import BoundPlan as BoundPlan
from .graph.run.plan import ExecutionPlan as ExecutionPlan
from .graph.run.program import Program as Program
from .graph.tracing import graph_function as graph_function
from .handle import Handle as Handle
from .legacy.information import (
    LibraryVersions as LibraryVersions,
    check_sublibraries as check_sublibraries,
    error_string as error_string,
    last_error_string as last_error_string,
    library_versions as library_versions,
    query_runtime_error as query_runtime_error,
)
from .evidence.records import CallRecord as CallRecord
from .evidence.describe import Description as Description, describe as describe
from .evidence.found import Evidence as Evidence, FoundGraph as FoundGraph
from .evidence.reading import read_evidence as read_evidence
from .evidence.watching import watch as watch
from .evidence.tracing import Trace as Trace, read_trace as read_trace, trace as trace
from .legacy import *
from .evidence.messages import (
    LoggedArgument as LoggedArgument,
    Message as Message,
    log_messages as log_messages,
)
from .reference.device.dispatch import use_reference_device as use_reference_device
