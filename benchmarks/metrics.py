# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""NDCG beside ranx and ir-measures, in one run on the same data.

    python benchmarks/metrics.py [--rows 1000000] [--queries 10000] [--threads 1]

Each tool starts from what it evaluates: ours from flat arrays, either with the query ids or grouped
already, ranx from its Qrels and Run, ir-measures from its evaluator and a frame. Building those is
shown apart. The fastest of several alternating runs counts.
"""

import os
import warnings
from functools import partial

import numpy as np
import pandas as pd
from _harness import make_parser, print_head, take_turns, timed

from sklearn_ltr.metrics import get_metric
from sklearn_ltr.queries import QueryGroups


def main():
    parser = make_parser(__doc__)
    parser.add_argument("--rows", type=int, default=10**6)
    parser.add_argument("--queries", type=int, default=10**4)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    os.environ["NUMBA_NUM_THREADS"] = str(options.threads)  # before ranx imports numba
    import ir_measures
    import ranx

    print_head("ranx", "numba", "ir-measures", "pandas")
    rng = np.random.default_rng(0)
    groups = np.sort(rng.integers(0, options.queries, options.rows))
    y_true = rng.choice(5, options.rows, p=[0.52, 0.32, 0.13, 0.017, 0.013])  # as in MSLR-WEB10K
    y_score = rng.normal(size=options.rows)
    queries = QueryGroups.from_ids(groups, options.rows)
    grades = y_true.astype(float)

    # ranx wants ids of type object, which pandas 3 does not infer
    query_id = pd.Series(groups.astype(str), dtype=object)
    doc_id = pd.Series(np.arange(options.rows).astype(str), dtype=object)
    judged = pd.DataFrame({"query_id": query_id, "doc_id": doc_id, "relevance": y_true})
    scored = pd.DataFrame({"query_id": query_id, "doc_id": doc_id, "score": y_score})
    built_qrels, qrels = timed(ranx.Qrels.from_df, judged, "query_id", "doc_id", "relevance")
    built_run, run = timed(ranx.Run.from_df, scored, "query_id", "doc_id", "score")

    print(f"{options.rows} rows, {options.queries} queries, threads: {options.threads}")
    for k in (10, None):
        cut = "" if k is None else f"@{k}"
        exponential = get_metric(f"ndcg{cut}", undefined=0)
        linear = get_metric(f"ndcg{cut}", gain="linear", undefined=0)
        measure = ir_measures.nDCG if k is None else ir_measures.nDCG @ k
        built_evaluator, evaluator = timed(ir_measures.evaluator, [measure], judged)
        # The two tools differ in their gain: ours is computed with each.
        contenders = {
            "sklearn_ltr": lambda m=exponential: m(y_true, y_score, groups),
            "sklearn_ltr, grouped": lambda m=exponential: m.on_groups(
                grades, y_score, queries.offsets, n_threads=options.threads
            ),
            "ranx": lambda c=cut: ranx.evaluate(qrels, run, f"ndcg_burges{c}"),
            "sklearn_ltr, linear": lambda m=linear: m(y_true, y_score, groups),
            "ir-measures": lambda e=evaluator, m=measure: e.calc_aggregate(scored)[m],
        }
        with warnings.catch_warnings(action="ignore"):  # numba's, while it compiles
            runs = take_turns(
                {k: partial(timed, f) for k, f in contenders.items()}, options.repeats
            )
        seconds = {k: min(took[0] for took, _ in of_tool) for k, of_tool in runs.items()}
        values = {k: of_tool[-1][1] for k, of_tool in runs.items()}
        np.testing.assert_allclose(values["sklearn_ltr"], values["ranx"], rtol=1e-9)
        np.testing.assert_allclose(values["sklearn_ltr, linear"], values["ir-measures"], rtol=1e-9)
        print(f"ndcg{cut}")
        for name, took in seconds.items():
            ratios = took / seconds["sklearn_ltr"], took / seconds["sklearn_ltr, grouped"]
            print(
                f"  {name:21} {took * 1e3:8.1f} ms, {ratios[0]:5.1f} times ours from ids, "
                f"{ratios[1]:5.1f} times ours grouped"
            )
    built = built_qrels[0] + built_run[0], built_evaluator[0]
    print("built once: ranx {:.1f} s, ir-measures {:.1f} s".format(*built))


if __name__ == "__main__":
    main()
