"""The extension behind the package. Numbers stand for the enumerations of `_enums.py` and of onnx.TensorProto."""
import os
from typing import Any, Callable, Mapping, Sequence

import numpy as np

version: str

class CacheUse:
    outcome: str
    key: str
    reused_contexts: int
    reason: str

class CompileReport:
    output_path: os.PathLike
    files: list[CompiledFile]
    partitions: list[CompiledPartition]
    fallbacks: list[Fallback]
    remaining_nodes: int
    cache_use: CacheUse
    providers: list[SessionProvider]

class SessionProvider:
    name: str
    library: os.PathLike
    node_count: int
    wished_node_count: int

class CompiledFile:
    path: os.PathLike
    bytes: int

class CompiledPartition:
    name: str
    provider: str
    nodes: int

class DeclinedNode:
    provider: str
    node: int
    reason: str

class Environment:
    def __init__(self, *, plugin_directories: Sequence[str | os.PathLike] = ..., search_default_directories: bool = ...,
                 log_severity_level: int = ..., log_id: str = ..., intra_op_num_threads: int = ...,
                 inter_op_num_threads: int = ...,
                 logging_function: Callable[[int, str, str, str, str], object] | None = ...) -> None: ...
    def plugins(self) -> list[InstalledPlugin]: ...
    def devices(self) -> list[EpDevice]: ...
    def targets(self) -> list[EpDevice]: ...
    def register_execution_provider_library(self, registration_name: str, path: str | os.PathLike) -> None: ...
    def unregister_execution_provider_library(self, registration_name: str) -> None: ...

class EpDevice:
    provider: str
    provider_name: str
    provider_vendor: str
    id: str
    type: str
    name: str
    vendor: str
    vendor_id: int
    device_id: int
    architecture: str
    driver_version: str
    memory_bytes: int
    is_virtual: bool
    metadata: dict[str, str]

class Fallback:
    provider: str
    partition: str
    nodes: int
    reason: str

class GraphPartitioning:
    path: str
    name: str
    providers: list[PartitioningSummary]
    nodes: list[PartitionedNode]
    partitions: list[Partition]
    refused_claims: list[RefusedClaim]
    declined_nodes: list[DeclinedNode]
    unassigned_nodes: int

class GraphPlan:
    path: str
    name: str
    providers: list[str]
    steps: list[PlannedStep]
    values: list[PlannedValue]
    blocks: list[PlannedBlock]
    order_rule: str
    order_bytes: int
    given_order_bytes: int

class InstalledPlugin:
    provider: str
    name: str
    vendor: str
    version: str
    manifest: os.PathLike
    library: os.PathLike

class IoBinding:
    def bind_input(self, name: str, value: Value) -> None: ...
    def bind_output(self, name: str, value: Value) -> None: ...
    def bind_output_to_memory(self, name: str, memory: str, device_type: str, device_id: int) -> None: ...
    def clear_inputs(self) -> None: ...
    def clear_outputs(self) -> None: ...
    def outputs(self) -> list[Value]: ...
    def output_names(self) -> list[str]: ...

class MemoryInfo:
    name: str
    device_type: str
    device_id: int
    memory_type: int
    dlpack_type: int
    dlpack_id: int

class ModelMetadata:
    producer_name: str
    graph_name: str
    domain: str
    description: str
    graph_description: str
    version: int
    custom_metadata_map: dict[str, str]

class ModelPartitioning:
    graphs: list[GraphPartitioning]
    is_context_model: bool
    folded_nodes: int
    removed_identities: int
    notes: list[str]
    coverage: str

class Partition:
    name: str
    provider: str
    nodes: list[int]
    inputs: list[str]
    outputs: list[str]

class PartitionedNode:
    id: int
    name: str
    op: str
    since_version: int
    description: str
    provider: str
    partition: str
    refusals: list[int]
    successors: list[int]

class PartitioningSummary:
    provider: str
    kernel_nodes: int
    fused_nodes: int
    partitions: int
    refused_claims: int

class PlannedBlock:
    location: int
    memory: str
    peak_bytes: int
    lower_bound_bytes: int
    proved_optimal: bool

class PlannedStep:
    provider: int
    node: int
    name: str
    op: str
    description: str
    partition: str
    inputs: list[str]
    outputs: list[str]
    workspace_bytes: int
    stream: str
    waits: list[int]
    host_waits: list[int]

class PlannedValue:
    name: str
    type: str
    kind: str
    location: int
    buffer: str
    owns_buffer: bool
    first_step: int
    last_step: int
    bytes: int | None
    offset: int | None

class RefusedClaim:
    provider: str
    nodes: list[int]
    fused: bool
    reason: str

class RunOptions:
    def __init__(self) -> None: ...
    terminate: bool
    timeout: float | None
    logid: str
    log_severity_level: int
    log_verbosity_level: int
    only_execute_path_to_fetches: bool
    synchronize_execution_providers: bool
    training_mode: bool
    def add_run_config_entry(self, key: str, value: str) -> None: ...
    def get_run_config_entry(self, key: str) -> str: ...

