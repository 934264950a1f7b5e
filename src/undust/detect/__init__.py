"""Pages to clusters: text, words, fingerprints, pairs, clusters."""
