"""The page of `undust serve` in a real browser: it opens, it is used, and hostile pages do nothing in it."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.conftest import CHROMIUM
from tests.serving import HOSTILE_TEXT, HOSTILE_TITLE, HOSTILE_URL, Running, serving
from undust.serve.guard import Access

pytestmark = [
    pytest.mark.chromium,
    # Playwright's own loop, which it leaves to be collected
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture
def running(served_run: Path, tmp_path: Path) -> Iterator[Running]:
    with serving(Path(shutil.copytree(served_run, tmp_path / "run"))) as server:
        yield server


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield started
        started.close()


@pytest.fixture
def page(browser: Browser, running: Running) -> Iterator[Page]:
    """Give a page on which nothing may go wrong unseen: console errors, exceptions, requests to elsewhere."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    opened = context.new_page()
    wrong: list[str] = []
    opened.on("console", lambda message: wrong.extend([message.text] * (message.type in ("error", "warning"))))
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on("dialog", lambda dialog: wrong.append(dialog.message))
    opened.on("request", lambda asked: wrong.extend([asked.url] * (not asked.url.startswith(running.address))))
    yield opened
    context.close()
    assert not wrong


def look(page: Page, running: Running, place: str) -> None:
    page.goto("about:blank")
    page.goto(f"{running.address}/{place}")
    expect(page.locator("main h1")).to_be_visible()
    expect(page.locator("main .loading")).to_have_count(0)


def test_every_page_opens_without_a_word_on_the_console(page: Page, running: Running) -> None:
    url = quote("http://shop.test/item/3", safe="")
    rules = running.result("/rules", limit=1)
    clusters = running.result("/clusters", limit=1)
    assert isinstance(rules, list)
    assert isinstance(clusters, list)
    places = {
        "#/": "152 URLs",
        "#/sites": "Sites",
        "#/site/shop.test": "shop.test",
        "#/rules": "Rules",
        f"#/rule/{rules[0]['id']}": "matter",
        "#/clusters": "Clusters",
        f"#/cluster/{quote(clusters[0]['name'], safe='')}": "one page",
        f"#/page/{url}": "Page 3",
        f"#/compare?a={url}&b={quote('http://news.test/3.html', safe='')}": "Two pages",
        "#/try": "Try a URL",
        "#/search?q=item": "Found for",
    }
    for place, heading in places.items():
        look(page, running, place)
        expect(page.locator("main h1")).to_contain_text(heading)
        expect(page.locator("main [role=alert]")).to_have_count(0)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), place
    page.set_viewport_size({"width": 360, "height": 740})
    for place in places:
        look(page, running, place)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{place} on a phone"


def test_the_tree_opens_by_mouse_and_by_keys_and_shows_rules_between_its_nodes(page: Page, running: Running) -> None:
    look(page, running, "#/site/shop.test")
    nodes = page.get_by_role("treeitem")
    root = nodes.first
    expect(root).to_have_attribute("aria-expanded", "true")
    shown = nodes.count()
    assert shown > 1
    root.locator(".turn").click()
    expect(nodes).to_have_count(1)
    expect(root).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(root).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("ArrowDown")
    expect(nodes.nth(1)).to_be_focused()
    expect(nodes.nth(1)).to_have_attribute("aria-selected", "true")
    assert page.locator(".tree svg path.act").count() >= 1
    page.keyboard.press("Home")
    page.locator("main .plain a", has_text="matter").first.click()
    expect(page.get_by_role("button", name="Withdraw")).to_be_visible()


def test_a_rule_is_withdrawn_and_the_undo_brings_it_back(page: Page, running: Running) -> None:
    rules = running.result("/rules", site="shop.test", sort="merged")
    assert isinstance(rules, list)
    rule = rules[0]["id"]
    look(page, running, f"#/rule/{rule}")
    page.get_by_label("Why it is withdrawn").fill("<b>sid</b> is the page")
    page.get_by_role("button", name="Withdraw").click()
    expect(page.locator(".badge.withdrawn")).to_be_visible()
    expect(page.locator("main")).to_contain_text("<b>sid</b> is the page")
    assert rule not in running.state.rules.current.by_id
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("button", name="Withdraw")).to_be_visible()
    assert rule in running.state.rules.current.by_id
    page.get_by_role("button", name="Accept").click()
    expect(page.locator(".badge.accepted")).to_be_visible()
    assert running.state.rules.current.state(rule) == "accepted"


