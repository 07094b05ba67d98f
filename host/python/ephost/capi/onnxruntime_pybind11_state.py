"""The exceptions, option classes and functions of onnxruntime's extension, where scripts import them from."""
from ephost import *  # noqa: F403
from ephost._compatibility import get_default_session_options, is_dlpack_uint8_tensor  # noqa: F401
from ephost._device_checks import (OrtCompiledModelCompatibility, OrtDeviceEpIncompatibilityReason,
                              get_compatibility_info_from_model, get_compatibility_info_from_model_bytes,
                              get_hardware_device_ep_incompatibility_details, get_hardware_devices,
                              get_model_compatibility_for_ep_devices)
from ephost._errors import *  # noqa: F403
