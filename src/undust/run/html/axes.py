"""The frame of a chart: scales, axes and grid, as SVG that takes its colours from the page."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from undust.run.html.markup import Html, join, tag, text

WIDTH, HEIGHT = 640.0, 300.0
LEFT, RIGHT, TOP, BOTTOM = 72.0, 16.0, 18.0, 52.0


@dataclass(frozen=True, slots=True)
class Scale:
    """Where values are on an axis: from `low` at `start` to `high` at `end`, by their logarithms if `log`."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def at(self, value: float) -> float:
        """Give the place of a value; one beyond the ends is at the end."""
        low, high, here = self.low, self.high, min(max(value, self.low), self.high)
        if self.log:
            low, high, here = math.log10(low), math.log10(high), math.log10(here)
        share = (here - low) / (high - low) if high > low else 0.5
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Give round values for the marks of the axis.

        >>> Scale(0, 0.7, 0, 1).ticks(), Scale(1, 2000, 0, 1, log=True).ticks()
        ([0.0, 0.2, 0.4, 0.6], [1.0, 10.0, 100.0, 1000.0])
        """
        if self.log:
            first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
            return [10.0**power for power in range(first, last + 1)]
        span = self.high - self.low
        step = 10.0 ** math.floor(math.log10(span / 3)) if span > 0 else 1.0
        step *= next(times for times in (1, 2, 5, 10) if span / (step * times) <= 5)
        first = math.ceil(self.low / step - 1e-9)
        return [round(place * step, 10) for place in range(first, math.floor(self.high / step + 1e-9) + 1)]


def across(low: float, high: float, *, log: bool = False) -> Scale:
    """Give the scale of a horizontal axis."""
    return Scale(low, high, LEFT, WIDTH - RIGHT, log)


def upward(low: float, high: float, *, log: bool = False) -> Scale:
    """Give the scale of a vertical axis."""
    return Scale(low, high, HEIGHT - BOTTOM, TOP, log)


def chart(
    name: str,
    summary: str,
    marks: Sequence[Html],
    *,
    x: Sequence[tuple[float, str]],
    y: Sequence[tuple[float, str]],
    x_title: str,
    y_title: str,
) -> Html:
    """Draw a chart: marks over a grid. Ticks are places and what is written there."""
    floor = HEIGHT - BOTTOM
    grid = [tag("line", class_="grid", x1=LEFT, x2=WIDTH - RIGHT, y1=at, y2=at) for at, _ in y]
    grid += [tag("line", class_="tick", x1=at, x2=at, y1=floor, y2=floor + 4) for at, _ in x]
    words = [tag("text", text(said), x=at, y=floor + 20, text_anchor="middle") for at, said in x]
    words += [tag("text", text(said), x=LEFT - 8, y=at + 4, text_anchor="end") for at, said in y]
    words.append(
        tag("text", text(x_title), class_="axis", x=(LEFT + WIDTH - RIGHT) / 2, y=HEIGHT - 8, text_anchor="middle")
    )
    words.append(tag("text", text(y_title), class_="axis", x=0, y=11))
    floor_line = tag("line", class_="base", x1=LEFT, x2=WIDTH - RIGHT, y1=floor, y2=floor)
    return tag(
        "svg",
        *grid,
        floor_line,
        *words,
        join(list(marks)),
        viewBox=f"0 0 {WIDTH:.0f} {HEIGHT:.0f}",
        class_="chart",
        role="img",
        aria_label=summary,
        data_chart=name,
    )
