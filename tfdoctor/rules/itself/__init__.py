"""TFD0: tfdoctor itself."""
