"""TREC files, and the same numbers as the programs that read them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import precall as pr
from precall.exceptions import InputError
from precall.groups.group_values import per_group
from precall.groups.ranking_by_group import rank_groups
from precall.groups.trec import read_trec
from precall.readers import trec_files
from tests import naive_groups

# Sums of a few dozen terms in another order.
SAME = 1e-12


def random_collection(rng, n_queries=40, ties=True, graded=True, near_ties=False):
    """A run and judgements, as dictionaries and as lines; some queries are not answered."""
    run, qrels = {}, {}
    for number in range(n_queries):
        query = f"q{number}"
        documents = [f"d{i}" for i in rng.choice(200, 50, replace=False)]
        levels = [-1, 0, 0, 1, 2, 3] if graded else [0, 0, 1]
        judged = documents[: rng.integers(1, 35)]
        qrels[query] = {d: int(rng.choice(levels)) for d in judged}
        if number % 10 == 3:
            continue
        scores = rng.normal(size=40)
        scores = np.round(scores, 1) if ties else scores
        if near_ties:  # equal in single precision only
            scores = scores + 1e-9 * rng.normal(size=40)
        run[query] = dict(zip(documents[10:], scores.tolist(), strict=True))
    return run, qrels


def lines(run, qrels):
    return (
        [f"{q} Q0 {d} 0 {s!r} mine" for q, found in run.items() for d, s in found.items()],
        [f"{q}\t0  {d} {r}" for q, found in qrels.items() for d, r in found.items()],
    )


@pytest.mark.parametrize("near_ties", [False, True])
def test_equal_to_trec_eval(near_ties):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    rng = np.random.default_rng(1)
    run, qrels = random_collection(rng, near_ties=near_ties)
    measures = {"map", "ndcg", "P.1,5,10", "recip_rank", "ndcg_cut.5", "recall.5"}
    measures |= {"Rprec", "bpref", "11pt_avg", "infAP"}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)
    searched = read_trec(*lines(run, qrels))
    rankings = searched.rankings(ties="trec_eval")
    assert rankings.labels.tolist() == sorted(theirs)
    ours = {
        "map": per_group(rankings, "aucpr", undefined="zero"),
        "recip_rank": per_group(rankings, "reciprocal_rank", undefined="zero"),
        "recall_5": per_group(rankings, pr.metrics.recall_at_k(5), undefined="zero"),
        "ndcg": searched.ndcg(ties="trec_eval"),
        "ndcg_cut_5": searched.ndcg(5, ties="trec_eval"),
        "Rprec": per_group(rankings, "r_precision", undefined="zero"),
        "11pt_avg": per_group(
            rankings, "eleven_point_precision(points=trec_eval)", undefined="zero"
        ),
        "bpref": searched.bpref(),
        "infAP": searched.inferred_ap(),
        **{
            f"P_{k}": per_group(rankings, pr.metrics.precision_at_k(k), undefined="zero")
            for k in (1, 5, 10)
        },
    }
    for measure, found in ours.items():
        expected = [theirs[query][measure] for query in rankings.labels]
        np.testing.assert_allclose(found.values, expected, atol=SAME, err_msg=measure)


def test_equal_to_ir_measures():
    ir_measures = pytest.importorskip("ir_measures")
    rng = np.random.default_rng(2)
    run, qrels = random_collection(rng, ties=False)
    searched = read_trec(*lines(run, qrels))
    strict = searched.rankings(min_relevance=2)
    found = {
        ir_measures.AP(rel=2): per_group(strict, "aucpr", undefined="zero"),
        ir_measures.P(rel=2) @ 5: per_group(strict, pr.metrics.precision_at_k(5), undefined="zero"),
        ir_measures.RR(rel=2): per_group(strict, "reciprocal_rank", undefined="zero"),
        ir_measures.Rprec(rel=2): per_group(strict, "r_precision", undefined="zero"),
        ir_measures.Bpref(rel=2): searched.bpref(min_relevance=2),
        ir_measures.infAP(rel=2): searched.inferred_ap(min_relevance=2),
        ir_measures.nDCG @ 10: searched.ndcg(10),
    }
    theirs = list(ir_measures.iter_calc(list(found), qrels, run))
    for measure, ours in found.items():
        expected = {m.query_id: m.value for m in theirs if m.measure == measure}
        values = [expected[query] for query in strict.labels]
        np.testing.assert_allclose(ours.values, values, atol=SAME, err_msg=str(measure))


RANX = """
import json, sys
import ranx
run, qrels, measures = json.load(sys.stdin)
json.dump(ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), measures), sys.stdout)
"""


@pytest.mark.slow
def test_equal_to_ranx():
    pytest.importorskip("ranx")
    rng = np.random.default_rng(3)
    run, qrels = random_collection(rng, n_queries=12, ties=False)
    # ranx wants the same queries on both sides and knows no negative judgements.
    qrels = {q: {d: max(r, 0) for d, r in qrels[q].items()} | {"extra": 1} for q in run}
    searched = read_trec(*lines(run, qrels))
    rankings = searched.rankings()
    ours = {
        "map": per_group(rankings, "aucpr"),
        "mrr": per_group(rankings, "reciprocal_rank"),
        "precision@5": per_group(rankings, pr.metrics.precision_at_k(5)),
        "recall@5": per_group(rankings, pr.metrics.recall_at_k(5)),
        "ndcg@5": searched.ndcg(5),
    }
    # Its compilation takes minutes; as plain Python, in a process of its own, it takes seconds.
    finished = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", RANX],
        input=json.dumps([run, qrels, list(ours)]),
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    theirs = json.loads(finished.stdout)
    for measure, found in ours.items():
        assert found.mean() == pytest.approx(theirs[measure], abs=SAME), measure


def test_worked_example():
    # Returned: d1 (not relevant), d2 (2), d3 (not judged); d4 (1) was missed.
    searched = read_trec(
        ["1 Q0 d1 1 9.5 mine", "1 Q0 d2 2 9.1 mine", "1 Q0 d3 3 7.7 mine"],
        ["1 0 d1 0", "1 0 d2 2", "1 0 d4 1"],
    )
    rankings = searched.rankings()
    assert rankings.missed.tolist() == [1]
    assert per_group(rankings, "aucpr").values[0] == pytest.approx((1 / 2) / 2)
    assert per_group(rankings, pr.metrics.recall_at_k(2)).values[0] == 0.5
    assert per_group(rankings, pr.metrics.precision_at_k(4)).values[0] == 0.25
    gain = 2 / np.log2(3)
    assert searched.ndcg().values[0] == pytest.approx(gain / (2 + 1 / np.log2(3)))
    # One relevant document of two, above one of the two others; the missed one is below both.
    assert per_group(rankings, "auroc").values[0] == pytest.approx((1 / 2) / 2)
    with pytest.raises(InputError, match="gain of minus infinity"):
        per_group(rankings, "auprg")
    assert pr.aggregate(rankings, "aucpr").estimate == 0.25


def test_the_two_tie_rules():
    # In single precision the three scores are equal: trec_eval puts the last name first.
    run = ["7 Q0 a 1 1.0 x", "7 Q0 b 2 1.0000000001 x", "7 Q0 c 3 1.0 x"]
    qrels = ["7 0 b 1"]
    searched = read_trec(run, qrels)
    assert per_group(searched.rankings(ties="trec_eval"), "reciprocal_rank").values[0] == 0.5
    assert per_group(searched.rankings(), "reciprocal_rank").values[0] == 1.0
    tied = read_trec([line.replace("1.0000000001", "1.0") for line in run], qrels)
    assert per_group(tied.rankings(), "aucpr").values[0] == pytest.approx(1 / 3)
    # Equally likely at places 1, 2 and 3.
    expected = (1 + 1 / 2 + 1 / 3) / 3
    assert per_group(tied.rankings(), "reciprocal_rank").values[0] == pytest.approx(expected)
    assert tied.ndcg().values[0] == pytest.approx((1 + 1 / np.log2(3) + 1 / 2) / 3)


def test_release_10_rounds_no_scores():
    # Of a, b and c only b is relevant; in single precision it ties with both and comes second.
    searched = read_trec(
        ["7 Q0 a 1 1.0 x", "7 Q0 b 2 1.0000000001 x", "7 Q0 c 3 1.0 x"], ["7 0 b 1", "7 0 c 0"]
    )
    for ties, place in (("trec_eval", 2), ("trec_eval_10", 1)):
        rankings = searched.rankings(ties=ties)
        assert per_group(rankings, "reciprocal_rank").values[0] == 1 / place
        assert searched.ndcg(ties=ties).values[0] == pytest.approx(1 / np.log2(place + 1))
        assert searched.bpref(ties=ties).values[0] == (place == 1)
    # Equal doubles are still ordered by name.
    equal = read_trec([f"7 Q0 {d} 1 0.5 x" for d in "abc"], ["7 0 c 1"])
    assert per_group(equal.rankings(ties="trec_eval_10"), "reciprocal_rank").values[0] == 1.0


def judged_by_loops(run, qrels, min_relevance):
    """Bpref and inferred AP of one query: a loop over its documents, as their papers define."""
    order = sorted(run, key=lambda d: (run[d], d), reverse=True)
    n_relevant = sum(r >= min_relevance for r in qrels.values())
    n_other = sum(0 <= r < min_relevance for r in qrels.values())
    preferred, inferred, relevant, other, pooled = 0.0, 0.0, 0, 0, 0
    for place, document in enumerate(order):
        grade = qrels.get(document)
        if grade is None:
            continue
        if grade >= min_relevance:
            preferred += 1 - min(other, n_relevant) / max(min(n_other, n_relevant), 1)
            share = (relevant + 1e-5) / (relevant + other + 2e-5)
            inferred += (1 + pooled * share) / (place + 1)
            relevant += 1
        elif grade >= 0:
            other += 1
        pooled += 1
    return preferred / max(n_relevant, 1), inferred / max(n_relevant, 1)


@pytest.mark.parametrize("min_relevance", [1, 2])
def test_judged_documents_by_loops(min_relevance):
    run, qrels = random_collection(np.random.default_rng(8), near_ties=True)
    searched = read_trec(*lines(run, qrels))
    options = {"ties": "trec_eval_10", "min_relevance": min_relevance}
    preferred, inferred = searched.bpref(**options), searched.inferred_ap(**options)
    expected = [judged_by_loops(run[q], qrels[q], min_relevance) for q in preferred.labels]
    np.testing.assert_allclose(preferred.values, [pair[0] for pair in expected], atol=SAME)
    np.testing.assert_allclose(inferred.values, [pair[1] for pair in expected], atol=SAME)
    assert preferred.n_undefined == sum(
        max(qrels[q].values()) < min_relevance for q in preferred.labels
    )
    everything = searched.bpref(**options, missing_queries="zero")
    assert everything.labels.tolist() == sorted(qrels)


def test_inferred_average_precision_of_a_pool_judged_whole():
    run, qrels = random_collection(np.random.default_rng(9), ties=False, graded=False)
    qrels = {q: {d: qrels[q].get(d, 0) for d in {**qrels[q], **run.get(q, {})}} for q in qrels}
    searched = read_trec(*lines(run, qrels))
    whole = per_group(searched.rankings(), "aucpr", undefined="zero").values
    # The epsilon moves a precision of few documents by about as much.
    np.testing.assert_allclose(searched.inferred_ap().values, whole, atol=2e-5)


@pytest.mark.parametrize("points", ["exact", "trec_eval", "trec_eval_10"])
def test_eleven_points_by_loops(points):
    rng = np.random.default_rng(10)
    for n in (1, 2, 3, 5, 9, 10, 23, 45, 57):
        y = rng.permutation(np.repeat([True, False], [n, 2 * n]))
        ranking = pr.rank(y, -np.arange(y.size))
        wanted = {
            "exact": [-(-j * n // 10) for j in range(11)],
            "trec_eval": [int(j / 10 * n + 0.9) for j in range(11)],
            # C's lround: halves go away from zero.
            "trec_eval_10": [int(j / 10 * n) + (j / 10 * n % 1 >= 0.5) for j in range(11)],
        }[points]
        expected = sum(naive_groups.interpolated_precisions(y.tolist(), wanted)) / 11
        metric = pr.metrics.eleven_point_precision(points=points)
        assert metric(ranking) == pytest.approx(float(expected), rel=SAME)
        assert metric.value(ranking.cells) == metric(ranking)


def test_release_9_misses_a_relevant_document_by_rounding():
    # 0.7 of 3 asks for 3 documents, and 0.7 * 3 + 0.9 is 2.9999999999999996.
    ranking = pr.rank([1, 1, 0, 0, 1], [5, 4, 3, 2, 1])
    exact, old = (pr.metrics.eleven_point_precision(points=p) for p in ("exact", "trec_eval"))
    assert exact(ranking) == pytest.approx((7 * 1 + 4 * 0.6) / 11)
    assert old(ranking) == pytest.approx((8 * 1 + 3 * 0.6) / 11)
    with pytest.raises(InputError, match="points must be one of"):
        pr.metrics.eleven_point_precision(points="nearest")


def test_comments_and_what_follows_the_name_are_passed_over():
    run = ["# made by hand", "1 Q0 d#1 1 9.5 mine more words", "  # indented", "1 Q0 e 2 9 mine"]
    searched = read_trec(run, ["# judged twice", "1 0 d#1 1", "", "1 0 e 0"])
    assert searched.document.tolist() == ["d#1", "e"]
    assert searched.judged.tolist() == [True, True]
    assert read_trec(run, ["1 0 e 0"]).judged.tolist() == [False, True]


def test_binary_judgements_give_the_same_ndcg_as_rankings():
    rng = np.random.default_rng(4)
    run, qrels = random_collection(rng, graded=False)
    searched = read_trec(*lines(run, qrels))
    for ties in ("threshold", "trec_eval", "trec_eval_10"):
        for k in (None, 3, 10):
            from_set = per_group(
                searched.rankings(ties=ties), pr.metrics.ndcg(k=k), undefined="zero"
            ).values
            np.testing.assert_allclose(searched.ndcg(k, ties=ties).values, from_set, atol=SAME)


def test_queries_that_are_not_answered_or_not_judged():
    run, qrels = ["a Q0 d 1 2.0 x", "z Q0 d 1 1.0 x"], ["a 0 d 1", "b 0 d 1", "c 0 d 0"]
    searched = read_trec(run, qrels)
    assert searched.n_unjudged_queries == 1
    assert repr(searched) == "TrecRun(queries=3, answered=1, documents=1, judgements=3)"
    assert searched.rankings().labels.tolist() == ["a"]
    all_queries = searched.rankings(missing_queries="zero")
    assert all_queries.labels.tolist() == ["a", "b", "c"]
    found = per_group(all_queries, "aucpr")
    assert found.n_undefined == 1
    np.testing.assert_array_equal(found.values, [1.0, 0.0, np.nan])
    assert searched.ndcg(missing_queries="zero").values.tolist() == [1.0, 0.0, 0.0]
    assert json.loads(json.dumps(searched.to_dict()))["n_unjudged_queries"] == 1


@pytest.mark.parametrize("ties", ["threshold", "trec_eval", "trec_eval_10"])
def test_a_run_that_answers_nothing(ties):
    searched = read_trec(["x Q0 d 1 1.0 me"], ["a 0 d 1"])
    for ask in (searched.rankings, searched.ndcg):
        with pytest.raises(InputError, match="answers none of the judged queries"):
            ask(ties=ties)
    rankings = searched.rankings(missing_queries="zero", ties=ties)
    # A query that was not answered has no rows: nothing to divide by.
    assert "n_pos=0, n_neg=0, prevalence=nan" in repr(rankings[0])
    for metric in ("aucpr", "r_precision", "eleven_point_precision"):
        assert per_group(rankings, metric).values.tolist() == [0.0]
    assert searched.ndcg(missing_queries="zero", ties=ties).values.tolist() == [0.0]
    if ties != "threshold":
        for ask in (searched.bpref, searched.inferred_ap):
            assert ask(missing_queries="zero", ties=ties).values.tolist() == [0.0]


def test_files_in_many_blocks(tmp_path, monkeypatch):
    rng = np.random.default_rng(5)
    run, qrels = lines(*random_collection(rng))
    (tmp_path / "run.txt").write_text("\n".join(run) + "\n\n", encoding="utf-8")
    (tmp_path / "qrels.txt").write_text("\n".join(qrels), encoding="utf-8")
    monkeypatch.setattr(trec_files, "_LINES_AT_ONCE", 7)
    from_files = read_trec(tmp_path / "run.txt", str(tmp_path / "qrels.txt"))
    monkeypatch.undo()
    given = read_trec(run, qrels)
    for name in ("queries", "query", "document", "score", "relevance", "missed_query"):
        np.testing.assert_array_equal(getattr(from_files, name), getattr(given, name))


RUN, QRELS = ["1 Q0 d 1 1.0 x"], ["1 0 d 1"]


@pytest.mark.parametrize(
    ("run", "qrels", "message"),
    [
        (RUN, ["1 0 d 1 more"], "qrels must have 4 fields.*line 1 has 5"),
        (["# comment", "1 Q0 d 1.0"], QRELS, "run must have 6 fields.*line 2 has 4"),
        (["1 Q0 d 1 1.0 x", "1 Q0 d 1.0"], QRELS, "run must have 6 fields.*line 2 has 4"),
        (RUN, ["1 0 d"], "qrels must have 4 fields"),
        (["1 Q0 d 1 high x"], QRELS, "run must have a number as its score"),
        (RUN, ["1 0 d 1.5"], "qrels must have a number as its relevance"),
        ([*RUN, *RUN], QRELS, "'d' comes twice in query '1'"),
        (RUN, [*QRELS, *QRELS], "'d' comes twice in query '1'"),
        (["1 Q0 d 1 nan x"], QRELS, "run score must not be missing"),
        ([], QRELS, "run must have at least one line"),
        ("no such file", QRELS, "there is no file 'no such file'"),
        (7, QRELS, "run must be a file or lines of text, got int"),
    ],
)
def test_bad_files_are_named(run, qrels, message):
    with pytest.raises(InputError, match=message):
        read_trec(run, qrels)


def test_bad_options_are_named():
    searched = read_trec(RUN, QRELS)
    with pytest.raises(InputError, match="ties must be one of"):
        searched.rankings(ties="random")
    for ask in (searched.bpref, searched.inferred_ap):
        with pytest.raises(InputError, match="ties must be one of"):
            ask(ties="threshold")
    with pytest.raises(InputError, match="missing_queries must be one of"):
        searched.bpref(missing_queries="drop")
    with pytest.raises(InputError, match="missing_queries must be one of"):
        searched.ndcg(missing_queries="drop")


def test_a_run_equals_its_columns():
    rng = np.random.default_rng(6)
    run, qrels = random_collection(rng, n_queries=5)
    searched = read_trec(*lines(run, qrels))
    direct = rank_groups(
        searched.relevance >= 1, searched.score, searched.queries[searched.query], pooled=False
    )
    rankings = searched.rankings()
    assert [replace(ranking, missed=0) for ranking in rankings] == list(direct)
    assert [ranking.missed for ranking in rankings] == rankings.missed.tolist()
