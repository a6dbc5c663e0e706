"""TFD2: driver, kernel, container."""
