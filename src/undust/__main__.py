"""`python -m undust` is the command line too."""

import sys

from undust.cli import main

if __name__ == "__main__":
    sys.exit(main())
