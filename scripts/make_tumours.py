"""Make the second embedded example: two models of breast tumours, scored by cross-validation.

The data are the Breast Cancer Wisconsin (Diagnostic) set of Wolberg, Street and Mangasarian, as it
comes with scikit-learn: 569 tumours, 212 of them malignant. Only labels, folds and scores are kept.
Each tumour was scored by models that were fitted on the other folds.

    python scripts/make_tumours.py            writes src/precall/data/tumours.csv
    python scripts/make_tumours.py - | head   writes to standard output
"""

import argparse
import csv
import io
import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

DESTINATION = Path(__file__).parents[1] / "src" / "precall" / "data" / "tumours.csv"
COLUMNS = ("tumour_id", "fold", "malignant", "logistic_regression", "decision_tree")
FOLDS = 5
# The means of texture, smoothness, symmetry and fractal dimension: with all 30 columns every model
# is nearly perfect, and there is nothing to compare.
FEATURES = [1, 4, 8, 9]


def tumours_csv() -> str:
    """The whole file as text: one tumour a row, in the order of the data set."""
    data = load_breast_cancer()
    features, malignant = data.data[:, FEATURES], (data.target == 0).astype(int)
    fold = np.zeros(malignant.size, dtype=int)
    scores = {name: np.zeros(malignant.size) for name in COLUMNS[3:]}
    split = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    for number, (train, test) in enumerate(split.split(features, malignant), start=1):
        fold[test] = number
        models = {
            "logistic_regression": make_pipeline(StandardScaler(), LogisticRegression()),
            "decision_tree": DecisionTreeClassifier(min_samples_leaf=15, random_state=0),
        }
        for name, model in models.items():
            model.fit(features[train], malignant[train])
            scores[name][test] = model.predict_proba(features[test])[:, 1]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row, label in enumerate(malignant.tolist()):
        found = [f"{score[row]:.4f}" for score in scores.values()]
        writer.writerow([f"T{row + 1:03d}", f"fold {fold[row]}", label, *found])
    return text.getvalue()


def main(arguments: list[str] | None = None) -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("destination", nargs="?", default=str(DESTINATION), help="- for output")
    destination = parser.parse_args(arguments).destination
    text = tumours_csv()
    if destination == "-":
        sys.stdout.write(text)
    else:
        Path(destination).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
