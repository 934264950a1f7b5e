"""The charts of the report: cluster sizes, saving against false pairs, similarities; and small bars in tables."""

import math
from typing import Any

from undust.run.html.axes import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, across, chart, upward
from undust.run.html.markup import Html, tag, text, titled
from undust.run.html.numbers import between, count, percent, plural

_BAR_WIDTH, _BAR_HEIGHT = 120.0, 14.0


def draw_sizes(sizes: dict[str, Any]) -> Html:
    """Draw how many clusters there are of each size, both by their logarithms (paper 000, figure 1)."""
    counts = [(int(size), int(number)) for size, number in sizes["counts"]]
    x = across(0.8, max(10.0, 1.3 * max(size for size, _ in counts)), log=True)
    y = upward(0.7, max(10.0, 1.5 * max(number for _, number in counts)), log=True)
    marks = []
    if sizes["exponent"] is not None:
        marks.append(_law(counts, sizes["exponent"], x, y))
    marks += [
        titled(
            "circle",
            f"{plural(number, 'cluster')} of {plural(size, 'URL')}",
            class_="dot",
            cx=x.at(size),
            cy=y.at(number),
            r=4,
        )
        for size, number in counts
    ]
    law = "" if sizes["exponent"] is None else f", close to a power law with exponent {sizes['exponent']:.1f}"
    return chart(
        "sizes",
        f"Scatter plot on logarithmic axes: number of clusters by their number of URLs{law}. The numbers follow.",
        marks,
        x=[(x.at(tick), count(tick)) for tick in x.ticks()],
        y=[(y.at(tick), count(tick)) for tick in y.ticks()],
        x_title="URLs of a cluster",
        y_title="clusters",
    )


def _law(counts: list[tuple[int, int]], exponent: float, x: Any, y: Any) -> Html:
    """Draw the power law with as many clusters of several URLs as there are."""
    several = sum(number for size, number in counts if size > 1)
    largest = max(size for size, _ in counts)
    whole = sum(size**-exponent for size in range(2, min(largest, 10_000) + 1)) or 1.0
    first = several / whole
    end = min(float(largest), (first / 0.7) ** (1 / exponent))
    start = max(2.0, (first / y.high) ** (1 / exponent))
    return tag(
        "line",
        class_="law",
        x1=x.at(start),
        y1=y.at(first * start**-exponent),
        x2=x.at(end),
        y2=y.at(max(first * end**-exponent, y.low)),
    )


def draw_tradeoff(tradeoff: dict[str, Any], measure: str, title: str) -> Html:
    """Draw a measure for each limit of false pairs that was tried, with how sure it is."""
    points = tradeoff["points"]
    room = (WIDTH - LEFT - RIGHT) / len(points)
    places = [LEFT + room * (at + 0.5) for at in range(len(points))]
    possible = tradeoff["duplicate_rate"] if measure == "compression" else None
    top = max([point["intervals"][measure][1] for point in points] + [possible or 0.0, 0.001])
    y = upward(0.0, min(top * 1.08, 1.0))
    marks = [
        tag("rect", class_="chosen", x=at - room / 2, y=TOP, width=room, height=HEIGHT - BOTTOM - TOP)
        for at, point in zip(places, points, strict=True)
        if point["max_fpr"] == tradeoff["max_fpr"]
    ]
    if possible is not None:
        marks.append(tag("line", class_="limit", x1=LEFT, x2=WIDTH - RIGHT, y1=y.at(possible), y2=y.at(possible)))
    line = " ".join(f"{at:.1f},{y.at(point[measure]):.1f}" for at, point in zip(places, points, strict=True))
    marks.append(tag("polyline", class_="curve", points=line))
    for at, point in zip(places, points, strict=True):
        low, high = point["intervals"][measure]
        marks.append(tag("line", class_="whisker", x1=at, x2=at, y1=y.at(low), y2=y.at(high)))
        said = f"{title} {percent(point[measure], 2)} ({between((low, high), 2)}) with max_fpr {point['max_fpr']:g}"
        marks.append(titled("circle", said, class_="dot", cx=at, cy=y.at(point[measure]), r=5))
    if possible is not None:
        above = y.at(possible) - 5
        marks.append(tag("text", text("all duplicates"), class_="note", x=WIDTH - RIGHT, y=above, text_anchor="end"))
    return chart(
        "tradeoff",
        f"Line chart: {title}, by the share of false pairs that rules may have. The numbers follow.",
        marks,
        x=[(at, f"{point['max_fpr']:g}") for at, point in zip(places, points, strict=True)],
        y=[(y.at(tick), percent(tick, 0 if top > 0.1 else 1 if top > 0.01 else 2)) for tick in y.ticks()],
        x_title="max_fpr: false pairs that a rule may have",
        y_title=title,
    )