class Session:
    def __init__(self, environment: Environment, model: bytes | str | os.PathLike, options: SessionOptions) -> None: ...
    def run(self, output_names: Sequence[str] | None, feeds: dict[str, Any],
            options: RunOptions | None = ...) -> list[Any]: ...
    def run_values(self, output_names: Sequence[str] | None, feeds: Sequence[tuple[str, Value]],
                   options: RunOptions | None = ...) -> list[Value]: ...
    def run_async(self, output_names: Sequence[str] | None, feeds: dict[str, Any],
                  callback: Callable[[list[Any], Any, Exception | None], object], user_data: Any,
                  options: RunOptions | None = ...) -> None: ...
    def run_with_binding(self, binding: IoBinding, options: RunOptions | None = ...) -> None: ...
    def create_binding(self) -> IoBinding: ...
    def inputs(self) -> list[ValueDescription]: ...
    def outputs(self) -> list[ValueDescription]: ...
    def overridable_initializers(self) -> list[ValueDescription]: ...
    def model_metadata(self) -> ModelMetadata: ...
    def memory_info_for_inputs(self) -> list[MemoryInfo]: ...
    def memory_info_for_outputs(self) -> list[MemoryInfo]: ...
    def providers(self) -> list[str]: ...
    def fallbacks(self) -> list[Fallback]: ...
    def cache_use(self) -> CacheUse: ...
    def set_ep_dynamic_options(self, options: Mapping[str, str]) -> None: ...
    def shrink(self) -> None: ...
    def end_profiling(self) -> str: ...

class SessionOptions:
    def __init__(self) -> None: ...
    def add_config_entry(self, key: str, value: str) -> None: ...
    def append_execution_provider(self, name: str, options: Mapping[str, str] = ..., version_range: str = ...,
                                  devices: Sequence[str] = ...) -> None: ...
    def append_devices(self, devices: Sequence[EpDevice], options: Mapping[str, str]) -> None: ...
    def set_policy(self, policy: int) -> None: ...
    def load_selection(self, file: str | os.PathLike) -> None: ...
    def cancel(self, value: bool) -> None: ...
    def enable_mem_pattern(self, enable: bool) -> None: ...
    def enable_mem_reuse(self, enable: bool) -> None: ...
    def enable_profiling(self, file: str | os.PathLike) -> None: ...
    def set_optimized_model_file_path(self, file: str | os.PathLike) -> None: ...
    def set_log_id(self, log_id: str) -> None: ...
    def set_log_severity_level(self, level: int) -> None: ...
    def add_initializer(self, name: str, value: Value) -> None: ...
    def add_external_initializers(self, initializers: Sequence[tuple[str, Value]]) -> None: ...
    def add_files_in_memory(self, files: Sequence[tuple[str, Any]]) -> None: ...
    def set_progress(self, function: Callable[[str, float, str], object]) -> None: ...

class Value:
    def __init__(self) -> None: ...
    @staticmethod
    def of_array(array: np.ndarray) -> Value: ...
    @staticmethod
    def of_bytes(element_type: int, shape: Sequence[int], bytes: np.ndarray) -> Value: ...
    @staticmethod
    def of_address(element_type: int, shape: Sequence[int], address: int) -> Value: ...
    @staticmethod
    def of_strings(shape: Sequence[int], strings: Sequence[bytes]) -> Value: ...
    @staticmethod
    def allocate(element_type: int, shape: Sequence[int]) -> Value: ...
    @staticmethod
    def allocate_in(memory: str, device_type: str, device_id: int, element_type: int,
                    shape: Sequence[int]) -> Value: ...
    @staticmethod
    def sequence(elements: Sequence[Value], element_type: int = ...) -> Value: ...
    @staticmethod
    def map(keys: Value, values: Value) -> Value: ...
    @staticmethod
    def sparse(format: int, shape: Sequence[int], values: Value, indices: Sequence[int],
               outer_indices: Sequence[int] = ...) -> Value: ...
    @staticmethod
    def of_dlpack(capsule: Any, is_bool: bool = ...) -> Value: ...
    kind: int
    element_type: int
    shape: list[int]
    nbytes: int
    address: int
    memory: MemoryInfo
    def copy_to(self, memory: str, device_type: str, device_id: int) -> Value: ...
    def parts(self) -> list[Value]: ...
    def strings(self) -> list[Any]: ...
    def bytes(self) -> np.ndarray: ...
    def object(self) -> Any: ...
    def dlpack(self) -> Any: ...
    def update(self, array: np.ndarray) -> None: ...
    def dense(self) -> Value: ...

class ValueDescription:
    name: str
    type: str
    kind: int
    element_type: int
    is_optional: bool
    has_default: bool
    has_shape: bool
    shape: list[int]
    dim_names: list[str]

def compile(environment: Environment, options: SessionOptions,
            compilation: Mapping[str, Any]) -> tuple[CompileReport, bytes]: ...
def dtype_of(element_type: int) -> np.dtype | None: ...
def element_bits(element_type: int) -> int: ...
def is_uint8_dlpack(capsule: Any) -> bool: ...
def element_type_name(element_type: int) -> str: ...
def element_type_of(dtype: np.dtype) -> int: ...
def parse_policy(name: str) -> int: ...
def partition(environment: Environment, model: str | os.PathLike, options: SessionOptions,
              compile: bool) -> ModelPartitioning: ...
def plan(environment: Environment, model: str | os.PathLike, options: SessionOptions) -> list[GraphPlan]: ...
