"""Takes the pictures of the page of `undust serve` for docs/serve.md: python docs/screenshots_serve.py [FOLDER].

It makes a small generated web and runs undust on it, unless FOLDER is a run; serves it, and looks at it with Chromium:
light, dark, and as on a phone.
"""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from playwright.sync_api import Browser, Page, sync_playwright

HERE = Path(__file__).parent / "serve"
WIDE = {"width": 1240, "height": 860}
PHONE = {"width": 390, "height": 844}


@contextmanager
def served(folder: str) -> Iterator[str]:
    """Serve a run; give the address."""
    command = [sys.executable, "-m", "undust", "serve", folder, "--port", "0", "--quiet"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - our own command
        try:
            yield process.stdout.readline().strip() if process.stdout else ""
        finally:
            process.terminate()


def make_run(folder: Path) -> str:
    """Make a run to look at."""
    options = ["--sites", "12", "--urls", "6000", "--pages", "warc", "--edits", "0.3", "-q"]
    verb = [sys.executable, "-m", "undust"]
    subprocess.run([*verb, "synth", "-o", folder / "web", *options], check=True)  # noqa: S603 - our own command
    crawls = sorted((folder / "web").glob("*.warc*"))
    subprocess.run([*verb, "run", *crawls, "-o", folder / "run", "-q"], check=True)  # noqa: S603 - our own command
    return str(folder / "run")


def take(browser: Browser, address: str, name: str, place: str, *, scheme: str = "light", phone: bool = False) -> None:
    """Take one picture."""
    options: dict[str, Any] = {"viewport": PHONE if phone else WIDE, "color_scheme": scheme}
    page = browser.new_page(**options, device_scale_factor=1.5 if phone else 1)
    page.goto(address + place)
    page.wait_for_selector("body[data-ready]")
    page.wait_for_selector("main:not(:has(.loading))")
    page.screenshot(path=HERE / f"{name}.png", animations="disabled")
    page.close()
    print(f"{name}: {(HERE / f'{name}.png').stat().st_size:,} bytes", file=sys.stderr)


def places(page: Page, address: str) -> dict[str, str]:
    """Find something to look at on each kind of page."""

    def ask(path: str) -> Any:
        return page.request.get(address + path).json()["result"]

    site = ask("sites?sort=rules&limit=1")[0]["site"]
    rule = ask(f"rules?site={site}&sort=merged&limit=1")[0]["id"]
    name = next(each["name"] for each in ask(f"clusters?site={site}&limit=1000") if each["size"] < 9)
    members = [each["url"] for each in ask(f"clusters/{quote(name, safe='')}")["members"]]
    a, b = quote(members[0], safe=""), quote(members[-1], safe="")
    return {
        "overview": "#/",
        "sites": "#/sites",
        "site": f"#/site/{site}",
        "rules": "#/rules",
        "rule": f"#/rule/{rule}",
        "clusters": "#/clusters",
        "cluster": f"#/cluster/{quote(name, safe='')}",
        "page": f"#/page/{a}",
        "compare": f"#/compare?a={a}&b={b}",
        "try": f"#/try?url={b}",
        "search": "#/search?q=print",
    }


SHOWN = ("overview", "site", "rule", "compare", "try")


def main() -> None:
    """Take all of them."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    HERE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        folder = sys.argv[1] if len(sys.argv) > 1 else make_run(Path(made))
        with served(folder) as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            where = places(browser.new_page(), address)
            wanted = sys.argv[2].split(",") if len(sys.argv) > 2 else SHOWN
            for name in wanted:
                take(browser, address, name, where[name])
            for name in ("overview", "site"):
                take(browser, address, f"{name}-dark", where[name], scheme="dark")
                take(browser, address, f"{name}-phone", where[name], phone=True)
            browser.close()


if __name__ == "__main__":
    main()
