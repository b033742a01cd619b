# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""BM25 and its parts, against loops over rows, fields and terms."""

import pickle
import re
from collections import Counter
from math import log

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError, SkipTestWarning
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from sklearn_ltr import SingleFeatureRanker
from sklearn_ltr.preprocessing import BM25Features, QueryScaler, bm25

NAMES = ["bm25", "tf", "idf", "tfidf", "coverage", "length"]


def words(text):
    """Words of two letters or more, as `CountVectorizer` finds them."""
    return [] if text is None else re.findall(r"(?u)\b\w\w+\b", text.lower())


def by_hand(train, rows, k1, k3, b, idf):
    """One row, field and term at a time; the query is in the first column."""
    documents = {tuple(text or "" for text in document) for _, *document in train}
    N = len(documents)
    X_new = []
    for query, *fields in rows:
        features = []
        for f, text in enumerate(fields):
            avdl = sum(len(words(document[f])) for document in documents) / N
            tokens = words(text)
            found = dict.fromkeys(NAMES, 0.0)
            found["length"] = len(tokens)
            for term, qtf in Counter(words(query)).items():
                tf = tokens.count(term)
                if tf == 0:
                    continue
                n = sum(term in words(document[f]) for document in documents)
                w = log((N - n + 0.5) / (n + 0.5))
                if idf == "lucene":
                    w = log(1 + (N - n + 0.5) / (n + 0.5))
                K = k1 * ((1 - b) + b * (len(tokens) / avdl if avdl else 1))
                found["bm25"] += w * (k1 + 1) * tf * (k3 + 1) * qtf / ((K + tf) * (k3 + qtf))
                found["tf"] += tf
                found["idf"] += w
                found["tfidf"] += tf * w
                found["coverage"] += 1 / len(set(words(query)))
            features += found.values()
        X_new.append(features)
    return np.array(X_new)


vocabulary = ["apple", "pear", "tree", "red", "Red", "I", "", "é1", "xx"]
texts = st.one_of(
    st.none(), st.lists(st.sampled_from(vocabulary), max_size=6).map(lambda terms: " ".join(terms))
)


@given(
    train=st.lists(st.tuples(texts, texts, texts), min_size=1, max_size=8),
    rows=st.lists(st.tuples(texts, texts, texts), min_size=1, max_size=8),
    k1=st.sampled_from([0, 1.2, 3]),
    k3=st.sampled_from([0, 1.2, 8]),
    b=st.sampled_from([0, 0.75, 1]),
    idf=st.sampled_from(["robertson", "lucene"]),
    rows_at_a_time=st.sampled_from([1, 3, 8192]),
)
def test_equals_a_loop(train, rows, k1, k3, b, idf, rows_at_a_time):
    train = [*train, ("apple", "apple", "")]  # at least one term
    features = BM25Features(k1=k1, k3=k3, b=b, idf=idf).fit(np.array(train, dtype=object))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bm25, "ROWS_AT_A_TIME", rows_at_a_time)
        X_new = features.transform(np.array(rows, dtype=object))
    assert_allclose(X_new, by_hand(train, rows, k1, k3, b, idf), rtol=1e-12, atol=1e-13)
    # A row does not depend on the others.
    alone = [features.transform(np.array([row], dtype=object))[0] for row in rows]
    assert_array_equal(X_new, alone)


def test_known_value():
    """Worked out by hand: N = 4, n = 1, dl = 3, avdl = 2.5."""
    X = [
        ["pear pear tree", "pear pear green"],
        ["pear pear tree", "apple"],
        ["pear pear tree", "red apple juice"],
        ["pear pear tree", "an apple in green"],
        ["apple", "apple"],  # a document that is there already
    ]
    (bm25, tf, idf, tfidf, coverage, length), *_ = BM25Features(k1=2, k3=1, b=0.5).fit_transform(X)
    w = log(3.5 / 1.5)
    # K = 2 (.5 + .5 3/2.75) with the mean length (3 + 1 + 3 + 4) / 4.
    K = 2 * (0.5 + 0.5 * 3 / 2.75)
    assert bm25 == pytest.approx(w * 3 * 2 * 2 * 2 / ((K + 2) * (1 + 2)), rel=1e-14)
    assert (tf, idf, coverage, length) == (2, pytest.approx(w), 0.5, 3)
    assert tfidf == pytest.approx(2 * w)