def draw_similarities(name: str, found: dict[str, Any], of: str) -> Html:
    """Draw how many pages are how similar, with the threshold marked."""
    edges, counts = found["edges"], found["counts"]
    x = across(edges[0], 1.0)
    most = max([*counts, 1])
    # Roots: the few pages below the threshold matter as much as the many that are the same.
    height = upward(0.0, math.sqrt(most) * 1.05)
    threshold = found.get("threshold")
    marks = []
    for low, high, number in zip(edges[:-1], edges[1:], counts, strict=True):
        if number:
            above = threshold is None or low >= threshold - 1e-6
            top = height.at(math.sqrt(number))
            marks.append(
                titled(
                    "rect",
                    f"{plural(number, 'page')} with a similarity from {low:.3g} to {high:.3g}",
                    class_="bar" if above else "bar below",
                    x=x.at(low) + 0.5,
                    y=top,
                    width=max(x.at(high) - x.at(low) - 1, 1.0),
                    height=HEIGHT - BOTTOM - top,
                )
            )
    if threshold is not None:
        at = x.at(threshold)
        marks.append(tag("line", class_="limit", x1=at, x2=at, y1=TOP, y2=HEIGHT - BOTTOM))
        left = at > WIDTH / 2
        said = text(f"threshold {threshold:.3g}")
        where = at - 6 if left else at + 6
        marks.append(tag("text", said, class_="note", x=where, y=TOP + 10, text_anchor="end" if left else "start"))
    return chart(
        name,
        f"Histogram: {of}, by similarity{'' if threshold is None else f'; the threshold is {threshold:.3g}'}."
        " The numbers follow.",
        marks,
        x=[(x.at(tick), f"{tick:.3g}") for tick in x.ticks()],
        y=[(height.at(math.sqrt(tick)), count(tick)) for tick in _squares(most)],
        x_title="similarity",
        y_title="pages",
    )


def _squares(most: int) -> list[int]:
    """Choose round counts that stand well apart on an axis of roots."""
    found: list[int] = []
    for tick in (0, *(times * 10**power for power in range(9) for times in (1, 2, 5))):
        if tick <= most and (not found or math.sqrt(tick) - math.sqrt(found[-1]) >= math.sqrt(most) / 6):
            found.append(tick)
    return found


def share_bar(share: float, *, interval: tuple[float, float] | None = None, limit: float | None = None) -> Html:
    """Draw a share as a small bar for a table: how sure it is as a thin line, what would be possible as a mark."""
    marks = [tag("rect", class_="track", x=0, y=3, width=_BAR_WIDTH, height=8, rx=2)]
    if share > 0:
        marks.append(tag("rect", class_="fill", x=0, y=3, width=max(_BAR_WIDTH * min(share, 1.0), 1.0), height=8, rx=2))
    if interval is not None:
        low, high = (_BAR_WIDTH * min(max(end, 0.0), 1.0) for end in interval)
        marks.append(tag("line", class_="whisker", x1=low, x2=max(high, low + 1), y1=7, y2=7))
    if limit is not None:
        at = min(max(_BAR_WIDTH * limit, 1.0), _BAR_WIDTH - 1)
        marks.append(tag("line", class_="limit", x1=at, x2=at, y1=0, y2=_BAR_HEIGHT))
    size = f"0 0 {_BAR_WIDTH:.0f} {_BAR_HEIGHT:.0f}"
    return tag("svg", *marks, viewBox=size, class_="mini", aria_hidden="true")


def stacked_bar(parts: list[tuple[str, float, str]]) -> Html:
    """Draw parts of a whole side by side: the class, the share, and what to say of each."""
    marks, at = [], 0.0
    for name, share, said in parts:
        wide = 1000 * share
        if wide > 0:
            marks.append(titled("rect", said, class_=f"part {name}", x=at, y=0, width=max(wide - 2, 1.0), height=34))
        at += wide
    summary = "; ".join(said for _, _, said in parts)
    size = "0 0 1000 34"
    return tag("svg", *marks, viewBox=size, preserveAspectRatio="none", class_="stack", role="img", aria_label=summary)
