"""A fit to samples that come a block at a time: out of core, on a cluster, or from a stream.

Three passes: a survey (moments, a sample, the reference set), the sums that condition the polynomials, and the
Gram pair. What a fit keeps beside these does not grow with the samples. A stream's first batch is surveyed and
sets the plan; later ones are added to the sums by that plan.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyfold._assembly import complete_map, write_map
from polyfold._basis import MonomialBasis, build_basis, choose_basis
from polyfold._blocks import show_stage
from polyfold._conditioning import (
    ConditionedBasis,
    MonomialSums,
    check_no_overflow,
    condition_on_sums,
    merge_monomial_sums,
    slice_for_monomials,
    sum_monomials,
)
from polyfold._draw import choose_sample_size
from polyfold._frame import Frame, choose_n_axes, frame_moments, holds_products, turn_frame
from polyfold._global_rows import solve_global_rows
from polyfold._gram import GramPair, count_folds
from polyfold._local import solve_local
from polyfold._reference import (
    accumulate_block,
    merge_folds,
    prepare_reference,
    report_reference,
)
from polyfold._relations import RelationFacts
from polyfold._rows import HeldRows, Rows
from polyfold._solution import Solution
from polyfold._survey import (
    Seen,
    Survey,
    SurveySizes,
    choose_reference_size,
    merge_surveys,
    report_survey,
    survey_block,
)
from polyfold.objectives import GEODESIC
from polyfold.polymap import PolynomialMap

#: A sample lies well outside a stream's first batch beyond so many times the edge of that.
WELL_OUTSIDE = 1.5


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The parameters of a fit, checked; those of `PolynomialEmbedding`."""

    n_components: int
    graph: str
    n_neighbors: Any
    degree: int
    basis: str
    orthogonal: bool
    alpha: float | None
    reduce: Any
    center: bool
    independent: bool
    neighbors: str
    reference_size: int | None
    fit_inverse_transform: bool
    n_jobs: int | None
    random_state: Any
    verbose: int

    @property
    def is_geodesic(self) -> bool:
        """Whether geodesic distances are kept."""
        return self.graph in GEODESIC


@dataclass(frozen=True, eq=False)
class Plan:
    """What is settled before the relations of samples are summed up.

    Attributes
    ----------
    settings : Settings
    kind : str
        Of the monomials.
    basis : ConditionedBasis
    shared_basis, reference
        The basis, and the `Reference`, as the rows share them.
    facts : RelationFacts
    n_folds : int
    """

    settings: Settings
    frame: Frame
    kind: str
    basis: ConditionedBasis
    shared_basis: Any
    reference: Any
    facts: RelationFacts
    n_folds: int


@dataclass(frozen=True, eq=False)
class Fitted:
    """What a fit to blocks returns: the map, complete, and what was found on the way."""

    learned: PolynomialMap
    solution: Solution
    unit: float
    frame: Frame
    facts: RelationFacts
    n_samples: int
    round_trip_error: float | None


def sum_block_monomials(block: NDArray[Any], first: int, frame: Frame, monomials: MonomialBasis) -> MonomialSums:
    """Sum the monomials of a block."""
    shares = [
        sum_monomials(frame.locate(block[rows])[1], monomials)
        for rows in slice_for_monomials(len(block), monomials)
    ]
    return merge_monomial_sums(shares)


def survey_rows(rows: Rows, settings: Settings) -> tuple[Any, Seen]:
    """Look at all samples once: return the survey as `rows` shares it, and the part of it that is needed here."""
    sizes = choose_survey_sizes(rows.shape, settings)
    survey = rows.total(survey_block, merge_surveys, sizes, description="survey")
    seen: Seen = rows.fetch(rows.share(report_survey, survey))
    if seen.moments.n_samples != rows.shape[0]:
        raise ValueError(
            f"The chunks of X hold {seen.moments.n_samples:,} rows, and X says that it has {rows.shape[0]:,}. Let "
            "its lengths be counted (X.compute_chunk_sizes()), and change no file while it is read."
        )
    return survey, seen


