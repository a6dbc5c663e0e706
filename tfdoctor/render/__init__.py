"""One file per output format; no judgement."""
