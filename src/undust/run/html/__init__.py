"""The report as one page: numbers in, HTML out. Nothing here opens a file but the style and the script of the page."""
