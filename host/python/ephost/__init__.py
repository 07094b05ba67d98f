"""Runs ONNX models on execution-provider plugins, with the names of the package onnxruntime.

    import ephost as ort

    session = ort.InferenceSession("model.onnx", providers=["dnnl"])
    outputs = session.run(None, {"data": image})
"""
try:
    import numpy as _numpy  # noqa: F401
except ImportError as _error:
    raise ImportError("ephost needs numpy, which is not installed for this Python; install python3-numpy, or numpy "
                      "with pip") from _error

from ._ephost import (CacheUse, CompileReport, Fallback, ModelMetadata)
from ._ephost import version as ephost_version
from ._compatibility import (OrtArenaCfg, create_and_register_allocator, create_and_register_allocator_v2,
                             disable_telemetry_events, enable_telemetry_events, has_collective_ops, preload_dlls,
                             print_debug_info, set_seed)
from ._enums import (ExecutionMode, ExecutionOrder, GraphOptimizationLevel, InitializerLocation, OrtAllocatorType,
                     OrtCompileApiFlags, OrtExecutionProviderDevicePolicy, OrtHardwareDeviceType, OrtMemType,
                     OrtSparseFormat)
from ._environment import API_VERSION as __version__
from ._environment import (OrtEpDevice, OrtHardwareDevice, get_all_providers, get_available_providers, get_build_info,
                           get_device, get_ep_devices, get_ep_targets, get_version_string,
                           register_execution_provider_library, set_default_logger_callback,
                           set_default_logger_severity, set_default_logger_verbosity, set_global_thread_pool_sizes,
                           unregister_execution_provider_library)
from ._errors import EphostError, StatusCode
from ._errors import (Cancelled, DeadlineExceeded, DeviceLost, EngineError, EPFail, Fail, InvalidArgument,
                      InvalidGraph, InvalidProtobuf, ModelLoadCanceled, ModelLoaded, ModelRequiresCompilation, NoModel,
                      NoSuchFile, NotFound, NotImplemented, OutOfMemory, RuntimeException)
from ._options import SessionOptions
from ._device_checks import (OrtCompiledModelCompatibility, OrtDeviceEpIncompatibilityReason,
                             get_compatibility_info_from_model, get_compatibility_info_from_model_bytes,
                             get_hardware_device_ep_incompatibility_details, get_hardware_devices,
                             get_model_compatibility_for_ep_devices)
from ._devices import (OrtDevice, OrtDeviceMemoryType, OrtDeviceVendorId, OrtMemoryInfo, OrtMemoryInfoDeviceType)
from ._ortvalue import OrtValue, OrtValueVector, SparseTensor
from ._adapters import AdapterFormat, LoraAdapter, RunOptions
from ._assignment import OrtEpAssignedNode, OrtEpAssignedSubgraph
from ._binding import IOBinding
from ._session import InferenceSession, NodeArg
from ._compiler import ModelCompiler, OrtExternalInitializerInfo
from ._reports import ModelPlan, Partitioning, partition, plan

SessionIOBinding = IOBinding

for _class in (CacheUse, CompileReport, Fallback, ModelMetadata, RunOptions, OrtMemoryInfo, OrtEpDevice,
               OrtHardwareDevice, SessionOptions, OrtArenaCfg, OrtDevice, OrtValue, OrtValueVector, SparseTensor,
               InferenceSession, IOBinding, NodeArg, ModelCompiler, OrtExternalInitializerInfo, ModelPlan, Partitioning,
               AdapterFormat, LoraAdapter, OrtEpAssignedNode, OrtEpAssignedSubgraph):
    _class.__module__ = __name__

__all__ = [
    "AdapterFormat", "CacheUse", "Cancelled", "CompileReport", "DeadlineExceeded", "DeviceLost", "EPFail",
    "EngineError", "EphostError", "ExecutionMode", "ExecutionOrder", "Fail", "Fallback", "GraphOptimizationLevel",
    "IOBinding", "InferenceSession", "InitializerLocation", "InvalidArgument", "InvalidGraph", "InvalidProtobuf",
    "LoraAdapter", "ModelCompiler", "ModelLoadCanceled", "ModelLoaded", "ModelMetadata", "ModelPlan",
    "ModelRequiresCompilation", "NoModel", "NoSuchFile", "NodeArg", "NotFound", "NotImplemented", "OrtAllocatorType",
    "OrtArenaCfg", "OrtCompileApiFlags", "OrtCompiledModelCompatibility", "OrtDevice",
    "OrtDeviceEpIncompatibilityReason", "OrtDeviceMemoryType", "OrtDeviceVendorId", "OrtEpAssignedNode",
    "OrtEpAssignedSubgraph", "OrtEpDevice", "OrtExecutionProviderDevicePolicy", "OrtExternalInitializerInfo",
    "OrtHardwareDevice", "OrtHardwareDeviceType", "OrtMemType", "OrtMemoryInfo", "OrtMemoryInfoDeviceType",
    "OrtSparseFormat", "OrtValue", "OrtValueVector", "OutOfMemory", "Partitioning", "RunOptions", "RuntimeException",
    "SessionIOBinding", "SessionOptions", "SparseTensor", "StatusCode", "__version__", "create_and_register_allocator",
    "create_and_register_allocator_v2", "disable_telemetry_events", "enable_telemetry_events", "ephost_version",
    "get_all_providers", "get_available_providers", "get_build_info", "get_compatibility_info_from_model",
    "get_compatibility_info_from_model_bytes", "get_device", "get_ep_devices", "get_ep_targets",
    "get_hardware_device_ep_incompatibility_details", "get_hardware_devices", "get_model_compatibility_for_ep_devices",
    "get_version_string", "has_collective_ops", "partition", "plan", "preload_dlls", "print_debug_info",
    "register_execution_provider_library", "set_default_logger_callback", "set_default_logger_severity",
    "set_default_logger_verbosity", "set_global_thread_pool_sizes", "set_seed", "unregister_execution_provider_library",
]

from . import capi  # noqa: E402 (it has all of these)
