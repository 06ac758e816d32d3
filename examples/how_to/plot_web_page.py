"""
Put a map inside a web page
===========================

A map is small enough to travel with a page: the browser places samples itself, with no server behind it and
nothing sent anywhere. ``map_.to_html`` writes a whole explorer, which is shown live below. For a page of your own,
its JSON and fifteen lines of JavaScript do, and they are tried here against ``map_.transform``.
"""

# %%
# The explorer
# ------------
#
# Handwritten digits in three coordinates; 300 of them go into the page. Whoever has the page has these samples, so
# take such as may be seen, or none: ``to_html()`` without samples holds the map alone.
import html
import json
import shutil
import subprocess
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from polyfold import NPPE, PolynomialEmbedding
from polyfold.datasets import make_swiss_roll
from polyfold.plotting import plot_embedding

images, digits = load_digits(return_X_y=True)
of_digits = PolynomialEmbedding(3, graph="laplacian").fit(images[:1300]).map_
some = slice(1300, 1600)  # unseen ones
page = of_digits.to_html(
    images[some], labels={"digit": digits[some]}, image_shape=(8, 8), title="Handwritten digits"
)
with tempfile.TemporaryDirectory() as folder:  # yours would stay, beside the pages of your site
    path = Path(folder) / "digits.html"
    path.write_text(page, encoding="utf-8")
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB in one file")

# %%
# The file can be opened as it is. Within another page it is an ``iframe``, which is as wide as there is room, so
# that it fits a phone. A site that has the file says ``src="digits.html"``; here the page is given by ``srcdoc``,
# so that this documentation needs no second file. ``sandbox`` lets it run its script and save files, and nothing
# else. Draw around points, take one as the sample, move its sliders, or drop an image of your own on it.


class Frame:
    """A page within a page: notebooks and this documentation show what `_repr_html_` returns."""

    def __init__(self, page, title, height):
        self.page, self.title, self.height = page, title, height

    def _repr_html_(self):
        inner = html.escape(self.page).replace("\n", "&#10;")  # one line: nothing may change in the script
        return (
            f'<iframe title="{html.escape(self.title)}" sandbox="allow-scripts allow-downloads" '
            f'style="width: 100%; height: {self.height}; border: 1px solid #8888" srcdoc="{inner}"></iframe>'
        )


Frame(page, "Explorer of handwritten digits", "min(52rem, 90vh)")

# %%
# What it shows are the coordinates of ``map_.transform``:
figure, axes = plt.subplots(figsize=(6, 4.5), layout="constrained")
plot_embedding(of_digits.transform(images[some]), digits[some], ax=axes)
_ = axes.set_title("300 unseen digits, two of the three coordinates")

# %%
# A page of your own
# ------------------
#
# A smaller map: the Swiss roll, from three columns to two coordinates. All of it is in the JSON.
roll, _ = make_swiss_roll(1000, random_state=0)
learned = NPPE(n_neighbors=10).fit(roll).map_
document = learned.to_json()
print(f"{len(document) / 1000:.1f} kB of JSON")

# %%
# The evaluator is this function, whatever the map: shift and scale, axes if there are any, and the monomials with
# their weights.
PLACE = """
function place(map, x) {
  const {shift, scale, axes, offset} = map.arrays;
  const centered = x.map((value, j) => (value - shift[j]) / scale);
  const z = axes
    ? axes[0].map((_, k) => centered.reduce((sum, value, j) => sum + value * axes[j][k], 0))
    : centered;
  const y = [...offset];
  map.monomials.forEach((variables, f) => {
    const product = variables.reduce((value, v) => value * z[v], 1);
    map.weights[f].forEach((weight, c) => { y[c] += weight * product; });
  });
  return y;
}
"""

# %%
# Try it where you write the page, before anybody relies on it. Node runs the function on unseen samples, of this
# map and of the digits, which has axes:
if shutil.which("node") is None:
    raise FileNotFoundError("This page runs JavaScript with node, which is not installed: https://nodejs.org")


