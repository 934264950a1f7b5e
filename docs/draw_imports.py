"""Draws which room imports which, by the layers that `make check` holds: what `docs/imports.svg` shows."""

import tomllib
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[1]
WIDTH, ROW, BOX, GAP = 940, 62, 28, 12
STYLE = (
    "text{font:13px system-ui,sans-serif;text-anchor:middle;fill:#1f2933}"
    "rect{fill:#eef3f8;stroke:#7b8794}path{fill:none;stroke:#7b8794;stroke-opacity:.45}"
    "@media(prefers-color-scheme:dark){text{fill:#e4e7eb}rect{fill:#1f2933}}"
)


def layers() -> list[list[str]]:
    """The rooms of each layer, from the top, as the contract names them."""
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]
    return [[room.strip(" ()").removeprefix("undust.") for room in line.split("|")] for line in contract["layers"]]


def imports(rooms: list[str]) -> list[tuple[str, str]]:
    """Pairs of rooms of which the first imports the second, without those that follow from others."""
    graph = grimp.build_graph("undust", cache_dir=None)
    direct = {
        room: {
            other
            for other in rooms
            if other != room
            and graph.find_shortest_chains(f"undust.{room}", f"undust.{other}", as_packages=True)
            and graph.direct_import_exists(importer=f"undust.{room}", imported=f"undust.{other}", as_packages=True)
        }
        for room in rooms
    }
    reached: dict[str, set[str]] = {}
    for room in reversed(rooms):  # what a room imports stands below it
        reached[room] = direct[room].union(*(reached.get(other, set()) for other in direct[room]))
    return [
        (room, other)
        for room in rooms
        for other in sorted(direct[room])
        if not any(other in reached[between] for between in direct[room] - {other})
    ]


def draw() -> str:
    """The picture, as SVG."""
    rows = layers()
    places: dict[str, tuple[float, int, float]] = {}
    for row, rooms in enumerate(rows):
        widths = [8.2 * len(room) + 14 for room in rooms]
        left = (WIDTH - sum(widths) - GAP * (len(rooms) - 1)) / 2
        for room, width in zip(rooms, widths, strict=True):
            places[room] = (left + width / 2, 8 + row * ROW, width)
            left += width + GAP
    parts = [f"<style>{STYLE}</style>"]
    for room, other in imports([room for rooms in rows for room in rooms]):
        (x, y, _), (to_x, to_y, _) = places[room], places[other]
        parts.append(
            f'<path d="M{x:.0f} {y + BOX}C{x:.0f} {y + ROW} {to_x:.0f} {to_y - ROW + BOX} {to_x:.0f} {to_y}"/>'
        )
    for room, (x, y, width) in places.items():
        parts.append(f'<rect x="{x - width / 2:.0f}" y="{y}" width="{width:.0f}" height="{BOX}" rx="4"/>')
        parts.append(f'<text x="{x:.0f}" y="{y + 19}">{room}</text>')
    size = f'viewBox="0 0 {WIDTH} {len(rows) * ROW}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>\n' + "\n".join(parts) + "\n</svg>\n"
