"""Fuzzes one target in this process: python -m tests.fuzz.one TARGET [options of libFuzzer] FOLDER..."""

import importlib
import pkgutil
import sys

import undust.kernels


def main() -> None:
    """Instrument our code while it is imported, then hand over to libFuzzer, which ends the process."""
    import atheris

    # Numba compiles the kernels from their bytecode, which must stay as it is: they are imported before.
    for module in pkgutil.iter_modules(undust.kernels.__path__, "undust.kernels."):
        importlib.import_module(module.name)
    with atheris.instrument_imports(include=["undust"]):
        from tests.fuzz.targets import TARGETS
    target = TARGETS[sys.argv[1]]
    target(b"http://warm.test/up")  # what is compiled at the first call is not the fault of an input
    atheris.Setup([sys.argv[0], *sys.argv[2:]], target)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