def test_frequent_terms():
    """The paper's weight is negative for a term of more than half the documents."""
    X = [["red", "red apple"], ["red", "red pear"], ["red", "red cherry"]]
    assert (BM25Features().fit_transform(X)[:, 0] < 0).all()
    assert (BM25Features(idf="lucene").fit_transform(X)[:, 0] > 0).all()


def test_documents_are_counted_once_and_each_field_by_itself():
    X = [["q1", "red", "apple"], ["q2", "red", "apple"], ["q1", "red", "pear"]]
    features = BM25Features().fit(X)
    assert features.n_documents_ == 2
    counts = {
        term: features.document_frequency_[:, j].tolist()
        for term, j in features.vocabulary_.items()
    }
    assert counts == {"red": [2, 0], "apple": [0, 1], "pear": [0, 1]}
    assert_array_equal(features.mean_length_, [1, 1])


def test_terms_that_training_documents_lack_weigh_the_most():
    train = [["red", "red apple"], ["red", "green pear"], ["red", "green plum"]]
    features = BM25Features().fit(train)
    new = features.transform([["kiwi red", "kiwi"], ["kiwi red", "red kiwi"]])
    assert_allclose(new[:, 2], [log(3.5 / 0.5), log(3.5 / 0.5) + log(2.5 / 1.5)])


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, ""])
def test_missing_texts_are_empty(missing):
    frame = pd.DataFrame(
        {
            "query": ["red apple", "red apple", missing],
            "title": ["apple", missing, "apple"],
            "body": [missing, missing, missing],
        }
    )
    X_new = BM25Features("query").fit_transform(frame)
    assert_array_equal(X_new[1], np.zeros(12))
    assert_array_equal(X_new[2], [0, 0, 0, 0, 0, 1] + 6 * [0])
    assert_array_equal(X_new[:, 6:], np.zeros((3, 6)))
    features = BM25Features("query").fit(frame)
    assert_array_equal(features.transform(frame.iloc[[1]]), np.zeros((1, 12)))
    assert_array_equal(features.transform(frame.iloc[[2]])[0], X_new[2])


def test_columns_by_number_and_by_name():
    rows = [["red apple", 1.5, "apple", "an apple"], ["pear", 2.5, "pear tree", "a pear"]]
    frame = pd.DataFrame(rows, columns=["title", "price", "query", "body"])
    for X, query, fields in [
        (frame, "query", ["title", "body"]),
        (frame, 2, [0, "body"]),
        (rows, 2, [0, 3]),
        (np.array(rows, dtype=object), 2, [0, 3]),
        (frame.astype({"title": "string", "body": "category"}), "query", ["title", "body"]),
    ]:
        features = BM25Features(query, fields=fields, idf="lucene")
        expected = by_hand(
            [[row[2], row[0], row[3]] for row in rows],
            [[row[2], row[0], row[3]] for row in rows],
            1.2,
            1.2,
            0.75,
            "lucene",
        )
        assert_allclose(features.fit_transform(X), expected, rtol=1e-12)
    names = [f"{field}__{name}" for field in ("title", "body") for name in NAMES]
    features = BM25Features("query", fields=["title", "body"]).fit(frame)
    assert features.get_feature_names_out().tolist() == names
    with pytest.raises(ValueError, match="feature names"):
        features.transform(frame[["query", "title", "price", "body"]])
    features = BM25Features(2, fields=[3]).fit(rows)
    assert features.get_feature_names_out()[0] == "x3__bm25"
    assert features.get_feature_names_out(list("abcd"))[0] == "d__bm25"
    swapped = BM25Features("query", fields=["body", "title"]).fit(frame).transform(frame)
    expected = BM25Features("query", fields=["title", "body"]).fit(frame).transform(frame)
    assert_array_equal(swapped, np.roll(expected, 6, axis=1))


def test_vectorizer_says_what_a_term_is():
    X = [["apple tree", "The apple tree"], ["apple tree", "tree, apple"], ["an", "an APPLE"]]
    coverage = {
        None: [1, 1, 1],
        CountVectorizer(ngram_range=(2, 2)): [1, 0, 0],
        CountVectorizer(stop_words="english", lowercase=False): [1, 1, 0],
        TfidfVectorizer(ngram_range=(2, 2), min_df=2): [1, 0, 0],  # terms are not selected
        HashingVectorizer(analyzer="char", ngram_range=(1, 1), n_features=2): [1, 1, 1],
    }
    for vectorizer, expected in coverage.items():
        X_new = BM25Features(vectorizer=vectorizer).fit_transform(X)
        assert_allclose(X_new[:, 4], expected)


