"""The documentation as it was built: whole, found within two clicks, and read on a phone without a network."""

import re
from collections import deque
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

pytestmark = pytest.mark.site

SITE = Path(__file__).parents[1] / "docs_output" / "html"

#: Pictures of what was seen, to be looked at.
SHOTS = SITE.parent / "pictures"

#: Pages that are made by Sphinx, or lists of others.
MADE = {"genindex.html", "search.html", "py-modindex.html"}

#: Those that are looked at as pictures.
MAIN = (
    "index",
    "tutorial/index",
    "tutorial/plot_production",
    "how-to/index",
    "how-to/plot_web_page",
    "mathematics",
    "reference/generated/polyfold.PolynomialEmbedding",
    "speed",
    "guarantees",
    "comparison",
    "architecture",
)


class PageReader(HTMLParser):
    """What a page links to, shows and loads, and the anchors in it."""

    def __init__(self, path):
        super().__init__()
        self.links, self.images, self.loaded, self.anchors = [], [], [], set()
        self.has_formulas = False
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.has_formulas |= "math" in (found.get("class") or "").split()
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        elif tag == "img":
            self.images.append((found.get("src", ""), found.get("alt", "")))
        if tag in {"script", "img", "iframe", "source"} and found.get("src"):
            self.loaded.append(found["src"])
        elif tag == "link" and found.get("rel") not in {"canonical", "search", "index", "next", "prev"}:
            self.loaded.append(found["href"])


@pytest.fixture(scope="module")
def pages():
    assert SITE.exists(), "make docs builds it"
    paths = [path for path in sorted(SITE.rglob("*.html")) if "_static" not in path.parts]
    return {path.relative_to(SITE).as_posix(): PageReader(path) for path in paths}


