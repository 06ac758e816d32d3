"""Compare nearest-neighbour libraries: why `neighbors="auto"` takes what it takes.

    python benchmarks/knn_libraries.py [--sets mnist,usps,coil] [--methods faiss-ivf,...] [--k 10] [--csv FILE]

Every search is a process of its own: seconds are from the first import of the library to the last neighbour, so
that compilation counts, and memory is the peak of the process less that of one that only loads the data. Recall is
the share of the exact k nearest that were found, on 2,000 samples. "repeats" says whether a second search in the
process found the same neighbours, bit for bit, on as many threads.
"""

from __future__ import annotations

import argparse
import csv
import importlib.metadata
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from polyfold.bench.timing import read_peak


def load(name: str) -> np.ndarray:
    from polyfold import datasets

    if name in ("mnist", "mnist-30"):
        X = datasets.load_mnist(subset="train")[0]
        if name == "mnist-30":
            from sklearn.decomposition import PCA

            X = PCA(30, random_state=0).fit_transform(X)
    elif name == "usps":
        X = datasets.load_usps()[0]
    elif name == "coil":
        X = datasets.load_coil20()[0]
    elif name.startswith("roll-"):
        X = datasets.make_swiss_roll(int(float(name[5:])), random_state=0)[0]
    else:
        raise SystemExit(f"unknown set {name}")
    return np.ascontiguousarray(X.reshape(len(X), -1), dtype=np.float64)


def search_sklearn(X, k):
    from sklearn.neighbors import NearestNeighbors

    return NearestNeighbors(n_neighbors=k + 1, algorithm="brute").fit(X).kneighbors(return_distance=False)


def search_kdtree(X, k):
    from scipy.spatial import cKDTree

    return cKDTree(X).query(X, k + 1, workers=-1)[1]


def search_polyfold(X, k):
    from polyfold._neighbors import find_exact_neighbors

    return find_exact_neighbors(X, k, n_jobs=-1, verbose=0)


def search_polyfold_approx(X, k):
    from polyfold._index import build_index, find_others

    return find_others(build_index(X, n_jobs=-1, search="approx"), X, k, np.arange(len(X)), verbose=0)


def search_faiss_flat(X, k):
    import faiss

    X = X.astype(np.float32)
    index = faiss.IndexFlatL2(X.shape[1])
    index.add(X)
    return index.search(X, k + 1)[1]


def search_faiss_ivf(X, k, n_probes=8):
    import faiss

    X = X.astype(np.float32)
    quantizer = faiss.IndexFlatL2(X.shape[1])
    n_lists = max(int(np.sqrt(len(X))), 1)
    index = faiss.IndexIVFFlat(quantizer, X.shape[1], n_lists)
    index.train(X)
    index.add(X)
    index.nprobe = n_probes
    return index.search(X, k + 1)[1]


def search_faiss_ivf16(X, k):
    return search_faiss_ivf(X, k, 16)


def search_faiss_hnsw(X, k):
    import faiss

    X = X.astype(np.float32)
    index = faiss.IndexHNSWFlat(X.shape[1], 16)
    index.hnsw.efConstruction = 60
    index.add(X)
    index.hnsw.efSearch = max(48, 2 * k)
    return index.search(X, k + 1)[1]


def search_hnswlib(X, k):
    import hnswlib

    X = X.astype(np.float32)
    index = hnswlib.Index(space="l2", dim=X.shape[1])
    index.init_index(max_elements=len(X), ef_construction=60, M=16)
    index.add_items(X)
    index.set_ef(max(48, 2 * k))
    return index.knn_query(X, k + 1)[0].astype(np.intp)


def search_usearch(X, k):
    from usearch.index import Index

    X = X.astype(np.float32)
    index = Index(ndim=X.shape[1], metric="l2sq", dtype="f32", expansion_search=max(48, 2 * k), expansion_add=60)
    index.add(np.arange(len(X)), X)
    return index.search(X, k + 1).keys.astype(np.intp)


def search_pynndescent(X, k):
    from pynndescent import NNDescent

    return NNDescent(X.astype(np.float32), n_neighbors=k + 1, random_state=0).neighbor_graph[0]


