"""The crash matrix: what writes is killed, starved and disturbed. python -m tests.reliability --kills 1000."""
