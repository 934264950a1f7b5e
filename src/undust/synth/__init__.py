"""A generated web: sites like those of real web software, with planted duplicates, and the truth about them."""
