# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Malformed models for `sklearn_ltr.export.from_dict`: a ValueError, or a ranker that predicts.

    python hardening/fuzz_json.py --inputs 100000

Takes what `to_dict` makes of every ranker that it can export, and damages it where it has a
structure: types, numbers, keys, lengths, children of trees. What is loaded must predict, stage by
stage, too, be finite, and be the same model if it is stored and loaded once more. Inputs are tried
in processes of their own, so that a crash is seen; a fault is printed with its number, and
``--first NUMBER --inputs 1`` tries it again.
"""

import argparse
import copy
import faulthandler
import json
import random
import re
import subprocess
import sys
import time
import warnings
from collections import Counter

import numpy as np

from sklearn_ltr import losses, rankers
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.export import from_dict, to_dict

BATCH = 5_000
NUMBERS = (
    0, -1, 1, 2, 7, -7, 255, 256, 65_535, 65_536, 2**31 - 1, 2**31, -(2**31), 2**32, 2**53, 2**63,
    2**64, -(2**64), 10**400, 0.0, -0.0, 0.5, -1.5, 1e-320, 1e300, -1e300, 1.7e308, float("nan"),
    float("inf"), float("-inf"), True, False, None,
)  # fmt: skip
STRINGS = (
    "", "0", "1", "-1", "nan", "inf", "-inf", "Infinity", "MPBoost", "RankSVM", "paper", "\0",
    "é\ud800", "x" * 5_000, "__class__", "os.system",
)  # fmt: skip


DEEP = 0
for _ in range(5_000):  # Python's recursion ends at 1,000
    DEEP = [DEEP]


def models():
    """What is stored of fitted rankers: every class that can be, with several parameters."""
    X, y, groups = make_ranking(15, (3, 9), 4, n_informative=2, n_redundant=1, random_state=0)
    X[::7, 1] = np.nan
    stored = []
    for name in rankers.__all__:
        R = getattr(rankers, name)
        known = R().get_params()
        quick = {"n_estimators": 3, "max_leaf_nodes": 4, "min_samples_leaf": 3, "random_state": 0}
        variants = [
            {},
            {"early_stopping": True, "max_bins": 4},
            {"method": "ordinal", "monotonic_cst": [1, 0, 0, -1], "l2_regularization": 1.0},
            {"n_jobs": 2, "subsample": 0.5},
            *({"loss": getattr(losses, loss)()} for loss in losses.__all__ if "loss" in known),
        ]
        for variant in variants:
            params = {k: v for k, v in (quick | variant).items() if k in known}
            ranker = R(**params)
            rows = X if ranker.__sklearn_tags__().input_tags.allow_nan else np.nan_to_num(X)
            try:
                stored.append(json.dumps(to_dict(ranker.fit(rows, y, groups))))
            except TypeError:  # not one that can be exported
                break
            except ValueError:  # a loss that the ranker does not take
                continue
    return stored, np.vstack([X, np.full((1, 4), np.nan), 1e300 * np.ones((1, 4))])


def junk(rng):
    """A value of any kind."""
    kind = rng.randrange(12)
    if kind < 5:
        return rng.choice(NUMBERS)
    if kind < 7:
        return rng.choice(STRINGS)
    if kind == 7:
        return [junk(rng) for _ in range(rng.randint(0, 3))]
    if kind == 8:
        return {rng.choice(STRINGS): junk(rng) for _ in range(rng.randint(0, 3))}
    if kind == 9:
        endless = []
        endless.append(endless)
        return endless
    if kind == 10:
        return DEEP
    return rng.choice(
        [np.float64(1), np.arange(3), np.bool_(True), b"1", (1, 2), {1}, object, int, 3j]
    )


def places(value, found, depth=6):
    """All containers in plain data, as deep as models are."""
    found.append(value)
    if depth == 0:
        return found
    for child in value.values() if isinstance(value, dict) else value:
        if isinstance(child, dict | list):
            places(child, found, depth - 1)
    return found


def damage(data, rng):
    """One damage to the plain data of a model, in place."""
    containers = [c for c in places(data, []) if c]
    if rng.random() < 0.5:  # the rounds are where most containers are
        containers = [c for c in containers if isinstance(c, dict)] or containers
    where = rng.choice(containers)
    keys = list(where) if isinstance(where, dict) else range(len(where))
    key = rng.choice(keys)
    old = where[key]
    kind = rng.randrange(10)
    if kind == 0:
        where[key] = junk(rng)
    elif kind == 1:
        del where[key]
    elif kind == 2 and isinstance(where, dict):
        where[rng.choice([*STRINGS, 0, None, "coefficient", "left", "n_iter_"])] = junk(rng)
    elif kind == 2:
        where.insert(rng.randrange(len(where) + 1), rng.choice([junk(rng), copy.copy(old)]))
    elif kind == 3:
        other = rng.choice(keys)
        where[key], where[other] = where[other], old
    elif kind == 4:
        other = rng.choice(containers)
        where[key] = copy.copy(
            rng.choice(list(other.values() if isinstance(other, dict) else other))
        )
    elif kind in (5, 6, 7) and isinstance(old, int | float) and abs(old) < 1e300:
        where[key] = rng.choice([old + 1, old - 1, -old, 2 * old, float(old), str(old), bool(old)])
    elif kind == 8 and isinstance(old, list):
        where[key] = rng.choice(
            [old[:-1], old + old, old[::-1], [], dict(enumerate(old)), tuple(old)]
        )
    else:
        where[key] = rng.choice(NUMBERS)


def check(data, X, again):
    """Load a model; returns "loaded" or "refused", and raises what is a fault."""
    try:
        ranker = from_dict(data)
    except ValueError as error:
        message = str(error)
    else:
        X = np.resize(X, (len(X), ranker.n_features_in_))
        if hasattr(ranker, "feature_names_in_"):
            del ranker.feature_names_in_
        if not ranker.__sklearn_tags__().input_tags.allow_nan:
            X = np.clip(np.nan_to_num(X), -1e3, 1e3)  # of which linear functions are finite
        scores = ranker.predict(X)
        assert scores.shape == (len(X),), "shape"
        assert np.isfinite(scores).all(), "scores are not finite"
        if hasattr(ranker, "staged_predict"):
            stages = list(ranker.staged_predict(X))
            assert len(stages) == ranker.n_iter_, "stages"
            assert np.isfinite(stages).all(), "stages are not finite"
            assert np.isfinite(ranker.feature_importances_).all(), "importances are not finite"
        if hasattr(ranker, "shape_function") or hasattr(ranker, "expected_score_"):
            assert np.isfinite(ranker.contributions(X)).all(), "contributions are not finite"
        if again:
            ranker = from_dict(json.loads(json.dumps(to_dict(ranker), allow_nan=False)))
            assert np.array_equal(ranker.predict(X), scores), "predicts otherwise if stored again"
        return "loaded"
    assert len(message) < 20_000, f"message of {len(message)} characters"
    return "refused"


def run_batch(first, n_inputs):
    """Try inputs in this process; prints counts as JSON."""
    warnings.simplefilter("error")
    faulthandler.enable()
    stored, X = models()
    counts, faults = Counter(), []
    for k in range(first, first + n_inputs):
        rng = random.Random(k)
        data = json.loads(rng.choice(stored))
        for _ in range(rng.choice([0, 1, 1, 1, 2, 3])):
            damage(data, rng)
        start = time.process_time()
        try:
            counts[check(data, X, again=k % 8 == 0)] += 1
        except Exception as error:  # noqa: BLE001, whatever it is, it is a fault
            faults.append(f"input {k}: {type(error).__name__}: {str(error)[:300]}")
        counts["slow"] += time.process_time() - start > 2
    print(json.dumps({"counts": counts, "faults": faults}))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--here", action="store_true", help="in this process, as one batch")
    arguments = parser.parse_args()
    if arguments.here:
        run_batch(arguments.first, arguments.inputs)
        return
    counts, faults, begin = Counter(), [], time.perf_counter()
    end = arguments.first + arguments.inputs
    for first in range(arguments.first, end, BATCH):
        size = min(BATCH, end - first)
        command = [sys.executable, __file__, "--here", "--first", str(first), "--inputs", str(size)]
        result = subprocess.run(command, check=False, capture_output=True, text=True)
        if result.returncode:
            faults.append(f"inputs {first} to {first + size}: ended by {result.returncode}")
            print(result.stderr[-3_000:])
            continue
        found = json.loads(result.stdout)
        counts.update(found["counts"])
        faults += found["faults"]
    for name, count in counts.items():
        print(f"{name:12} {count:9,}")
    print(f"{'faults':12} {len(faults):9,}")
    for reason, count in Counter(re.sub(r"input \d+: |\d+", "", f)[:80] for f in faults).items():
        print(f"    {count:7,}  {reason}")
    for fault in faults[:30]:
        print(fault)
    print(f"{time.perf_counter() - begin:.0f} s")
    if faults or counts["slow"]:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
