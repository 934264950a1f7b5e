"""undust finds duplicate web pages and learns URL rules that keep crawlers from fetching them again."""

__version__ = "0.1.0"
