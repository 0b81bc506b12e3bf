"""Use the installed package a little; fails where a part of it was left out of the distribution."""

import json
from importlib import resources
from pathlib import Path

import sawtooth as saw

here = Path(__file__).resolve().parents[1]
assert here not in Path(saw.__file__).resolve().parents, "this is the checkout, not the package"

example = saw.load_example()
scores = example.scores["gradient_boosting"]
ranking = saw.rank(example.label, scores)
interval = saw.aucpr_interval(ranking)
assert saw.minimum_aucpr(ranking.prevalence) < interval.low < interval.estimate < interval.high < 1
band = saw.pr_band(ranking, n_resamples=200, rng=1)
assert band.contains(saw.pr_curve(ranking))
assert saw.Ranking.from_dict(json.loads(json.dumps(ranking.to_dict()))) == ranking
assert resources.files("sawtooth").joinpath("py.typed").is_file()
assert resources.files("sawtooth.evaluation").joinpath("coverage.csv").is_file()
print(f"sawtooth {saw.__version__}: {interval}")
