"""
Run a map by ONNX in another language
=====================================

``map_.to_onnx`` writes a map as an ONNX model of standard operators, which onnxruntime and its kin run in C++, C#,
Java, JavaScript and other languages. Here one and the same file is run in Python and in JavaScript, and both place
unseen images where ``map_.transform`` does. A whole scikit-learn pipeline goes the same way.
"""

# %%
# Learn and export
# ----------------
#
# A map of handwritten digits, 64 pixels each, learned from 1,300 images. The others are unseen.
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import onnxruntime
import skl2onnx
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from polyfold import PolynomialEmbedding
from polyfold.plotting import plot_embedding

images, digits = load_digits(return_X_y=True)
train, unseen = images[:1300], images[1300:]
learned = PolynomialEmbedding(graph="isomap").fit(train).map_
expected = learned.transform(unseen)

# %%
# Three models: samples and coordinates in float64; in float32, which is what most programs around a model hold,
# with the arithmetic still in float64; and all in float32, for accelerators that have no other.
models = {
    "float64": learned.to_onnx(),
    "float32": learned.to_onnx(dtype="float32"),
    "float32 throughout": learned.to_onnx(dtype="float32", arithmetic="float32"),
}
print(learned)
for name, model in models.items():
    operators = sorted({node.op_type for node in model.graph.node})
    print(f"{name:<19}{len(model.SerializeToString()) / 1000:5.0f} kB  {', '.join(operators)}")

# %%
# Check the file in Python
# ------------------------
#
# Before a model is given away, it is run once where it was made. The input is called ``X``, the output ``Y``, and
# the number of rows is free.
size = np.abs(expected).max()
in_python = {}
for name, model in models.items():
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    kind = np.float64 if name == "float64" else np.float32
    (in_python[name],) = session.run(["Y"], {"X": unseen.astype(kind)})
    difference = np.abs(in_python[name] - expected).max() / size
    print(f"{name:<19} largest difference from transform: {difference:.1e} of the largest coordinate")

# %%
# Run it in JavaScript
# --------------------
#
# ``onnxruntime-web`` is the same runtime compiled to WebAssembly, for browsers and for node. This is all it takes:
#
# .. literalinclude:: place.js
#    :language: javascript
#
# (The last lines and the first are node's. In a web page the model comes by ``ort.InferenceSession.create(url)``
# and the samples from wherever the page has them.) Here the script runs in node, which is to find the package:
# ``npm install onnxruntime-web``.
here = Path(__file__).resolve().parent if "__file__" in globals() else Path.cwd()  # where place.js lies
modules = Path(os.environ.get("POLYFOLD_NODE_MODULES", here / "../../tools/npm/node_modules")).resolve()
if shutil.which("node") is None or not (modules / "onnxruntime-web").is_dir():
    raise FileNotFoundError(
        f"This page needs node, and the npm package onnxruntime-web in {modules}. `make docs` installs the "
        "package; or install it anywhere and set POLYFOLD_NODE_MODULES to that node_modules."
    )


def run_in_node(model, samples):
    """Return the outputs of a model by name, computed by place.js."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        path.write_bytes(model.SerializeToString())
        done = subprocess.run(
            ["node", here / "place.js", path],
            input=json.dumps(samples.tolist()),
            capture_output=True,
            check=True,
            text=True,
            env=os.environ | {"NODE_PATH": str(modules)},
        )
    return {name: np.array(values) for name, values in json.loads(done.stdout).items()}


in_node = {name: run_in_node(model, unseen)["Y"].reshape(-1, 2) for name, model in models.items()}
print(f"{'largest difference':<19} {'from transform':>15} {'from Python':>12}")
for name, placed in in_node.items():
    from_map, from_python = (np.abs(placed - other).max() / size for other in (expected, in_python[name]))
    print(f"{name:<19} {from_map:15.1e} {from_python:12.1e}")

# %%
# JSON writes float64 with all its digits, so nothing is lost on the way. A program that holds float32 loses what
# float32 cannot hold: about the seventh digit.
#
# Look at it
# ----------
#
# On the left where JavaScript places the unseen images, with Python's places as rings around them. On the right
# the differences of all coordinates from ``map_.transform``; what agrees to the last bit is drawn at the left
# edge.
figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.4), layout="constrained")
plot_embedding(in_node["float64"], digits[1300:], size=9, ax=left)
left.scatter(*in_python["float64"].T, s=45, facecolor="none", edgecolor="grey", linewidth=0.4)
left.set_title("dots: JavaScript, rings: Python")
bins = np.logspace(-18, -4, 57)
for name, placed in in_node.items():
    differences = np.abs(placed - expected).ravel() / size
    right.hist(np.maximum(differences, bins[0]), bins, alpha=0.75, label=name)
right.set(
    xscale="log",
    xlabel="difference, in largest coordinates",
    ylabel="coordinates",
    title="JavaScript against transform",
)
right.margins(y=0.25)
_ = right.legend(title="model", loc="upper center", ncols=3)

# %%
# A whole pipeline
# ----------------
#
# skl2onnx converts a pipeline with an embedding in it, with nothing to register: what comes before and after the
# map is part of the model, here a scaler and a classifier. The same script runs it.
embedding = PolynomialEmbedding(20, graph="laplacian")
pipeline = make_pipeline(embedding, StandardScaler(), LogisticRegression())
pipeline.fit(train, digits[:1300])
converted = skl2onnx.to_onnx(pipeline, train[:1], options={"zipmap": False}, target_opset=17)

results = run_in_node(converted, unseen)
same = results["label"] == pipeline.predict(unseen)
chances = results["probabilities"].reshape(len(unseen), -1)
print("operators:", ", ".join(sorted({node.op_type for node in converted.graph.node})))
print(f"digits that JavaScript and scikit-learn agree on: {same.sum()} of {len(same)}")
print(f"largest difference of a probability: {np.abs(chances - pipeline.predict_proba(unseen)).max():.1e}")
print(f"right about the digit: {np.mean(results['label'] == digits[1300:]):.1%}")

# %%
# Elsewhere
# ---------
#
# The runtimes for C++, C# and Java go by the same three steps: make a session from the file, make a tensor of the
# samples, run. Where there is no runtime, as on a microcontroller, ``map_.to_c`` writes a function of plain C; and
# the JSON of a map can be evaluated in any language by a few lines: :doc:`/artefact`. The extrapolation score is
# not part of the model: ask :meth:`polyfold.PolynomialMap.extrapolation`, or a page that ``to_html`` writes.
