# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Features of the match between a query's text and the texts of a document."""

from numbers import Real

import numpy as np
from scipy import sparse
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_is_fitted, validate_data

from sklearn_ltr.columns import column_number
from sklearn_ltr.estimator import Estimator
from sklearn_ltr.keywords import explain_keywords
from sklearn_ltr.queries import is_missing

FEATURES = ("bm25", "tf", "idf", "tfidf", "coverage", "length")
IDFS = ("robertson", "lucene")

ROWS_AT_A_TIME = 8192  # a document that many queries share is not copied for all of them at once


class BM25Features(TransformerMixin, Estimator):
    r"""BM25 of a query and each text field of a document, and what it is made of.

    Each row is a query and a document: one column holds the query's text, the others hold texts of
    the document, such as its title and its body. With :math:`T` the terms of the query :math:`Q`,
    BM25 of a field is, as in section 4.2 of [1]_,

    .. math:: \sum_{T \in Q} \omega_T \frac{(k_1 + 1)\, tf\, (k_3 + 1)\, qtf}{(K + tf)(k_3 + qtf)},
              \qquad K = k_1 \Bigl( (1 - b) + b \frac{dl}{avdl} \Bigr),

    where :math:`tf` and :math:`qtf` count the term in the field and in the query, :math:`dl` is the
    length of the field in terms, and :math:`avdl` its mean. A term that :math:`n` of :math:`N`
    documents have in this field weighs

    .. math:: \omega_T = \ln \frac{N - n + 0.5}{n + 0.5} ,

    the Robertson/Sparck Jones weight where relevant documents are not known.

    Read more in the :ref:`User Guide <bm25>`.

    Parameters
    ----------
    query : int or str, default=0
        Number or name of the column with the query's text.
    fields : list of int or str, or None, default=None
        Numbers or names of the columns with texts of the document. None: all other columns.
    k1 : float, default=1.2
        How slowly repetitions of a term in the field saturate, at least 0.
    k3 : float, default=1.2
        The same for repetitions in the query, at least 0. With 0 they do not count.
    b : float in [0, 1], default=0.75
        How much long fields are discounted.
    idf : {"robertson", "lucene"}, default="robertson"
        The weight :math:`\omega_T`. "robertson" is the formula above. It is negative for a term
        that more than half of the documents have, so that a match lowers BM25. "lucene" is always
        positive: :math:`\ln (1 + (N - n + 0.5) / (n + 0.5))`.
    vectorizer : estimator or None, default=None
        A text vectorizer of scikit-learn, which says what a term is: its ``build_analyzer()`` is
        used, with what belongs to that, such as `ngram_range`, `stop_words` or `tokenizer`, and
        nothing else of it. None: ``CountVectorizer()``.

    Attributes
    ----------
    n_documents_ : int
        Number of distinct documents of the training rows, the :math:`N` above.
    vocabulary_ : dict
        Number of each term.
    document_frequency_ : ndarray of shape (n_fields, n_terms)
        How many of the documents have a term in a field.
    mean_length_ : ndarray of shape (n_fields,)
        Mean number of terms of a field, over the documents.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Only where `X` had string column names.

    See Also
    --------
    QueryScaler : Makes the features of different queries comparable.

    Notes
    -----
    The features of a field, in their order:

    - ``bm25``;
    - ``tf``: the sum of :math:`tf` over the distinct terms of the query;
    - ``idf``: the sum of :math:`\omega_T` over those that the field has;
    - ``tfidf``: the sum of :math:`tf\, \omega_T`;
    - ``coverage``: the share of them that the field has;
    - ``length``: :math:`dl`.

    Rows are pairs, and a document stands in as many rows as it has queries. It is counted once: a
    document is a distinct combination of all its fields. Missing texts (None, NaN) are empty, and
    empty fields count in :math:`N` and :math:`avdl`. A term that no training document has
    (:math:`n = 0`) weighs the most.

    A row's features do not depend on the other rows of `transform`. Only distinct texts are cut
    into terms, so that repeated documents and queries cost little.

    References
    ----------
    .. [1] Tsai, Liu, Qin, Chen, Ma. "FRank: a ranking method with fidelity loss". SIGIR 2007.

    Examples
    --------
    >>> from sklearn_ltr.preprocessing import BM25Features
    >>> X = [
    ...     ["red apple", "The apple", "An apple is red, or it is green."],
    ...     ["red apple", "The pear", "A pear is green."],
    ...     ["red apple", "The cherry", "A cherry is red."],
    ...     ["pear tree", "The pear", "A pear is green."],
    ... ]
    >>> features = BM25Features(idf="lucene").fit(X)
    >>> features.n_documents_
    3
    >>> features.get_feature_names_out()[:4]
    array(['x1__bm25', 'x1__tf', 'x1__idf', 'x1__tfidf'], dtype=object)
    >>> features.transform(X)[:, :6].round(2)
    array([[0.98, 1.  , 0.98, 0.98, 0.5 , 2.  ],
           [0.  , 0.  , 0.  , 0.  , 0.  , 2.  ],
           [0.  , 0.  , 0.  , 0.  , 0.  , 2.  ],
           [0.98, 1.  , 0.98, 0.98, 0.5 , 2.  ]])
    """

    def __init__(
        self, query=0, *, fields=None, k1=1.2, k3=1.2, b=0.75, idf="robertson", vectorizer=None
    ):
        self.query = query
        self.fields = fields
        self.k1 = k1
        self.k3 = k3
        self.b = b
        self.idf = idf
        self.vectorizer = vectorizer

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False  # of numbers, which is what the tag stands for
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags

    @explain_keywords
    def fit(self, X, y=None):
        """Count terms in the distinct documents.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_columns)
            Texts: the query's and the document's of each row. None and NaN are empty texts.
        y : None
            Ignored.

        Returns
        -------
        self : BM25Features

        Raises
        ------
        ValueError
            If a parameter is out of its range, a column is not there or holds something else than
            texts, or no document has a term.
        """
        self._check_params()
        _, *fields = self._texts(X, reset=True)
        documents = dict.fromkeys(zip(*fields, strict=True))
        counter = CountVectorizer(analyzer=self._analyzer())
        counts = counter.fit_transform(
            text for field in zip(*documents, strict=True) for text in field
        )
        self.n_documents_ = N = len(documents)
        self.vocabulary_ = counter.vocabulary_
        n_terms, n_fields = counts.shape[1], len(fields)
        of_field = [counts[f * N : (f + 1) * N] for f in range(n_fields)]
        self.document_frequency_ = np.array(
            [np.bincount(tf.indices, minlength=n_terms) for tf in of_field]
        )
        self.mean_length_ = np.array([tf.sum() / N for tf in of_field])
        return self

    @explain_keywords
    def transform(self, X):
        """Features of each row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_columns)
            Texts; see `fit`.

        Returns
        -------
        X_new : ndarray of shape (n_samples, 6 * n_fields)
            The features of one field beside one another, fields in the order of `fields`.

        Raises
        ------
        ValueError
            If a column of texts holds something else.
        """
        check_is_fitted(self)
        queries, *fields = self._texts(X, reset=False)
        analyze = self._analyzer()
        texts, query_of_row = _distinct(queries)
        # Sorted, so that sums do not depend on what other queries there are.
        terms = sorted({term for text in texts for term in analyze(text)})
        number = {term: j for j, term in enumerate(terms)}
        known = np.array([self.vocabulary_.get(term, -1) for term in terms], dtype=np.intp)
        qtf, _ = _count(texts, analyze, number)

        X_new = np.empty((len(queries), len(fields), len(FEATURES)))
        for f, field in enumerate(fields):
            texts, text_of_row = _distinct(field)
            tf, length = _count(texts, analyze, number)
            n = np.where(known < 0, 0, self.document_frequency_[f, known])
            weight = self._term_weights(n)
            for rows in gen_batches(len(queries), ROWS_AT_A_TIME):
                q, d = query_of_row[rows], text_of_row[rows]
                X_new[rows, f] = self._features(
                    qtf[q], tf[d], length[d], self.mean_length_[f], weight
                )
        return X_new.reshape(len(queries), -1)

    def get_feature_names_out(self, input_features=None):
        """Names of the features: that of the field and that of the feature, as in "title__bm25".

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the columns, where `X` of `fit` had none; by default "x0", "x1", ...

        Returns
        -------
        names : ndarray of shape (6 * n_fields,), dtype object
        """
        check_is_fitted(self)
        # For its checks: it gives the names of all columns of X.
        names = OneToOneFeatureMixin.get_feature_names_out(self, input_features)
        _, *fields = self._columns()
        return np.array([f"{names[j]}__{name}" for j in fields for name in FEATURES], dtype=object)

    def _check_params(self):
        for name in ("k1", "k3", "b"):
            value, most = getattr(self, name), 1 if name == "b" else np.finfo(float).max
            if not isinstance(value, Real) or not 0 <= value <= most:
                at_most = " and at most 1" if name == "b" else ""
                raise ValueError(f"`{name}` must be at least 0{at_most}; got {value!r}.")
        if self.idf not in IDFS:
            raise ValueError(f"`idf` must be one of {IDFS}; got {self.idf!r}.")

    def _analyzer(self):
        vectorizer = CountVectorizer() if self.vectorizer is None else self.vectorizer
        return vectorizer.build_analyzer()

    def _columns(self):
        """Numbers of the columns: of the query, then of the fields."""
        query = column_number(self.query, self, "query")
        if self.fields is None:
            fields = [j for j in range(self.n_features_in_) if j != query]
        else:
            fields = [column_number(column, self, "fields") for column in self.fields]
        if not fields:
            raise ValueError(
                "`X` must have a column of queries' texts and at least one of documents' texts; "
                f"got {self.n_features_in_} columns and fields={self.fields!r}."
            )
        return [query, *fields]

    def _texts(self, X, reset):
        """The columns, as lists of str: the query's, then the fields'."""
        X = validate_data(self, X, dtype=object, ensure_all_finite=False, reset=reset)
        return [[_text(value, j) for value in X[:, j].tolist()] for j in self._columns()]

    def _term_weights(self, n):
        odds = (self.n_documents_ - n + 0.5) / (n + 0.5)
        return np.log(odds) if self.idf == "robertson" else np.log1p(odds)

    def _features(self, qtf, tf, length, mean_length, weight):
        """Features of rows, from counts of the query's and the field's terms, CSR."""
        n_rows, n_terms = len(length), np.diff(qtf.indptr)
        # Where both have the term; the two have their entries at the same places.
        tf, qtf = (qtf != 0).multiply(tf).tocsr(), (tf != 0).multiply(qtf).tocsr()
        row, w = np.repeat(np.arange(n_rows), np.diff(tf.indptr)), weight[tf.indices]
        tf, qtf = tf.data, qtf.data
        relative_length = length / mean_length if mean_length > 0 else np.ones(n_rows)
        K = self.k1 * ((1 - self.b) + self.b * relative_length)[row]
        bm25 = w * (self.k1 + 1) * tf * (self.k3 + 1) * qtf / ((K + tf) * (self.k3 + qtf))

        def total(values):
            return np.bincount(row, weights=values, minlength=n_rows)

        coverage = np.bincount(row, minlength=n_rows) / np.maximum(n_terms, 1)
        return np.column_stack([total(bm25), total(tf), total(w), total(tf * w), coverage, length])


def _text(value, column):
    if isinstance(value, str):
        return value
    if value is None or is_missing(value):
        return ""
    raise ValueError(f"Column {column} of `X` must hold texts; got {value!r}.")


def _distinct(texts):
    """The distinct texts, and the number of each text among them."""
    number = {}
    codes = np.array([number.setdefault(text, len(number)) for text in texts], dtype=np.intp)
    return list(number), codes


def _count(texts, analyze, number):
    """How often texts have the terms that are numbered, and how many terms they have in all.

    Parameters
    ----------
    texts : list of str
    analyze : callable
        From a text to a list of its terms.
    number : dict
        Column of each term.

    Returns
    -------
    counts : CSR array of shape (n_texts, n_terms), dtype float64
        Canonical.
    lengths : ndarray of shape (n_texts,), dtype float64
    """
    columns, ends, lengths = [], [0], []
    for text in texts:
        terms = analyze(text)
        columns.extend(number[term] for term in terms if term in number)
        ends.append(len(columns))
        lengths.append(len(terms))
    shape = (len(texts), len(number))
    counts = sparse.csr_array((np.ones(len(columns)), columns, ends), shape=shape)
    counts.sum_duplicates()
    return counts, np.array(lengths, dtype=np.float64)
