"""TFD5: TensorFlow and its companions."""
