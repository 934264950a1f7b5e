"""The report in a real browser: it opens, loads nothing, folds, sorts and searches; hostile text does nothing."""

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import undust
from tests.conftest import CHROMIUM
from tests.report_numbers import HOSTILE, made_up
from undust.run.html.page import write_page

pytestmark = pytest.mark.chromium
PHONE = {"width": 360, "height": 740}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as running:
        started = running.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        )
        yield started
        started.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("report") / "report.html"
    file.write_text(write_page(made_up(sites=12, rules_each=4)), encoding="utf-8")
    return file


class Opened:
    """A page, with all that it said and asked for."""

    def __init__(self, browser: Any, file: Path, **options: Any) -> None:
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", self._dismiss)
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(file.as_uri())

    def _dismiss(self, dialog: Any) -> None:
        self.said.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def close(self) -> None:
        self.context.close()


@pytest.fixture
def opened(browser: Any, report: Path) -> Iterator[Opened]:
    found = Opened(browser, report)
    yield found
    assert found.said == []
    assert found.asked == [report.as_uri()]
    found.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 768, 1280])
def test_it_opens_without_errors_requests_or_scrolling_sideways(
    browser: Any, report: Path, scheme: str, width: int
) -> None:
    found = Opened(browser, report, color_scheme=scheme, viewport={"width": width, "height": 800})
    assert found.page.title() == "Duplicates of 12 sites · undust"
    assert found.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert found.said == []
    assert found.asked == [report.as_uri()]
    found.close()


def test_light_and_dark_differ_and_the_button_goes_round(browser: Any, report: Path) -> None:
    colour = "getComputedStyle(document.body).backgroundColor"
    dark = Opened(browser, report, color_scheme="dark")
    light = Opened(browser, report, color_scheme="light")
    by_system = {"dark": dark.page.evaluate(colour), "light": light.page.evaluate(colour)}
    assert by_system["dark"] != by_system["light"]
    button = light.page.get_by_role("button", name="Theme")
    button.click()
    assert button.inner_text() == "Theme: light"
    button.click()
    assert light.page.evaluate(colour) == by_system["dark"]
    light.page.reload()
    assert light.page.evaluate(colour) == by_system["dark"]  # it is remembered
    light.page.get_by_role("button", name="Theme").click()
    assert light.page.evaluate(colour) == by_system["light"]
    for each in (dark, light):
        assert each.said == []
        each.close()


def test_the_tree_opens_and_closes_by_mouse_and_keyboard(opened: Opened) -> None:
    tree = opened.page.locator(".card[open] .pattern-tree").first
    closed = tree.locator("details:not([open])")
    inner = tree.locator("details").nth(2)
    assert inner.get_attribute("open") is None
    inner.locator("summary").first.focus()
    opened.page.keyboard.press("Enter")
    assert inner.get_attribute("open") is not None
    tree.get_by_role("button", name="Open all").click()
    assert closed.count() == 0
    tree.get_by_role("button", name="Close all").click()
    assert tree.locator("details[open]").count() == 0


def test_a_link_to_a_node_that_is_closed_opens_its_card_and_branch(opened: Opened) -> None:
    target = opened.page.locator("#site-3-n5")
    assert not target.is_visible()
    opened.page.evaluate("location.hash = 'site-3-n5'")
    target.wait_for(state="visible")


def test_a_table_sorts_by_its_headings(opened: Opened) -> None:
    table = opened.page.locator("#sites-table")
    heading = table.locator("thead th", has_text="URLs")
    numbers = "rows => rows.filter(r => !r.hidden).map(r => Number(r.cells[1].dataset.v))"
    heading.get_by_role("button").click()
    assert heading.get_attribute("aria-sort") == "descending"
    falling = table.locator("tbody tr").evaluate_all(numbers)
    assert falling == sorted(falling, reverse=True)
    heading.get_by_role("button").click()
    assert heading.get_attribute("aria-sort") == "ascending"
    assert table.locator("tbody tr").evaluate_all(numbers) == sorted(falling)


def test_a_table_is_searched(opened: Opened) -> None:
    field = opened.page.get_by_role("searchbox", name="Find a rule")
    rows = opened.page.locator("#rules-table tbody tr:not([hidden])")
    before = rows.count()
    field.fill("site3.example sid")
    found = rows.all_inner_texts()
    assert 0 < len(found) < before
    assert all("site3.example" in text and "sid" in text for text in found)
    assert "of 48 found" in opened.page.locator(".tools", has=field).inner_text()
    field.fill("no such rule")
    assert rows.count() == 0
    field.fill("")
    assert rows.count() == before


