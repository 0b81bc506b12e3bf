"""Data that come with a tool: pROC's and dcurves' patients, and trec_eval's test files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.special import ndtri

import precall as pr

from .tools import Answer

# Files of judgements and runs in trec_eval's test folder, what it prints for them, and how it was
# called: queries that were not answered counted as 0, and the lowest relevant grade.
_TREC_EVAL = (
    ("qrels.test", "results.test", "out.test.aq", "skip", 1),
    ("qrels.test", "results.trunc", "out.test.aqc", "zero", 1),
    ("qrels.rel_level", "results.test", "out.test.aql", "skip", 2),
    ("qrels.test.with-comments", "results.test", "out.test.aq", "skip", 1),
)


def patients(answers: list[Answer]) -> list[tuple[str, float, float]]:
    """Return name, pROC's number and ours of its tests on aSAH."""
    said = {answer.quantity: answer for answer in answers if answer.set == "aSAH"}
    columns = {
        name.removeprefix("column_"): np.array(answer.message.split(), dtype=np.float64)
        for name, answer in said.items()
        if name.startswith("column_")
    }
    found = []
    for other in ("s100b", "ndka") if columns else ():
        scores = {"wfns": columns["wfns"], other: columns[other]}
        outcome = columns["outcome"].astype(np.int64)
        compared = pr.compare(outcome, scores, "auroc", distribution="normal")
        pair = compared.to_dict()["pairs"][0]
        z = -float(ndtri(pair["p_value"] / 2.0))
        ours = {"z": z, "p": pair["p_value"], "low": pair["low"], "high": pair["high"]}
        for quantity, value in ours.items():
            theirs = said[f"wfns_{other}_{quantity}"].value
            found.append((f"wfns against {other}, {quantity}", theirs, value))
    return found


# Files of dcurves, the column of the outcome, and the prevalence that dcurves is asked for.
_DCURVES = (("df_binary.csv", "cancer", None), ("df_case_control.csv", "casecontrol", 0.2))
_PROBABILITIES = np.arange(1, 36) / 100.0


def decision_curves() -> Iterator[tuple[str, int, float]]:
    """Compare net-benefit curves with those of dcurves on its own patients, if it is there.

    Yields the name of a curve, how many numbers were compared, and the worst difference.
    """
    try:
        import dcurves
        import pandas as pd
    except ImportError:
        return
    for file, outcome, prevalence in _DCURVES:
        frame = pd.read_csv(Path(dcurves.__file__).parent / "data" / file)
        frame[outcome] = frame[outcome].astype(int)
        model = "cancerpredmarker"
        theirs = dcurves.dca(
            data=frame[[outcome, model]],
            outcome=outcome,
            modelnames=[model],
            thresholds=_PROBABILITIES.tolist(),
            prevalence=prevalence,
        )
        ours = pr.net_benefit_curve(
            pr.Rows(frame[outcome], frame[model]),
            probabilities=_PROBABILITIES,
            prevalence=prevalence,
        )
        for name, values in {model: ours.y, "all": ours.references["select everything"]}.items():
            curve = theirs[theirs["model"] == name].sort_values("threshold")["net_benefit"]
            worst = float(np.max(np.abs(curve.to_numpy() - values)))
            yield f"{file}, {name}", values.size, worst


def trec_eval_files() -> Iterator[tuple[str, int, list[str]]]:
    """Compare with what trec_eval prints for its own files, if PRECALL_TREC_EVAL names its folder.

    Yields the name, how many numbers were compared, and those that differ in a printed digit.
    """
    folder = Path(os.environ.get("PRECALL_TREC_EVAL") or "/nowhere", "test")
    if not folder.is_dir():
        return
    for qrels, run, printed, missing, grade in _TREC_EVAL:
        said = {}
        for line in (folder / printed).read_text(encoding="latin-1").splitlines():
            words = line.split()
            if len(words) == 3:
                said[words[0], words[1]] = words[2]
        searched = pr.read_trec(folder / run, folder / qrels)
        ties = {"ties": "trec_eval_10", "missing_queries": missing}
        rankings = searched.rankings(**ties, min_relevance=grade)
        words = {
            "map": "aucpr",
            "Rprec": "r_precision",
            "11pt_avg": "eleven_point_precision(points=trec_eval_10)",
            "recip_rank": "reciprocal_rank",
            "P_10": "precision_at_k(10)",
            "recall_100": "recall_at_k(100)",
        }
        ours = {name: pr.per_group(rankings, m, undefined="zero") for name, m in words.items()}
        ours["bpref"] = searched.bpref(**ties, min_relevance=grade)
        ours["infAP"] = searched.inferred_ap(**ties, min_relevance=grade)
        ours["ndcg"] = searched.ndcg(**ties)
        compared, differ = 0, []
        for name, values in ours.items():
            for query, value in [
                *zip(values.labels, values.values, strict=True),
                ("all", values.mean()),
            ]:
                compared += 1
                if f"{value:.4f}" != said[name, query]:
                    differ.append(f"{name} of {query}: {value:.6f} against {said[name, query]}")
        yield f"{qrels} with {run}", compared, differ
