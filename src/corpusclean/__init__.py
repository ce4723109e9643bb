"""corpusclean: from raw corpora to verified training shards, by one recipe."""
