"""A run over HTTP: an API that crawlers ask, and a page on which people look at duplicates and rules."""