def place_in_node(document, samples):
    """Return the coordinates that the function gives to samples."""
    script = f"""{PLACE}
        const {{map, samples}} = JSON.parse(require("fs").readFileSync(0, "utf8"));
        console.log(JSON.stringify(samples.map((x) => place(map, x))));
    """
    task = json.dumps({"map": json.loads(document), "samples": samples.tolist()})
    done = subprocess.run(["node", "-e", script], input=task, capture_output=True, check=True, text=True)
    return np.array(json.loads(done.stdout))


unseen, _ = make_swiss_roll(1000, random_state=1)
for name, one, samples in (("roll", learned, unseen), ("digits", of_digits, images[1300:])):
    expected = one.transform(samples)
    difference = np.abs(place_in_node(one.to_json(), samples) - expected).max() / np.abs(expected).max()
    print(f"{name:<7} {len(samples)} samples, within 1e-12 of transform: {difference < 1e-12}")

# %%
# The page has one slider for each column, as far as the training samples reached, and marks the place among those
# of 300 of them. ``<`` is escaped in the data, so that no name of a column can end the script.
low, high = learned.domain.ranges
inputs = [
    {"name": name, "min": least, "max": most, "value": value}
    for name, least, most, value in zip(learned.column_names, low, high, roll[0], strict=True)
]
data = {"map": json.loads(document), "inputs": inputs, "points": learned.transform(roll[:300]).round(5).tolist()}
own = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Where does it lie?</title>
<style>
  body { font: 16px system-ui, sans-serif; margin: 1rem; color: #16191d; background: white }
  label { display: grid; grid-template-columns: 3rem 1fr 4.5rem; gap: .5rem; align-items: center }
  svg { width: 100%; max-height: 16rem; margin-top: .5rem }
  output { font-variant-numeric: tabular-nums }
</style>
<form></form>
<p>Coordinates: <output></output></p>
<svg role="img" aria-label="The place among training samples"></svg>
<script type="application/json">DATA</script>
<script>PLACE
const {map, inputs, points} = JSON.parse(document.querySelector("script").textContent);
const [form, output, svg] = ["form", "output", "svg"].map((name) => document.querySelector(name));

function append(parent, name, attributes) {
  const child = document.createElementNS(parent.namespaceURI, name);
  Object.entries(attributes).forEach(([key, value]) => child.setAttribute(key, value));
  return parent.appendChild(child);
}

const [low, high] = [Math.min, Math.max].map((extreme) => [0, 1].map((c) => extreme(...points.map((y) => y[c]))));
const [width, height] = [0, 1].map((c) => high[c] - low[c]);
svg.setAttribute("viewBox", [low[0] - width / 9, low[1] - height / 9, width * 11 / 9, height * 11 / 9]);
points.forEach(([cx, cy]) => append(svg, "circle", {cx, cy, r: width / 150, fill: "#b8bec6"}));
const mark = append(svg, "circle", {r: width / 60, fill: "#c2410c"});

const fields = inputs.map(({name, ...range}) => {
  const label = append(form, "label", {});
  label.append(name);
  const field = append(label, "input", {type: "range", step: "any", ...range});
  append(label, "span", {});
  return field;
});

function show() {
  fields.forEach((field) => { field.nextSibling.textContent = Number(field.value).toFixed(2); });
  const y = place(map, fields.map((field) => Number(field.value)));
  output.textContent = y.map((value) => value.toFixed(4)).join(", ");
  mark.setAttribute("cx", y[0]);
  mark.setAttribute("cy", y[1]);
}
form.addEventListener("input", show);
show();
</script>
</html>
"""
own = own.replace("PLACE", PLACE).replace("DATA", json.dumps(data).replace("<", "\\u003c"))
print(f"{len(own) / 1000:.0f} kB")
Frame(own, "The place of a sample that sliders choose", "27rem")

# %%
# The sliders start at the first training sample. Python places it here:
print(learned.transform(roll[:1]).round(4))

# %%
# A slider stays within the range of its column, but three together reach places where the roll is not, and the map
# gives them coordinates all the same. The explorer shows the extrapolation score beside the coordinates; a page of
# your own has to compute it from ``arrays["domain.…"]`` of the JSON, or to leave it. Which keys there are is in
# :doc:`/artefact`, what the explorer does in :doc:`/explorer`.
