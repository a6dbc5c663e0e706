"""One file per source: each probe looks at one thing and returns a fact, as seen, without opinion."""