def test_the_first_rows_are_shown_and_then_all(opened: Opened) -> None:
    rows = opened.page.locator("#rules-table tbody tr:not([hidden])")
    assert rows.count() == 20
    opened.page.get_by_role("button", name="Show all 48").click()
    assert rows.count() == 48


def test_a_chart_says_what_the_pointer_is_on_and_can_be_taken_along(opened: Opened) -> None:
    figure = opened.page.locator("figure[data-vega=sizes]")
    figure.locator("circle").first.hover()
    assert "clusters of 1 URL" in figure.locator("output").inner_text()
    figure.locator("details summary").click()
    with opened.page.expect_download() as download:
        figure.get_by_role("button", name="Vega-Lite").click()
    spec = json.loads(Path(download.value.path()).read_text())
    assert spec["data"]["values"][0] == {"urls": 1, "clusters": 900}


def test_what_is_drawn_has_a_name_for_those_who_cannot_see_it(opened: Opened) -> None:
    unnamed = "all => all.filter(e => !e.getAttribute('aria-label') && e.getAttribute('aria-hidden') !== 'true').length"
    assert opened.page.locator("svg").evaluate_all(unnamed) == 0
    assert opened.page.locator("th:not([scope]):not(.plain th)").count() == 0
    for role in ("banner", "main", "navigation", "contentinfo"):
        assert opened.page.get_by_role(role).count() == 1, role
    levels = opened.page.locator("h1, h2, h3, h4").evaluate_all("all => all.map(e => Number(e.tagName[1]))")
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert opened.page.locator("[id]").evaluate_all("all => all.length - new Set(all.map(e => e.id)).size") == 0


def test_a_print_shows_the_rules_and_no_buttons(browser: Any, report: Path) -> None:
    found = Opened(browser, report, color_scheme="dark")
    found.page.emulate_media(media="print")
    assert found.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not found.page.get_by_role("button", name="Theme").is_visible()
    assert not found.page.get_by_role("navigation").is_visible()
    assert found.page.pdf().startswith(b"%PDF")
    assert found.said == []
    found.close()


def test_without_a_script_all_rows_are_there(browser: Any, report: Path) -> None:
    found = Opened(browser, report, java_script_enabled=False)
    assert found.page.locator("#rules-table tbody tr").last.is_visible()
    assert not found.page.get_by_role("button", name="Theme").is_visible()
    found.close()


def test_hostile_titles_urls_and_sites_do_nothing(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(write_page(made_up(sites=3, rules_each=2, text=HOSTILE)), encoding="utf-8")
    found = Opened(browser, file, viewport=PHONE)
    found.page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    assert (
        found.page.locator("img, iframe, object, script[src], main script, main style, main a:not([href^='#'])").count()
        == 0
    )
    assert HOSTILE[:20] in found.page.locator("main").inner_text()
    assert found.page.evaluate("window.hostile") is None
    assert found.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert found.said == []
    assert found.asked == [file.as_uri()]
    found.close()


def test_a_crawl_of_hostile_pages_gives_a_report_that_does_nothing(browser: Any, tmp_path: Path) -> None:
    rows = []
    for number in range(40):
        words = " ".join(f"word{number}x{place}" for place in range(60))
        title = f"</title><script>hostile = 1; alert(1)</script><img src=x onerror=alert({number})>"
        html = f"<html><head><title>{title.replace('<', '&lt;')}</title></head><body><p>{words}</p></body></html>"
        for spelling in (f"p{number}", f"q/{number * 7919}", f"p{number}?x=%3Cscript%3Ealert(1)%3C/script%3E"):
            rows.append({"url": f"http://a.example/{spelling}", "html": html})
    file = tmp_path / "crawl.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    undust.run(file, output=tmp_path / "found", method="exact")
    page = tmp_path / "found" / "report.html"
    found = Opened(browser, page)
    found.page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    assert "<img src=x onerror=" in found.page.locator("#left").inner_text()  # the title, as text
    assert found.page.evaluate("window.hostile") is None
    assert found.said == []
    assert found.asked == [page.as_uri()]
    found.close()


def test_what_is_pressed_holds_nothing_else_that_is_pressed(opened: Opened) -> None:
    assert opened.page.locator("summary a, summary button, button a, a button").count() == 0
    assert opened.page.locator("th").evaluate_all("all => all.filter(e => !e.textContent.trim()).length") == 0
    assert opened.page.locator(".tree .same a").count() > 0
