"""TFD1: GPUs and links."""