def choose_survey_sizes(shape: tuple[int, int], settings: Settings) -> SurveySizes:
    """Choose what a survey is to bring."""
    n_samples, n_columns = shape
    return SurveySizes(
        n_samples,
        choose_sample_size(n_columns),
        min(choose_reference_size(settings.reference_size, n_columns, geodesic=settings.is_geodesic), n_samples),
        settings.reduce is not None and holds_products(n_samples, n_columns),
    )


def plan_fit(rows: Rows, settings: Settings, survey: Any, seen: Seen) -> Plan:
    """Choose axes, monomials and neighbourhoods."""
    n_samples, n_columns = rows.shape
    center = settings.center
    n_axes = choose_n_axes(
        settings.reduce, (n_samples, n_columns), settings.basis, settings.degree, settings.n_components
    )
    is_tall = seen.moments.products.ndim == 2
    frame = frame_moments(seen.moments, n_axes if is_tall else None, center=center)
    if n_axes is not None and not is_tall:
        columns, _ = frame.locate(seen.sample)
        frame = turn_frame(frame, columns, n_axes, center=center, random_state=settings.random_state)
    kind = choose_basis(settings.basis, frame.n_axes, settings.degree)
    monomials = build_basis(kind, frame.n_axes, settings.degree)
    sums = rows.total(sum_block_monomials, merge_monomial_sums, frame, monomials, description="monomials")
    shared_basis = rows.share(_condition, monomials, sums, center)
    work = replace(settings, n_jobs=rows.n_jobs)
    reference = rows.share(_prepare, survey, frame, shared_basis, work, kind, n_samples, description="reference")
    facts: RelationFacts = rows.fetch(rows.share(report_reference, reference))
    basis: ConditionedBasis = rows.fetch(shared_basis)
    n_folds = count_folds(n_samples, monomials.n_features)
    return Plan(settings, frame, kind, basis, shared_basis, reference, facts, n_folds)


def _condition(monomials: MonomialBasis, sums: MonomialSums, center: bool) -> ConditionedBasis:
    return condition_on_sums(monomials, sums, center=center)


def _prepare(
    survey: Any, frame: Frame, basis: ConditionedBasis, settings: Settings, kind: str, n_samples: int
) -> Any:
    return prepare_reference(
        survey,
        frame,
        basis,
        kind=kind,
        n_samples=n_samples,
        graph=settings.graph,
        degree=settings.degree,
        n_components=settings.n_components,
        n_neighbors=settings.n_neighbors,
        neighbors=settings.neighbors,
        alpha=settings.alpha,
        center=settings.center,
        random_state=settings.random_state,
        n_jobs=settings.n_jobs,
        verbose=0,  # it may be done by another process
    )


def sum_relations(rows: Rows, plan: Plan) -> list[GramPair]:
    """Sum up the local equations of all samples, fold by fold."""
    shared = (plan.reference, plan.shared_basis, plan.n_folds)
    folds: list[GramPair] = rows.fetch(rows.total(accumulate_block, merge_folds, *shared, description="Gram pair"))
    return folds


def solve_folds(plan: Plan, folds: list[GramPair], sample: NDArray[Any]) -> Solution:
    """Solve for the map that keeps local relations."""
    check_no_overflow(*(gram for fold in folds for gram in (fold.A, fold.B)))
    settings = plan.settings
    return solve_local(
        folds,
        plan.basis,
        plan.frame.locate(sample)[1],
        settings.n_components,
        alpha=settings.alpha,
        orthogonal=settings.orthogonal,
        independent=settings.independent,
        center=settings.center,
        n_jobs=settings.n_jobs,
        verbose=settings.verbose,
    )


def finish_fit(plan: Plan, solution: Solution, seen: Seen) -> Fitted:
    """Write the map, and add what its samples cover and the way back, as far as a sample of them tells."""
    settings, frame = plan.settings, plan.frame
    learned, unit = write_map(
        solution,
        frame,
        plan.kind,
        settings.degree,
        seen.sample,
        orthogonal=settings.orthogonal,
        metric=settings.is_geodesic,
    )
    whole = frame_moments(seen.moments, None, center=settings.center)  # a stream's mean and ranges move on
    covered = replace(frame, mean=whole.mean, ranges=whole.ranges, variances=whole.variances)
    with show_stage("domain and way back", settings.verbose):
        weights = np.ones(len(seen.sample))
        learned, error = complete_map(learned, covered, seen.sample, weights, settings.fit_inverse_transform)
    return Fitted(learned, solution, unit, covered, plan.facts, seen.moments.n_samples, error)


