"""TFD8: several GPUs, several hosts."""
