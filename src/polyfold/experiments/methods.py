"""The methods that are compared: how each is made, and the colour and sign it has in every figure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sklearn.manifold import LocallyLinearEmbedding

from polyfold import NPP, NPPE, ONPP, SNPPE, KernelExtrapolation, PolynomialEmbedding

#: The paper's algorithms to the letter: no centring, no ridge, all columns, the smallest eigenvalues.
TO_THE_LETTER: dict[str, Any] = {"center": False, "alpha": 0, "reduce": None, "coordinates": "smallest"}

PAPER, OURS = "NPPE (paper)", "NPPE (polyfold)"

#: The paper's NPPE before it is simplified, otherwise to the letter.
CROSS_TERMS = "cross terms"

#: What is no method has a colour of its own: places of training and of unseen samples, and what was chosen.
TRAINING_COLOUR, UNSEEN_COLOUR, CHOSEN_COLOUR = "#332288", "#AA3377", "#AA3377"


@dataclass(frozen=True)
class Method:
    """A way to embed.

    Attributes
    ----------
    make : callable
        From the number of neighbours and of coordinates to an estimator.
    colour, marker, line : str
        As matplotlib knows them. The colours are Okabe and Ito's, with brown for their yellow, told apart by
        people of any colour vision.
    """

    make: Callable[[int, int], Any]
    colour: str
    marker: str
    line: str = "-"


def _make_lle(k: int, m: int) -> Any:
    return LocallyLinearEmbedding(n_neighbors=k, n_components=m, random_state=0)


METHODS: dict[str, Method] = {
    PAPER: Method(lambda k, m: SNPPE(m, n_neighbors=k, **TO_THE_LETTER), "#D55E00", "s"),
    OURS: Method(lambda k, m: NPPE(m, n_neighbors=k), "#0072B2", "o"),
    "LLE": Method(_make_lle, "#009E73", "^"),
    "NPP": Method(lambda k, m: NPP(m, n_neighbors=k), "#E69F00", "v"),
    "ONPP": Method(lambda k, m: ONPP(m, n_neighbors=k), "#CC79A7", "D"),
    "KE": Method(lambda k, m: KernelExtrapolation(_make_lle(k, m)), "#000000", "X"),
    "LTSA map": Method(lambda k, m: PolynomialEmbedding(m, graph="ltsa", n_neighbors=k), "#8C6D31", "P", "--"),
    "Isomap map": Method(lambda k, m: PolynomialEmbedding(m, graph="isomap", n_neighbors=k), "#56B4E9", "*", "--"),
}