def fit_rows(rows: Rows, settings: Settings) -> Fitted:
    """Learn a map from all samples."""
    survey, seen = survey_rows(rows, settings)
    plan = plan_fit(rows, settings, survey, seen)
    del survey
    if settings.is_geodesic:
        solution = solve_global_rows(
            rows,
            plan.reference,
            plan.shared_basis,
            plan.basis,
            settings.n_components,
            alpha=settings.alpha,
            orthogonal=settings.orthogonal,
            center=settings.center,
        )
    else:
        solution = solve_folds(plan, sum_relations(rows, plan), seen.sample)
    return finish_fit(plan, solution, seen)


@dataclass(frozen=True, eq=False)
class Stream:
    """What has been learned from a stream so far.

    Attributes
    ----------
    plan : Plan
        Fixed by the first batch: mean, scale, axes, polynomials, and the set among which neighbours are found.
    folds : list of GramPair
        Sums over all samples so far.
    survey : Survey
        Of all samples so far, without that set.
    sizes : SurveySizes
        Of the survey of a batch.
    n_first : int
        Samples in the first batch.
    n_outside : int
        Later ones that lie well outside of it.
    first : PolynomialMap or None
        The map of the first batch, whose domain tells; None before it is known.
    """

    plan: Plan
    folds: list[GramPair]
    survey: Survey
    sizes: SurveySizes
    n_first: int
    n_outside: int = 0
    first: PolynomialMap | None = None

    @property
    def n_samples(self) -> int:
        """Samples so far."""
        return self.survey.moments.n_samples

    def check_settings(self, settings: Settings) -> None:
        """Check that parameters are those that the stream began with, but for threads and progress."""
        before, now = (replace(each, n_jobs=None, verbose=0) for each in (self.plan.settings, settings))
        if before != now:
            changed = [each.name for each in fields(now) if getattr(before, each.name) != getattr(now, each.name)]
            raise ValueError(
                f"Parameters were changed in the middle of a stream: {', '.join(changed)}. Set them back, or "
                "begin anew with a clone."
            )


def begin_stream(rows: HeldRows, settings: Settings) -> tuple[Stream, Fitted]:
    """Plan by the first batch, add it, and return the map too."""
    sizes = replace(choose_survey_sizes(rows.shape, settings), n_samples=None)
    survey: Survey = rows.total(survey_block, merge_surveys, sizes, description="survey")
    plan = plan_fit(rows, settings, survey, report_survey(survey))
    stream = Stream(
        plan,
        sum_relations(rows, plan),
        replace(survey, reference=None),
        replace(sizes, reference=None),
        rows.shape[0],
    )
    fitted = _finish_stream(stream)
    return replace(stream, first=fitted.learned), fitted


def continue_stream(stream: Stream, rows: HeldRows) -> tuple[Stream, Fitted]:
    """Add a batch to the sums, and return the map of all samples so far too."""
    assert stream.first is not None
    n_outside = int(np.count_nonzero(stream.first.extrapolation(rows.X) > WELL_OUTSIDE))
    survey: Survey = rows.total(survey_block, merge_surveys, stream.sizes, description="survey")
    folds = merge_folds([stream.folds, sum_relations(rows, stream.plan)])
    merged = merge_surveys([stream.survey, survey])
    stream = replace(stream, folds=folds, survey=merged, n_outside=stream.n_outside + n_outside)
    return stream, _finish_stream(stream)


def _finish_stream(stream: Stream) -> Fitted:
    seen = report_survey(stream.survey)
    fitted = finish_fit(stream.plan, solve_folds(stream.plan, stream.folds, seen.sample), seen)
    n_later = stream.n_samples - stream.n_first
    share = stream.n_outside / n_later if n_later else float("nan")
    return replace(fitted, facts=replace(fitted.facts, outside_share=share))