METHODS = {
    "scikit-learn brute": (search_sklearn, "scikit-learn"),
    "scipy k-d tree": (search_kdtree, "scipy"),
    "polyfold exact": (search_polyfold, "polyfold"),
    "polyfold approx": (search_polyfold_approx, "faiss-cpu"),
    "faiss flat": (search_faiss_flat, "faiss-cpu"),
    "faiss IVF 8": (search_faiss_ivf, "faiss-cpu"),
    "faiss IVF 16": (search_faiss_ivf16, "faiss-cpu"),
    "faiss HNSW": (search_faiss_hnsw, "faiss-cpu"),
    "hnswlib": (search_hnswlib, "hnswlib"),
    "usearch": (search_usearch, "usearch"),
    "pynndescent": (search_pynndescent, "pynndescent"),
}


def measure_recall(X, found, k) -> float:
    from sklearn.neighbors import NearestNeighbors

    drawn = np.random.default_rng(0).choice(len(X), min(2000, len(X)), replace=False)
    index = NearestNeighbors(n_neighbors=k + 1, algorithm="brute" if X.shape[1] > 15 else "kd_tree").fit(X)
    distances, _ = index.kneighbors(X[drawn])
    farthest = distances[:, -1] * (1 + 1e-6)  # another sample as near is as good
    hits = 0
    for row, limit in zip(drawn, farthest, strict=True):
        others = found[row][(found[row] != row) & (found[row] >= 0)][:k]
        hits += np.count_nonzero(np.linalg.norm(X[others] - X[row], axis=1) <= limit)
    return hits / (k * len(drawn))


def measure(name: str, method: str, k: int) -> None:
    X = load(name)
    before = read_peak()
    start = time.perf_counter()
    found = METHODS[method][0](X, k)
    seconds = time.perf_counter() - start
    memory = (read_peak() - before) / 2**20
    again = time.perf_counter()
    repeats = bool(np.array_equal(found, METHODS[method][0](X, k)))
    warm = time.perf_counter() - again
    recall = measure_recall(X, np.asarray(found), k)
    print(json.dumps([seconds, warm, memory, recall, repeats]))


def size_of(distribution: str) -> float:
    """Megabytes that a package takes once installed."""
    files = importlib.metadata.files(distribution) or []
    return sum(file.size or 0 for file in files) / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default="mnist,mnist-30,usps,coil,roll-1e6")
    parser.add_argument("--methods", default="all")
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--csv")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        measure(*arguments.one, arguments.k)
        return
    rows = []
    header = f"{'set':<10}{'k':>4}  {'method':<22}{'first':>8}{'again':>8}{'recall':>8}{'memory':>9}"
    print(header + f"{'installed':>11}  repeats")
    chosen = list(METHODS) if arguments.methods == "all" else arguments.methods.split(",")
    for name in arguments.sets.split(","):
        for method in chosen:
            command = [sys.executable, __file__, "--one", name, method, "--k", str(arguments.k)]
            shown = subprocess.run(command, capture_output=True, text=True, env=os.environ)
            if shown.returncode:
                print(f"{name:<10}{arguments.k:>4}  {method:<22} failed: {shown.stderr.strip()[-80:]}")
                continue
            seconds, warm, memory, recall, repeats = json.loads(shown.stdout.splitlines()[-1])
            installed = size_of(METHODS[method][1])
            rows.append([name, arguments.k, method, seconds, warm, recall, memory, installed, repeats])
            print(
                f"{name:<10}{arguments.k:>4}  {method:<22}{seconds:7.1f}s{warm:7.1f}s{recall:8.3f}{memory:6.0f} MB"
                f"{installed:8.0f} MB  {'yes' if repeats else 'no'}",
                flush=True,
            )
    if arguments.csv:
        with Path(arguments.csv).open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(
                ["set", "k", "method", "first_s", "again_s", "recall", "memory_MB", "installed_MB", "repeats"]
            )
            writer.writerows(rows)


if __name__ == "__main__":
    main()
