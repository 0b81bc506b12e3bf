"""What is promised of the best of several models holds although the model was chosen.

The claim "false with probability at most 5 %" is a hypothesis; it is rejected when the count
observed would be seen with probability under one in 1,000 if the claim held.
"""

import numpy as np
from scipy import stats
from scipy.special import ndtr

import precall as pr
from precall.evaluation import Settings
from precall.evaluation.answer import promised
from precall.evaluation.model_result import Measure, ModelEvaluation, best_of

DATA_SETS = 300
ROWS, PREVALENCE, SHIFT = 500, 0.1, 1.5


def precision(threshold):
    """Of ``score >= threshold``, with normal scores a shift apart."""
    found, wrong = PREVALENCE * ndtr(SHIFT - threshold), (1 - PREVALENCE) * ndtr(-threshold)
    return found / (found + wrong)


def model(y, scores, settings):
    ranking = pr.rank(y, scores)
    area = Measure(
        name="aucpr",
        title="AUCPR",
        explanation="",
        estimate=pr.aucpr(ranking),
        interval=None,
        floor=None,
        random=None,
        ceiling=1.0,
    )
    return ModelEvaluation(
        name="m", title="m", ranking=ranking, measures={"aucpr": area}, settings=settings
    )


def test_the_promise_holds_for_the_best_of_eight_equal_models():
    """At the level of a single model, that of the best of 8 is false in 12 % of the data sets."""
    rng = np.random.default_rng(8)
    settings = Settings(candidates=8)
    made = wrong = 0
    for _ in range(DATA_SETS):
        y = rng.random(ROWS) < PREVALENCE
        scores = rng.normal(size=(8, ROWS)) + SHIFT * y
        point = promised(best_of([model(y, column, settings) for column in scores]))
        if point is not None:
            made += 1
            wrong += precision(point.threshold) < point.constraints[0].required
    assert made > 0.9 * DATA_SETS  # something is promised
    assert stats.binomtest(wrong, DATA_SETS, 0.05, alternative="greater").pvalue > 1e-3
