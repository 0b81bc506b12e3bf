"""Simulations that make the tables and figures of the documentation, one module each.

Each has ``run(output, *, quick=False, seed=..., workers=None, progress=None)``, which writes a tidy
CSV with its settings, a figure and a page into a folder, and goes on where it was interrupted.
"""

#: The studies, by the name of their module, in a few words.
ABOUT = {
    "attack": "what released numbers give away about one row",
    "audit": "how often intervals from few labels cover the truth, and their width",
    "band_theory": "the theorems behind the bands, put to the test",
    "bands": "how often each band holds the whole curve, and its width",
    "bias": "how far each estimator of the area is from the truth",
    "defaults": "how often default intervals cover, beyond the plain area",
    "downsampling": "what downsampling the negatives does to the areas",
    "drug_discovery": "four scorers on compounds of which 2 % are active",
    "folds": "how often the interval from folds holds the truth",
    "gate": "how often a gate passes what it should not, and what it should",
    "intervals": "how often each interval covers the true area, and its width",
    "missed": "how often intervals and bands hold when positives were never scored",
    "monitoring": "whether monitors keep their level, and how soon they notice",
    "neighbours": "what a private number of rows changes in a curve",
    "planning": "whether planned widths and powers come true",
    "privacy": "what a private release costs in accuracy",
    "private_choice": "which private mechanism has the smallest error",
    "private_threshold": "whether a private threshold keeps the precision it promises",
    "promises": "how often a promised threshold breaks its promise",
    "region": "the region that no precision-recall curve can reach",
    "sites": "what it costs that several sites add noise apart",
    "slices": "whether the limits of all slices hold at once",
}
