"""Comparing what `tfdoctor check` predicts with what TensorFlow really does."""
