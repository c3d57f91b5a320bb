"""The names of layer 3, each with the module that has it."""

from ..absent_gpu.properties import presets as presets
from .backend.descriptor import BackendDescriptor as BackendDescriptor
from .backend.device_properties import DeviceProperties as DeviceProperties
from .backend.warden import use_warden as use_warden
from .backend.engine import (
    Engine as Engine,
    EngineChoice as EngineChoice,
    EngineConfig as EngineConfig,
    Knob as Knob,
    engine_count as engine_count,
)
from .compilation import CompiledGraph as CompiledGraph, compile_graphs as compile_graphs
from .describe.rewriting import Change as Change
from .describe.tensor import Tensor as Tensor
from .describe.rewriting import Step as Step
from .engines.cache.plan_cache import CacheEntry as CacheEntry, PlanCache as PlanCache
from .engines.explaining.explanation import (
    Advice as Advice,
    EngineRow as EngineRow,
    Explanation as Explanation,
    Suggestion as Suggestion,
)
from .backend.engine import heuristics as heuristics
from .engines.judging.judging import Judgement as Judgement
from .engines.judging.verdict import Verdict as Verdict
from .engines.selection import (
    BEHAVIOR_NOTES as BEHAVIOR_NOTES,
    NUMERICAL_NOTES as NUMERICAL_NOTES,
    Selection as Selection,
)
from .engines.tuning.measurements import Autotuning as Autotuning, Measurement as Measurement
from .graph import Graph as Graph
from .partition.partition import Partition as Partition
from .partition.search import Piece as Piece
from .run.cuda_graph import (
    CapturedGraph as CapturedGraph,
    NativeGraph as NativeGraph,
    capture as capture,
)
from .run.stored_plan import KernelCache as KernelCache
from .run.plan import BoundPlan as BoundPlan
from .run.plan import ExecutionPlan as ExecutionPlan
from .run.program import Program as Program
from .tracing import GraphFunction as GraphFunction, graph_function as graph_function