def test_two_urls_of_a_cluster_are_compared_side_by_side(page: Page, running: Running) -> None:
    look(page, running, "#/clusters?site=shop.test")
    page.locator("main table a").first.click()
    boxes = page.get_by_role("checkbox")
    expect(boxes).to_have_count(3)
    boxes.nth(0).check()
    boxes.nth(2).check()
    page.get_by_role("link", name="Compare side by side").click()
    expect(page.locator(".diff")).to_be_visible()
    expect(page.locator(".diff .add").first).to_contain_text("seen")
    expect(page.locator(".verdicts")).to_contain_text("duplicates by minhash")


def test_the_url_box_explains_as_one_types(page: Page, running: Running) -> None:
    look(page, running, "#/try")
    box = page.get_by_role("textbox", name="URL", exact=True)
    expect(box).to_be_focused()
    box.press_sequentially("http://shop.test/item/3?sid=zz")
    expect(page.locator(".change")).to_contain_text("to fetch")
    expect(page.locator(".change")).to_contain_text("does not matter")
    page.get_by_role("textbox", name="Another URL").fill("http://shop.test/item/3")
    expect(page.locator(".badge.yes")).to_contain_text("the same page")
    box.fill("not a url")
    expect(page.locator("main .note")).to_contain_text("absolute URL")


def test_the_search_box_is_a_slash_away(page: Page, running: Running) -> None:
    look(page, running, "#/")
    page.keyboard.press("/")
    page.keyboard.type("news.test")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_contain_text("news.test")
    page.get_by_role("link", name="news.test", exact=True).first.click()
    expect(page.locator("h1")).to_have_text("news.test")


def test_a_hostile_page_does_nothing(page: Page, running: Running) -> None:
    one, other = quote(HOSTILE_URL, safe=""), quote(HOSTILE_URL + "&again=1", safe="")
    script = quote("<script>")
    places = [f"#/page/{one}", f"#/compare?a={one}&b={other}", f"#/try?url={one}", f"#/search?q={script}"]
    for place in [*places, "#/search?q=evil", "#/site/evil.test", f"#/{script}", f"#/try?url={script}"]:
        page.goto("about:blank")
        page.goto(f"{running.address}/{place}")
        expect(page.locator("main h1")).to_be_visible()
        expect(page.locator("main .loading")).to_have_count(0)
        assert page.evaluate("document.body.dataset.pwned") is None
        assert page.locator("main img, main script, main iframe").count() == 0
        assert page.locator("main a[href^='javascript:']").count() == 0
    look(page, running, f"#/page/{one}")
    expect(page.locator("h1")).to_have_text(HOSTILE_TITLE)
    look(page, running, f"#/compare?a={one}&b={other}")
    expect(page.locator(".diff")).to_contain_text(HOSTILE_TEXT)


def test_where_a_token_is_needed_the_page_asks_for_it(browser: Browser, served_run: Path, tmp_path: Path) -> None:
    with serving(Path(shutil.copytree(served_run, tmp_path / "run")), Access(None, "secret")) as server:
        page = browser.new_page()
        rules = server.result("/rules", limit=1)
        assert isinstance(rules, list)
        look(page, server, f"#/rule/{rules[0]['id']}")
        page.get_by_role("button", name="Accept").click()
        page.locator("#ask input").fill("secret")
        page.get_by_role("button", name="Go on").click()
        expect(page.locator(".badge.accepted")).to_be_visible()
        page.close()


def test_after_a_decision_the_keyboard_is_where_the_next_one_is(page: Page, running: Running) -> None:
    rules = running.result("/rules", site="shop.test", sort="merged")
    assert isinstance(rules, list)
    look(page, running, f"#/rule/{rules[0]['id']}")
    page.get_by_role("button", name="Accept").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Take the acceptance back")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Accept")).to_be_focused()


def test_each_pattern_says_what_it_shows(page: Page, running: Running) -> None:
    look(page, running, "#/site/shop.test")
    expect(page.get_by_role("treeitem").first).to_have_accessible_name(
        re.compile(r"^all URLs \S+% duplicates, 90 URLs$")
    )
