"""Numba kernels: bytes in, arrays out. The only rooms where code may look like C."""
