"""Coverage-guided fuzzing of what reads the bytes of strangers: python -m tests.fuzz --seconds 600."""