def pipeline():
    columns = ["query", "title", "body"]
    text = BM25Features("query", idf="lucene", vectorizer=CountVectorizer())
    return make_pipeline(
        make_column_transformer((text, columns), ("passthrough", ["clicks"])),
        QueryScaler(),
        SingleFeatureRanker("map"),
    )


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    nouns = np.array(["apple", "pear", "plum", "kiwi", "tree", "juice", "pie", "farm"])
    queries = [" ".join(rng.choice(nouns, 2, replace=False)) for _ in range(12)]
    rows = []
    for number, query in enumerate(queries):
        for _ in range(6):
            title, body = (" ".join(rng.choice(nouns, size)) for size in (3, 8))
            grade = len(set(query.split()) & set(title.split()))
            rows.append([number, query, title, body, rng.random(), grade])
    return pd.DataFrame(rows, columns=["id", "query", "title", "body", "clicks", "grade"])


def test_in_a_pipeline_and_a_search(frame):
    with sklearn.config_context(enable_metadata_routing=True):
        name = "columntransformer__bm25features__"
        grid = {f"{name}b": [0.0, 0.75], f"{name}vectorizer__ngram_range": [(1, 1), (1, 2)]}
        search = GridSearchCV(pipeline(), grid, cv=GroupKFold(3), error_score="raise")
        search.fit(frame, frame["grade"], groups=frame["id"])
        fitted = search.best_estimator_
        assert search.best_score_ > 0.9
        names = fitted[:-1].get_feature_names_out()
        assert len(names) == 13
        assert names[0] == "bm25features__title__bm25"
        assert "__title__" in names[fitted[-1].feature_]
        again = pickle.loads(pickle.dumps(fitted))
        scores = fitted.predict(frame, groups=frame["id"])
        assert_array_equal(again.predict(frame, groups=frame["id"]), scores)
        refitted = clone(fitted).fit(frame, frame["grade"], groups=frame["id"])
        assert_array_equal(refitted.predict(frame, groups=frame["id"]), scores)


def test_output_as_a_frame(frame):
    columns = ["query", "title", "body"]
    features = BM25Features("query").set_output(transform="pandas")
    X_new = features.fit_transform(frame[columns].set_axis(frame.index + 5))
    assert X_new.index[0] == 5
    assert X_new.columns.tolist() == features.get_feature_names_out().tolist()
    assert "BM25Features" in features._repr_html_()


def test_errors():
    X = [["red", "red apple"], ["pear", "pear"]]
    for params, message in [
        ({"k1": -1}, "`k1` must be at least 0; got -1"),
        ({"k3": np.nan}, "`k3` must be at least 0; got nan"),
        ({"k3": np.inf}, "`k3`"),
        ({"b": 1.5}, "`b` must be at least 0 and at most 1; got 1.5"),
        ({"b": "1"}, "`b`"),
        ({"idf": "bm25"}, r"`idf` must be one of .*'robertson'.* got 'bm25'"),
        ({"query": 2}, "`query` has 2, which is no column of `X`: there are 2, and they have no"),
        ({"query": "q"}, "`query` has 'q'"),
        ({"fields": [1, -1]}, "`fields` has -1"),
        ({"fields": []}, "at least one of documents' texts; got 2 columns"),
    ]:
        with pytest.raises(ValueError, match=message):
            BM25Features(**params).fit(X)
    with pytest.raises(ValueError, match=r"'q', which is no column.*named \['query', 'title'\]"):
        BM25Features("q").fit(pd.DataFrame(X, columns=["query", "title"]))
    with pytest.raises(ValueError, match="got 1 columns"):
        BM25Features().fit([["red"], ["pear"]])
    for value in (3, 2.5, b"red", ["red"]):
        with pytest.raises(ValueError, match="Column 1 of `X` must hold texts; got"):
            BM25Features().fit(pd.DataFrame({"query": ["red", "pear"], "title": ["red", value]}))
    with pytest.raises(ValueError, match="2D"):
        BM25Features().fit(["red", "pear"])
    with pytest.raises(ValueError, match="empty vocabulary"):
        BM25Features().fit([["red", ""], ["pear", "a"]])
    with pytest.raises(NotFittedError):
        BM25Features().transform(X)
    with pytest.raises(ValueError, match="3 features, but BM25Features is expecting 2"):
        BM25Features().fit(X).transform([["red", "red", "red"]])


def test_the_checks_of_scikit_learn_know_that_it_takes_texts():
    with pytest.warns(SkipTestWarning, match="BM25Features"):
        check_estimator(BM25Features())
