"""Which TensorFlow fits: what was asked, the comparisons with each release, the answer. Pure; reads only tables."""
