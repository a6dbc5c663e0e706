"""tfdoctor: says whether TensorFlow will use the GPUs of a machine, why not, and what to do."""

__version__ = "0.1.0"
