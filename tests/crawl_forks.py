"""Begins crawls in forks of a process that has loaded all they need, so that killing one a hundred times costs little.

python -m tests.crawl_forks    reads what to crawl as lines of JSON, and tells the number of the process of each
"""

import json
import os
import sys

import undust.crawl.running
import undust.pipeline  # noqa: F401 - the same
from undust.crawl.flow import crawl_here


def main() -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        child = os.fork()
        if not child:
            try:
                crawl_here(asked["urls"], asked["folder"], asked["options"], resume=asked["resume"])
            finally:
                os._exit(0)
        print(child, flush=True)
        sys.stdin.readline()  # until the end is known, so that no other process gets its number
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
