"""Use the installed package a little; fails where a part of it was left out of the distribution."""

import json
from importlib import resources
from pathlib import Path

import precall as pr

here = Path(__file__).resolve().parents[1]
assert here not in Path(pr.__file__).resolve().parents, "this is the checkout, not the package"

example = pr.load_example()
scores = example.scores["gradient_boosting"]
ranking = pr.rank(example.label, scores)
interval = pr.interval(ranking)
assert pr.minimum_aucpr(ranking.prevalence) < interval.low < interval.estimate < interval.high < 1
band = pr.band(ranking, n_resamples=200, rng=1)
assert band.contains(pr.pr_curve(ranking))
assert pr.Ranking.from_dict(json.loads(json.dumps(ranking.to_dict()))) == ranking
assert resources.files("precall").joinpath("py.typed").is_file()
assert resources.files("precall.evaluation").joinpath("coverage.csv").is_file()
print(f"precall {pr.__version__}: {interval}")
