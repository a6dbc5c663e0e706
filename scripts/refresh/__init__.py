"""Reading package metadata and wheels to rebuild the rows of compat/ that can be derived from them."""
