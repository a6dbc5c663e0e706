"""TFD7: speed."""
