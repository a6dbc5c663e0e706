"""TFD6: configuration."""