def follow(page, link):
    """Return the page and the anchor that a link leads to; None where it leaves the site."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return None
    target = (SITE / page).parent / unquote(parts.path) if parts.path else SITE / page
    return target.resolve().relative_to(SITE.resolve()).as_posix(), unquote(parts.fragment)


def test_links_lead_somewhere(pages):
    n_links = 0
    for page, reader in pages.items():
        for link in reader.links:
            target = follow(page, link)
            if target is None:
                continue
            path, anchor = target
            n_links += 1
            assert (SITE / path).exists(), (page, link)
            if anchor and path in pages:
                assert anchor in pages[path].anchors, (page, link)
    assert n_links > 5000


def test_addresses_elsewhere_are_well_formed(pages):
    addresses = {link for reader in pages.values() for link in reader.links if re.match(r"\w+:", link)}
    assert len(addresses) > 50
    for address in addresses:
        parts = urlsplit(address)
        assert parts.scheme in {"https", "http"}, address
        assert re.fullmatch(r"[\w.-]+\.[a-z]{2,}(:\d+)?", parts.netloc), address
        assert not re.search(r"\s|localhost", address), address


def test_images_are_described(pages):
    n_images = 0
    for page, reader in pages.items():
        for source, described in reader.images:
            assert len(described.split()) >= 2, (page, source)
            assert not described.startswith("plot "), (page, source)  # only the name of a script
            n_images += 1
    assert n_images > 30


def test_nothing_is_loaded_from_elsewhere(pages):
    for page, reader in pages.items():
        for source in reader.loaded:
            if not source.startswith("data:"):
                path, _ = follow(page, source) or pytest.fail(f"{page} loads {source}")
                assert (SITE / path).exists(), (page, source)


def test_all_pages_are_two_clicks_away(pages):
    """From the first page, and that from any page."""
    clicks, ahead = {"index.html": 0}, deque(["index.html"])
    while ahead:
        page = ahead.popleft()
        for link in pages[page].links:
            path, _ = follow(page, link) or ("", "")
            if path in pages and path not in clicks:
                clicks[path] = clicks[page] + 1
                ahead.append(path)
    read = {page for page in pages if not page.startswith("source/")} - MADE
    assert len(read) > 60
    assert {page: clicks.get(page) for page in read if clicks.get(page, 9) > 2} == {}
    for page in read:
        assert any(follow(page, link) == ("index.html", "") for link in pages[page].links), page


@pytest.fixture
def visit(browser):
    """Open a page of the site, offline; at the end nothing may have been complained of or asked for."""
    contexts, complaints, asked = [], [], []

    def open_page(name, width=1280, height=900, **settings):
        context = browser.new_context(viewport={"width": width, "height": height}, **settings)
        contexts.append(context)
        context.set_offline(True)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        path, _, query = name.partition("?")
        page.goto((SITE / f"{path}.html").as_uri() + (f"?{query}" if query else ""))
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not complaints
    assert not [address for address in asked if not address.startswith(("file:", "data:", "blob:"))]


#: What reaches beyond the right edge of the screen and is in nothing that scrolls.
CUT = """() => [...document.querySelectorAll("article.bd-article *")].filter((element) => {
  const box = element.getBoundingClientRect();
  if (box.width === 0 || box.right <= innerWidth + 1 || element.closest("mjx-assistive-mml")) return false;
  for (let around = element; around && around.tagName !== "ARTICLE"; around = around.parentElement)
    if (["auto", "scroll"].includes(getComputedStyle(around).overflowX)) return false;
  return true;
}).map((element) => element.outerHTML.slice(0, 200))"""


def test_pages_fit_a_phone(visit, pages):
    """Nothing is wider than the screen; tables, formulas and code scroll within themselves."""
    page = visit("index", width=390, height=844)
    read = [name for name in pages if not name.startswith("source/") and name not in MADE]
    for name in read:
        page.goto((SITE / name).as_uri())
        page.wait_for_load_state()
        if name == "mathematics.html":
            page.wait_for_selector("mjx-container")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, name
        assert page.evaluate(CUT) == [], name
        assert float(page.evaluate("parseFloat(getComputedStyle(document.body).fontSize)")) >= 14


@pytest.mark.parametrize("name", MAIN)
def test_main_pages_are_shown(visit, name):
    SHOTS.mkdir(parents=True, exist_ok=True)
    for kind, settings in {
        "wide": {},
        "phone": {"width": 390, "height": 1688},
        "dark": {"color_scheme": "dark"},
    }.items():
        page = visit(name, **settings)
        page.wait_for_timeout(300)
        broken = page.evaluate("[...document.images].filter(i => i.complete && !i.naturalWidth).map(i => i.src)")
        assert broken == []
        page.screenshot(path=SHOTS / f"{name.replace('/', '_')}_{kind}.png", full_page=kind == "wide")


#: What MathJax makes of a formula that it does not understand: raw text, red text, an error.
UNSET = """() => [...document.querySelectorAll(".math")].filter((math) => !math.querySelector("mjx-container")
  || math.querySelector("[data-mjx-error], [data-mml-node=merror], mjx-container [fill=red]")
).map((math) => math.textContent.slice(0, 100))"""


def test_formulas_are_set(visit, pages):
    """Every formula of every page, none in red."""
    with_formulas = [name for name, reader in pages.items() if reader.has_formulas]
    assert {"mathematics.html", "limits.html"} <= set(with_formulas)
    page = visit("index")
    for name in with_formulas:
        page.goto((SITE / name).as_uri())
        page.wait_for_selector("mjx-container")
        page.evaluate("MathJax.startup.promise.then(() => true)")
        assert page.evaluate(UNSET) == [], name


def test_search_finds(visit):
    page = visit("search?q=extrapolation")
    page.get_by_text("Search finished").wait_for()
    found = page.locator("#search-results li a").all_text_contents()
    assert "Tell samples that lie outside of what was learned" in found
    assert len(found) > 5


def test_lines_of_code_are_those_meant(visit, pages):
    """Each link to a line of code leads to the line that has what the link was made for."""
    read_line = """(id) => {
      let text = "", node = document.getElementById(id).nextSibling;
      for (; node && !text.includes("\\n"); node = node.nextSibling) text += node.textContent;
      return text;
    }"""
    page, n_links = visit("index"), 0
    for name in pages:
        page.goto((SITE / name).as_uri())
        links = page.eval_on_selector_all("a.source-line", "links => links.map(link => [link.href, link.title])")
        for address, snippet in links:
            page.goto(address)
            assert snippet in page.evaluate(read_line, address.partition("#")[2]), (name, address)
            n_links += 1
    assert n_links > 30


def test_the_live_pages_work(visit):
    """The maps within a page place what is typed, and the explorer shows its points."""
    page = visit("how-to/plot_web_page")
    frames = page.locator("iframe")
    assert frames.count() == 2
    for number in range(2):
        assert frames.nth(number).get_attribute("title")
        frames.nth(number).scroll_into_view_if_needed()
        frame = page.frame_locator("iframe").nth(number)
        if number == 0:
            frame.locator("#stage[data-view]").wait_for()
            assert "300" in frame.locator("body").inner_text()
            page.screenshot(path=SHOTS / "explorer_in_a_page.png")
        else:
            before = frame.locator("body").inner_text()
            frame.locator("input").first.fill("3.5")
            assert frame.locator("body").inner_text() != before
