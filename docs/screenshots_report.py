"""Draws the pictures of the docs: the report of a generated web, light, dark and on a phone (needs Chromium)."""

import base64
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

import undust

DOCS = Path(__file__).parent
CARD = """() => {
  const card = document.querySelector('.card:has(.same)') || document.querySelector('.card');
  card.open = true;
  card.id = 'shown';
  card.querySelectorAll('.rule:nth-of-type(n+3)').forEach(rule => rule.remove());
  card.querySelectorAll('.tree details').forEach(node => { node.open = true; });
}"""
"""Opens a card with nodes that hold the same pages, and leaves two of its rules."""

SHOTS = (
    # name, scheme, width, height, scale, what to do before, where to begin
    ("report-light", "light", 1280, 1560, 1.0, "", "header"),
    ("report-dark", "dark", 1280, 1560, 1.0, CARD, "#shown"),
    ("report-phone", "light", 390, 1180, 1.5, "", "header"),
)


def main() -> None:
    """Draw the report that is named, or that of a web that is generated first."""
    with tempfile.TemporaryDirectory(prefix="undust-") as folder:
        page = Path(sys.argv[1]) if len(sys.argv) > 1 else _report(Path(folder))
        with sync_playwright() as running:
            chromium = running.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            for shot in SHOTS:
                _draw(chromium, page, *shot)
            chromium.close()


def _report(folder: Path) -> Path:
    undust.synth(folder / "web", sites=24, urls=24_000, spread=1.2, pages="warc", edits=0.3)
    undust.run(*map(str, (folder / "web").glob("*.warc*")), output=folder / "found")
    return folder / "found" / "report.html"


def _draw(
    chromium: Any, page: Path, name: str, scheme: str, width: int, height: int, scale: float, before: str, start: str
) -> None:
    context = chromium.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, device_scale_factor=scale
    )
    opened = context.new_page()
    opened.goto(page.resolve().as_uri())
    if before:
        opened.evaluate(before)
    box = opened.locator(start).bounding_box()
    top = max(box["y"] - 24, 0) if start != "header" else 0
    picture = context.new_cdp_session(opened).send(
        "Page.captureScreenshot",
        {
            "format": "webp",
            "quality": 82,
            "captureBeyondViewport": True,
            "clip": {"x": 0, "y": top, "width": width, "height": height, "scale": 1},
        },
    )
    (DOCS / f"{name}.webp").write_bytes(base64.b64decode(picture["data"]))
    context.close()


if __name__ == "__main__":
    main()
