"""What a person does with the explorer and sees of it, in a browser."""

import csv
import io
import json
from base64 import b64decode
from pathlib import Path

import numpy as np
import pytest
from PIL import Image


def drop(page, name, content, kind="text/csv"):
    """Drop a file on the page."""
    given = page.evaluate_handle(
        """([name, bytes, type]) => {
          const transfer = new DataTransfer();
          transfer.items.add(new File([new Uint8Array(bytes)], name, {type}));
          return transfer;
        }""",
        [name, list(content if isinstance(content, bytes) else content.encode()), kind],
    )
    page.dispatch_event("body", "drop", {"dataTransfer": given})
    page.wait_for_selector("#placed-message:not(:empty)")


def read_table(page):
    """The numbers of the table of placed rows, as they are shown."""
    rows = page.eval_on_selector_all(
        "#placed tr", "rows => rows.map(row => [...row.cells].map(c => c.textContent))"
    )
    return rows[0], np.array([[float(cell or "nan") for cell in row] for row in rows[1:]])


def read_landing(page):
    return np.array([float(text) for text in page.locator("#landing b").all_text_contents()])


def read_download(page, button):
    with page.expect_download() as download:
        page.click(button)
    return list(csv.reader(io.StringIO(Path(download.value.path()).read_text())))


def locate(page, y):
    """Where coordinates lie on the screen, by the limits of the view."""
    left, right, bottom, top = json.loads(page.get_attribute("#stage", "data-view"))
    box = page.locator("#points").bounding_box()
    across = (np.asarray(y)[..., 0] - left) / (right - left) * box["width"] + box["x"]
    down = (top - np.asarray(y)[..., 1]) / (top - bottom) * box["height"] + box["y"]
    return np.stack([across, down], axis=-1)


def settle(page):
    """Wait until what is due has been drawn."""
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def take_pixels(page):
    """What is on the screen, without the mark of the sample."""
    page.evaluate("scrollTo(0, 0)")
    settle(page)
    page.evaluate("document.getElementById('probe').style.visibility = 'hidden'")
    shot = np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB")).astype(int)
    page.evaluate("document.getElementById('probe').style.visibility = ''")
    return shot


def find_marker(page):
    box = page.locator("#probe").bounding_box()
    return np.array([box["x"] + box["width"] / 2, box["y"] + box["height"] / 2])


def read_sample(page, learned):
    """The values of the sliders, in all their digits."""
    values = page.eval_on_selector_all(
        "#sliders input[type=range]", "all => all.map(each => [each.id.slice(7), each.value])"
    )
    x = np.full(learned.n_inputs, np.nan)
    for column, value in values:
        x[int(column)] = float(value)
    return x


def check_sample(page, learned):
    """Check all that is shown of the sample against the map: place, mark, score, slopes."""
    x = read_sample(page, learned)
    y = learned.transform([x])[0]
    np.testing.assert_allclose(read_landing(page), y, rtol=0, atol=1e-9 * max(np.abs(y).max(), 1e-3))
    np.testing.assert_allclose(find_marker(page), locate(page, y), atol=1)
    score = learned.extrapolation([x])[0]
    assert float(page.get_attribute("#verdict", "data-score")) == pytest.approx(score, rel=1e-9)
    assert ("outside" in page.inner_text("#verdict")) == (score > 1)
    names = list(learned.column_names)
    for c, slopes in enumerate(learned.jacobian([x])[0]):
        table = page.locator("#gradient table").nth(c)
        rows = table.locator("tr").evaluate_all(
            "rows => rows.map(r => [r.cells[0].textContent, r.cells[2].dataset.slope])"
        )
        for name, value in rows:
            assert float(value) == pytest.approx(slopes[names.index(name)], rel=1e-9, abs=1e-12)
    return x


def read_canvas(page, selector):
    """The pixels of a canvas."""
    packed = page.eval_on_selector(selector, "canvas => canvas.toDataURL().split(',')[1]")
    return np.asarray(Image.open(io.BytesIO(b64decode(packed))).convert("RGB"))
