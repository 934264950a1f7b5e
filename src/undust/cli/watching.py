"""Shows how far long work has come: a bar while a terminal looks on, else a plain line every so many seconds."""

import contextlib
import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

EVERY_SECONDS = 10.0
"""A plain line for a log comes so often; what takes less time says nothing. UNDUST_PROGRESS_SECONDS says otherwise."""


@dataclass(slots=True)
class Standing:
    """How far some work has come. `done` of `total` tells how much is left; `count` is what the rate is of."""

    doing: str
    unit: str = ""
    """What is counted, such as pages."""
    total: float | None = None
    done: float = 0
    count: int = 0
    begun: float = field(default_factory=time.monotonic)

    def move(self, done: float, count: int) -> None:
        """Tell how far the work is."""
        self.done, self.count = done, count

    def share(self) -> float | None:
        """Give the share that is done; None where nobody knows."""
        return min(self.done / self.total, 1.0) if self.total else None

    def parts(self, seconds: float, held_bytes: int) -> list[str]:
        """Say how far the work is after some time, with what it holds in memory.

        >>> Standing("reading", "pages", 1000, 250, 500, 0.0).parts(10.0, 300_000_000)
        ['25%', '500 pages', '50 pages/s', '0:30 left', '300 MB']
        >>> Standing("rules", begun=0.0).parts(75.0, 1_500_000_000)
        ['1:15', '1.5 GB']
        """
        share = self.share()
        said = [] if share is None else [f"{share:.0%}"]
        if self.count:
            said += [f"{self.count:,} {self.unit}", f"{_rate(self.count / max(seconds, 1e-9))} {self.unit}/s"]
        if share and share < 1:
            said.append(f"{_clock(seconds / share - seconds)} left")
        else:
            said.append(_clock(seconds))
        return [*said, _size(held_bytes)]


def _rate(rate: float) -> str:
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.1f}"


def _clock(seconds: float) -> str:
    minutes, left = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{left:02}" if minutes >= 60 else f"{minutes}:{left:02}"


def _size(size: float) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


def every_seconds(wanted: str) -> float:
    """Read how often a line comes; 0 is never, and what is no number is as by default.

    >>> every_seconds("60"), every_seconds("0"), every_seconds(""), every_seconds("often")
    (60.0, 0.0, 10.0, 10.0)
    """
    try:
        seconds = float(wanted)
    except ValueError:
        return EVERY_SECONDS
    return min(max(seconds, 0.0), 86_400.0) if math.isfinite(seconds) else EVERY_SECONDS


@contextlib.contextmanager
def watched(standing: Standing, say: Callable[[str], None], *, quiet: bool) -> Iterator[None]:
    """Show how far the work within stands, while it goes on; nothing if `quiet`."""
    if quiet:
        yield
    elif sys.stderr.isatty():
        with _bar(standing):
            yield
    else:
        with _lines(standing, say):
            yield


@contextlib.contextmanager
def _lines(standing: Standing, say: Callable[[str], None]) -> Iterator[None]:
    every, ended = every_seconds(os.environ.get("UNDUST_PROGRESS_SECONDS", "")), threading.Event()
    if not every:
        yield
        return

    def tell() -> None:
        while not ended.wait(every):
            say(f"{standing.doing}: {', '.join(_parts(standing))}")

    teller = threading.Thread(target=tell, name="undust-progress", daemon=True)
    teller.start()
    try:
        yield
    finally:
        ended.set()
        teller.join()


def _parts(standing: Standing) -> list[str]:
    from undust.memory import held_bytes

    return standing.parts(time.monotonic() - standing.begun, held_bytes())


@contextlib.contextmanager
def _bar(standing: Standing) -> Iterator[None]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn
    from rich.text import Text

    class Told(ProgressColumn):
        """All that is known, said anew a few times a second."""

        max_refresh = 0.25

        def render(self, task: Task) -> Text:
            return Text(" · ".join(_parts(standing)), style="progress.remaining")

    class Moved(BarColumn):
        """The bar, as far as the work is; it swings where nobody knows."""

        def render(self, task: Task) -> Any:
            task.total, task.completed = standing.total, standing.done
            return super().render(task)

    columns = (SpinnerColumn(), TextColumn("{task.description}"), Moved(bar_width=28), Told())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        bar.add_task(standing.doing, total=standing.total)
        yield
