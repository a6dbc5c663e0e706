"""TFD3: CUDA libraries."""
