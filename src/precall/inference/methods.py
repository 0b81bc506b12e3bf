"""The interval methods: what each does, where it comes from, where it fails, what it serves."""

from __future__ import annotations

from dataclasses import dataclass

#: Whether another sample would have the same numbers of positives and negatives.
PREVALENCE = ("fixed", "random")


@dataclass(frozen=True, kw_only=True)
class IntervalMethod:
    """What a method does, where it comes from and where it fails."""

    summary: str
    source: str
    caution: str


#: The methods of :func:`aucpr_interval`.
INTERVALS: dict[str, IntervalMethod] = {
    "binomial": IntervalMethod(
        summary="the area as a share of n positives, symmetric",
        source="Boyd 2014, section 4.3.3",
        caution="symmetric where the law is not: .73 instead of .95 on the worst regular model",
    ),
    "logit": IntervalMethod(
        summary="the area as a share of n positives, on the logit scale",
        source="Boyd 2014, section 4.3.3",
        caution="knows nothing of the negatives: .85 instead of .95 with a few outlying ones",
    ),
    "influence": IntervalMethod(
        summary="the estimator's own variance, stabilised at small n",
        source="this library",
        caution="blind to negatives that could outrank everything and have not been seen yet",
    ),
    "guarded": IntervalMethod(
        summary="influence, with room for unseen negatives at the top; the default",
        source="this library",
        caution="wider than need be for nearly perfect rankings at prevalence 1/2",
    ),
    "bootstrap_percentile": IntervalMethod(
        summary="quantiles of replicates",
        source="Efron 1979; Boyd 2014, section 4.3.3",
        caution="centred at the doubled bias of the estimator: .73 to .94 with 20 positives",
    ),
    "bootstrap_bca": IntervalMethod(
        summary="quantiles of replicates, corrected for bias and skewness",
        source="Efron 1987",
        caution="better than percentile, still short with few positives: .80 to .97 with 20",
    ),
    "bootstrap_t": IntervalMethod(
        summary="replicates in units of their own standard errors, on the logit scale",
        source="Hall 1988, with influence standard errors",
        caution="short with few positives (.72 to .96 with 20), right with 100; slow",
    ),
}
RESAMPLING = ("bootstrap_percentile", "bootstrap_bca", "bootstrap_t")
_WITH_OWN_VARIANCE = ("influence", *RESAMPLING)

#: The methods of each metric, the default first.
METHODS: dict[str, tuple[str, ...]] = {
    "aucpr": ("guarded", *(name for name in INTERVALS if name != "guarded")),
    "aucnpr": ("guarded", *(name for name in INTERVALS if name != "guarded")),
    "auroc": ("logit", "delong", "beta", *RESAMPLING),
    "auprg": _WITH_OWN_VARIANCE[:-1],
    "precision_at_recall": ("mover", *_WITH_OWN_VARIANCE),
    "recall_at_precision": ("bootstrap_percentile",),
    "f_beta": _WITH_OWN_VARIANCE,
}
