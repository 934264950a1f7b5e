"""How much memory there is, how much of it we may use, and how much we use now."""

import contextlib
import os
import re
import resource
import sys
from pathlib import Path

import pyarrow as pa

from undust.errors import UsageError

SHARE = 2
"""One part in so many of the machine's memory is ours where nobody says how much."""

MIN_WORKING_BYTES = 32 * 2**20

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([kmgt]i?)?b?\s*", re.IGNORECASE)
_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def parse_size(text: str | int) -> int:
    """Read a size, as people write it, as bytes.

    >>> parse_size("2GB"), parse_size("1.5 GiB"), parse_size("750M"), parse_size(4096)
    (2000000000, 1610612736, 750000000, 4096)
    """
    found = _SIZE.fullmatch(str(text))
    size = int(float(found[1]) * _UNITS[(found[2] or "").lower()]) if found else 0
    if size < 1:
        raise UsageError(f"{text!r} is no size; write it like 2GB or 500MB")
    return size


def usable_bytes() -> int:
    """Give the memory that is ours by default: a share of what the machine, or the container, has."""
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for limit in map(Path, _LIMITS):
        text = limit.read_text().strip() if limit.is_file() else ""
        if text.isdigit():
            there = min(there, int(text))
    return there // SHARE


def resident_bytes() -> int:
    """Give the memory that this process holds now; where the system does not tell, the most it has held."""
    pa.default_memory_pool().release_unused()
    held = Path("/proc/self/statm")
    if held.exists():
        return int(held.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def held_bytes() -> int:
    """Give the memory that this process and those that it has started hold now, for show: a look, nothing is freed."""
    own = Path("/proc/self")
    if not own.exists():
        return resident_bytes()
    total = 0
    waiting = [str(os.getpid())]
    while waiting:
        process = Path("/proc", waiting.pop())
        try:
            total += int((process / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
            for task in (process / "task").iterdir():
                waiting += (task / "children").read_text().split()
        except (OSError, IndexError):
            continue  # it has ended meanwhile, or the system does not tell
    return total


def forget_peak() -> None:
    """Let `peak_bytes` count from now on, where the system can; elsewhere it counts from the start of the process."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_bytes() -> int:
    """Give the most memory that this process has held since `forget_peak`."""
    unit = 1 if sys.platform == "darwin" else 1024
    status = Path("/proc/self/status")
    if status.exists():
        found = re.search(r"^VmHWM:\s*([0-9]+) kB", status.read_text(), re.MULTILINE)
        if found:
            return int(found[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def working_bytes(limit: str | int | None, reserved: int, what: str) -> int:
    """Give what is left of a limit for work that can spill to disk, when `reserved` is for what cannot.

    `UsageError` where that is nothing: a limit that cannot be kept should be said at once, not broken.
    """
    allowed = usable_bytes() if limit is None else parse_size(limit)
    held = resident_bytes()
    left = allowed - held - reserved
    if left < MIN_WORKING_BYTES:
        least = held + reserved + MIN_WORKING_BYTES
        raise UsageError(
            f"{what} need {least / 1e9:.1f} GB of memory at least; give --memory {least / 1e9 + 0.1:.1f}GB"
        )
    return left
