"""The exceptions and option classes, where scripts for onnxruntime import them from."""
from .. import *  # noqa: F403
from .._errors import *  # noqa: F403
