# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""
========================
From raw text to ranking
========================

Documents are the docstrings of NumPy, SciPy and scikit-learn, which are installed already. A query
is the summary line of one of them, and the task is to rank the others such that those come first
that its "See Also" section names. :class:`~sklearn_ltr.preprocessing.BM25Features` makes features
of the texts, and several rankers learn from them. It takes half a minute and needs matplotlib.
"""

# %%
# Documents
# ---------
# A docstring is cut into a title (the name, cut into words), the summary and the body. "See Also"
# sections are taken out, or rankers would only have to find the names there.

import importlib
import inspect
import re

import matplotlib.pyplot as plt
import numpy as np
import sklearn
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import Pipeline

from sklearn_ltr import LambdaMART, ListNet, MPBoost, RankSVM, SingleFeatureRanker
from sklearn_ltr.metrics import ndcg_score
from sklearn_ltr.model_selection import train_test_split_queries
from sklearn_ltr.preprocessing import BM25Features, QueryScaler
from sklearn_ltr.scorers import get_scorer

MODULES = """numpy numpy.fft numpy.linalg scipy.fft scipy.integrate scipy.interpolate scipy.linalg
    scipy.ndimage scipy.optimize scipy.signal scipy.sparse scipy.spatial scipy.special scipy.stats
    sklearn.cluster sklearn.decomposition sklearn.ensemble sklearn.linear_model sklearn.manifold
    sklearn.metrics sklearn.model_selection sklearn.neighbors sklearn.preprocessing sklearn.svm"""
SEE_ALSO = re.compile(r"\nSee Also\n-+\n(.*?)(?=\n\n\S[^\n]*\n-+\n|\Z)", re.DOTALL)

texts, named = {}, []  # of each docstring: its number and texts; what its "See Also" names
number = {}  # that of each (package, name)
for module in map(importlib.import_module, MODULES.split()):
    package = module.__name__.split(".")[0]
    for name, thing in sorted(vars(module).items()):
        docstring = inspect.getdoc(thing) if callable(thing) and name[0] != "_" else None
        if docstring is None or len(docstring) < 200 or (package, name) in number:
            continue
        if docstring not in texts:  # otherwise it is another name of the same thing
            # A first line such as "gamma(z, out=None)" is no sentence.
            summary, _, body = re.sub(r"\A\w+\(.*\)\n+", "", docstring).partition("\n\n")
            title = re.sub(r"_|(?<=[a-z])(?=[A-Z])", " ", name)
            texts[docstring] = len(texts), title, summary, SEE_ALSO.sub("", "\n" + body)
            lines = "\n".join(SEE_ALSO.findall("\n" + body)).split("\n")
            heads = " ".join(line.split(" :")[0] for line in lines if line[:1] != " ")
            named.append([(package, part) for part in re.findall(r"\w+", heads)])
        number[package, name] = texts[docstring][0]
texts = [text for _, *text in texts.values()]
grades = np.zeros((len(texts), len(texts)))
for i, others in enumerate(named):
    grades[i, [number[other] for other in others if other in number]] = 1
grades += grades.T

# %%
# Queries and grades
# ------------------
# The rows of a query are the 40 documents most like it by TF-IDF: rankers are the second stage of a
# search. Grade 2: both name each other; 1: one names the other; 0: neither. Queries without any are
# left out.

vectors = TfidfVectorizer(sublinear_tf=True, stop_words="english")
bodies = vectors.fit_transform([" ".join(text) for text in texts])
similarity = (vectors.transform([summary for _, summary, _ in texts]) @ bodies.T).toarray()
np.fill_diagonal(similarity, -1)  # the document itself
candidates = np.argsort(-similarity, axis=1, kind="stable")[:, :40]
queries = np.flatnonzero(np.take_along_axis(grades, candidates, axis=1).any(axis=1))
rows = [(q, d) for q in queries for d in candidates[q]]
X = np.array([[texts[q][1], *texts[d]] for q, d in rows], dtype=object)
y = np.array([grades[q, d] for q, d in rows])
groups = np.array([q for q, _ in rows])
print(f"{len(texts)} documents, {len(queries)} queries, {len(rows)} rows")

X, X_test, y, y_test, groups, groups_test = train_test_split_queries(
    X, y, groups=groups, test_size=0.3, random_state=0
)

# %%
# Features and rankers
# --------------------
# Term statistics come from the training rows. All rankers see each feature scaled within its query,
# and are tuned by cross-validation with whole queries.

features = BM25Features(idf="lucene").fit(X)
names = list(features.get_feature_names_out(["query", "title", "summary", "body"]))
X, X_test = features.transform(X), features.transform(X_test)

sklearn.set_config(enable_metadata_routing=True)
summary, body = names.index("summary__bm25"), names.index("body__bm25")
mixes = [{summary: weight, body: 1 - weight} for weight in (0.2, 0.4, 0.6, 0.8)]
rankers = {
    "BM25 of the body": (SingleFeatureRanker(weights={body: 1}), {}),
    "best single feature": (SingleFeatureRanker(), {}),
    "weighted sum of two BM25": (SingleFeatureRanker(), {"rank__weights": mixes}),
    "RankSVM": (RankSVM(pair_weighting="query"), {"rank__C": [1, 10, 100]}),
    "ListNet": (ListNet(), {}),
    "MPBoost": (MPBoost(n_estimators=100), {"rank__learning_rate": [0.3, 1]}),
    "LambdaMART": (LambdaMART(n_estimators=100), {"rank__max_leaf_nodes": [5, 15]}),
}
test_scores = {}
print(f"{'':24}NDCG@10 validation    test")
for name, (ranker, grid) in rankers.items():
    pipeline = Pipeline([("scale", QueryScaler()), ("rank", ranker)])
    search = GridSearchCV(pipeline, grid, cv=GroupKFold(3), scoring=get_scorer("ndcg@10"))
    search.fit(X, y, groups=groups)
    scores = search.best_estimator_.predict(X_test, groups=groups_test)
    test_scores[name] = ndcg_score(y_test, scores, groups_test, k=10)
    print(f"{name:24}{search.best_score_:18.3f}{test_scores[name]:8.3f}", search.best_params_)

# %%
# A weighted sum of two fields' BM25, tuned by a grid search, is hard to beat: RankSVM and MPBoost,
# with all features, are level with it, and LambdaMART is better. On the right, single features.

scaled = QueryScaler().fit_transform(X, groups=groups)
single = SingleFeatureRanker().fit(scaled, y, groups=groups).feature_scores_.max(axis=1)
single = dict(sorted(zip(names, single, strict=True), key=lambda item: -item[1]))
fig, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
for ax, values, title, color in [
    (axes[0], test_scores, "Rankers, test queries", "#0072B2"),
    (axes[1], single, "Single features, training queries", "#D55E00"),
]:
    ax.barh(list(values)[::-1], list(values.values())[::-1], color=color)
    ax.set(title=title, xlabel="NDCG@10")
plt.show()
