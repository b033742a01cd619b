# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Clicks that users of a known kind would make on rankings of graded documents."""

from numbers import Integral, Real

import numpy as np
from sklearn.utils import Bunch, check_array, check_random_state, check_scalar

from sklearn_ltr.labels import as_gain, check_gain, gains
from sklearn_ltr.queries import QueryGroups
from sklearn_ltr.validation import check_choice, check_column, check_positive

# By model: the parameters that it takes of those that not all take, and their defaults.
MODELS = {
    "position": {"eta": 1.0},
    "trust": {"eta": 1.0, "trust": 0.65},
    "cascade": {},
    "dependent": {"continuation": 0.5},
}

# Documents, or places in lists, that are drawn at a time.
BLOCK = 2**21


def simulate_clicks(
    y,
    groups,
    scores=None,
    *,
    positions=None,
    documents=None,
    n_sessions=1000,
    n_positions=10,
    n_candidates=None,
    model="position",
    eta=None,
    trust=None,
    continuation=None,
    noise=0.1,
    gain="exponential",
    max_grade=None,
    random_state=None,
):
    r"""Clicks that users of a known kind would make on rankings of graded documents.

    In each session a query and one of the rankers are drawn, each as likely, and the ranker's first
    documents are shown. A document of grade :math:`y` attracts with the probability

    .. math:: \alpha = \epsilon + (1 - \epsilon) \frac{g(y)}{g(y_{\max})},
              \qquad g(y) = 2^y - 1 ,

    and what becomes of that is said by the `model`, with :math:`k` the position from 1:

    - "position": a document is clicked if it is looked at and attracts, independent of the others,
      :math:`P(C_k = 1) = \gamma_k \alpha_k` with :math:`\gamma_k = k^{-\eta}` [1]_;
    - "trust": those at the top are also clicked for being there,
      :math:`P(C_k = 1) = \gamma_k (\alpha_k + (1 - \alpha_k) \tau / k)`, after [2]_;
    - "cascade": documents are looked at from the top to the first that attracts, which is clicked
      [3]_;
    - "dependent": documents that attract are clicked from the top on, and after a click at
      position k the user goes on with probability :math:`\lambda_k` [4]_.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Grade of each document of a query, at least 0.
    groups : array-like of shape (n_samples,)
        Query id of each row.
    scores : array-like of shape (n_samples,) or (n_samples, n_rankers), default=None
        What one ranker, or each of several, shows: the rows of a query by falling score, equal ones
        as they come. With one ranker that always shows the same, no click model can tell positions
        from documents.
    positions : array-like of shape (n_samples,) or (n_samples, n_rankers), default=None
        The position of each row in the place of `scores`, from 1 on, distinct in each query.
    documents : array-like of shape (n_samples,), default=None
        Id of the document of each row. None: the number of the row.
    n_sessions : int, default=1000
        How many lists are shown.
    n_positions : int, default=10
        The longest list that is shown.
    n_candidates : int or None, default=None
        Rank only so many documents of the query, drawn anew in each session, so that even one
        ranker shows documents at several positions. None: all.
    model : {"position", "trust", "cascade", "dependent"}, default="position"
        Kind of user; see above.
    eta : float or None, default=None
        How fast attention falls, :math:`\eta`, at least 0; None is 1. Of the models "position" and
        "trust".
    trust : float in [0, 1] or None, default=None
        :math:`\tau`; None is 0.65. Of the model "trust".
    continuation : float in [0, 1], array-like of shape (n_positions,) or None, default=None
        :math:`\lambda_k`, of all positions or of each; None is 0.5. Of the model "dependent".
    noise : float in [0, 1), default=0.1
        How attractive a document of grade 0 is, :math:`\epsilon`.
    gain : {"exponential", "linear"}, sequence, mapping or callable, default="exponential"
        The gain :math:`g`. With "linear", ``noise=0`` and ``max_grade=1``, `y` is the
        attractiveness itself.
    max_grade : float or None, default=None
        :math:`y_{\max}`; None is the largest in `y`.
    random_state : int, RandomState instance or None, default=None
        Seed of what is drawn.

    Returns
    -------
    clicks : Bunch
        Arrays of one entry an impression, such as :class:`ClickLog` and ``pandas.DataFrame`` take:
        ``groups``, ``documents``, ``positions``, ``clicks`` and ``sessions``, numbered from 0.

    Raises
    ------
    ValueError
        If an argument is out of its range, or of another model.

    See Also
    --------
    ClickLog : Counts them.

    References
    ----------
    .. [1] Joachims, Swaminathan, Schnabel. "Unbiased Learning-to-Rank with Biased Feedback". WSDM
       2017.
    .. [2] Agarwal, Wang, Li, Bendersky, Najork. "Addressing Trust Bias for Unbiased
       Learning-to-Rank". WWW 2019.
    .. [3] Craswell, Zoeter, Taylor, Ramsey. "An Experimental Comparison of Click Position-Bias
       Models". WSDM 2008.
    .. [4] Guo, Liu, Wang. "Efficient Multiple-Click Models in Web Search". WSDM 2009.

    Examples
    --------
    Two rankers, of which one shows the documents the other way round:

    >>> import numpy as np
    >>> from sklearn_ltr.clicks import ClickLog, simulate_clicks
    >>> y, groups = np.array([2, 1, 0, 0, 1]), np.array([7, 7, 7, 8, 8])
    >>> scores = np.array([[3, 1], [2, 2], [1, 3], [2, 1], [1, 2]])
    >>> clicks = simulate_clicks(y, groups, scores, n_sessions=5000, random_state=0)
    >>> ClickLog(**clicks)
    ClickLog(5,000 sessions, 12,456 impressions, 3,257 clicks, 5 rows, 9 cells, 3 positions)
    """
    y = check_column(y, "y")
    n = len(y)
    queries = QueryGroups.from_ids(groups, n)
    rankings = _check_rankings(scores, positions, queries)
    documents = _check_documents(documents, n)
    for value, name in ((n_sessions, "n_sessions"), (n_positions, "n_positions")):
        check_scalar(value, name, Integral, min_val=1)
    if n_candidates is not None:
        check_scalar(n_candidates, "n_candidates", Integral, min_val=1)
    click, shape = _user(model, n_positions, eta=eta, trust=trust, continuation=continuation)
    attractiveness = _attractiveness(y, noise, gain, max_grade)
    rng = check_random_state(random_state)

    longest = int(queries.sizes.max())
    length = min(n_positions, longest)
    if n_candidates is None:
        first = _first_rows(rankings, queries, length)
    else:  # all rows of each query, as they come
        first = _first_rows(np.zeros((n, 1)), queries, longest)[0]
        length = min(length, n_candidates)
    at_a_time = max(1, BLOCK // (length if n_candidates is None else longest))
    blocks = []
    for start in range(0, n_sessions, at_a_time):
        n_lists = min(at_a_time, n_sessions - start)
        query = rng.randint(queries.n_queries, size=n_lists)
        ranker = rng.randint(rankings.shape[1], size=n_lists)
        if n_candidates is None:
            row = first[ranker, query]
        else:
            row = _rank_candidates(first[query], rankings, ranker, n_candidates, length, rng)
        shown = row >= 0
        attracts = np.where(shown, attractiveness[row], 0)
        clicked = click(attracts, shape[:length], rng)
        session, position = np.nonzero(shown)
        row = row[shown]
        blocks.append((row, position + 1, clicked[shown], session + start))
    row, position, clicked, session = map(np.concatenate, zip(*blocks, strict=True))
    return Bunch(
        groups=queries.ids[queries.query_of_row()[np.argsort(queries.order)][row]],
        documents=documents[row],
        positions=position,
        clicks=clicked.astype(np.int8),
        sessions=session,
    )


def _check_rankings(scores, positions, queries):
    """Scores of the rankers, of shape (n_samples, n_rankers)."""
    if (scores is None) == (positions is None):
        raise ValueError("Give either `scores` or `positions` of the rows, and not both.")
    name, values = ("scores", scores) if positions is None else ("positions", positions)
    values = check_array(values, ensure_2d=False, dtype=np.float64, input_name=name)
    values = values[:, None] if values.ndim == 1 else values
    if len(values) != queries.n_samples:
        raise ValueError(
            f"`{name}` must have one row for each of the {queries.n_samples} rows; got shape "
            f"{values.shape}."
        )
    if positions is None:
        return values
    query = queries.query_of_row()[np.argsort(queries.order)]
    for r, position in enumerate(values.T):
        wrong = (position < 1) | (position != np.floor(position))
        if wrong.any():
            row = int(wrong.argmax())
            raise ValueError(
                f"`positions` has {position[row]:g} at row {row}; they are whole numbers from 1."
            )
        order = np.lexsort((position, query))
        again = (np.diff(query[order]) == 0) & (np.diff(position[order]) == 0)
        if again.any():
            at = int(again.argmax())
            raise ValueError(
                f"`positions` has {position[order[at]]:g} at rows {order[at]} and {order[at + 1]} "
                f"of one query, by ranker {r}; they are distinct in a query."
            )
    return -values


def _check_documents(documents, n_rows):
    if documents is None:
        return np.arange(n_rows)
    documents = documents if hasattr(documents, "dtype") else np.array(documents, dtype=object)
    documents = np.asarray(documents)
    if documents.shape != (n_rows,):
        raise ValueError(
            f"`documents` must have one id for each of the {n_rows} rows; got shape "
            f"{documents.shape}."
        )
    return documents


def _attractiveness(y, noise, gain, max_grade):
    check_positive(noise, "noise", maximum=1, zero=True)
    gain = as_gain(gain)
    highest = y.max() if max_grade is None else max_grade
    check_scalar(highest, "max_grade", Real)
    if highest < y.max():
        row = int(y.argmax())
        raise ValueError(f"`y` has {y[row]:g} at row {row}, above max_grade={highest:g}.")
    values = np.append(y, highest)
    check_gain(values, gain)
    values = gains(values, gain)
    if not values[-1] > 0:
        raise ValueError("No grade in `y` has a positive gain: give `max_grade`, the highest.")
    return noise + (1 - noise) * values[:-1] / values[-1]


def _user(model, n_positions, **given):
    """What clicks, and a number for each position that it takes."""
    check_choice(model, "model", MODELS)
    defaults = MODELS[model]
    for name, value in given.items():
        if value is not None and name not in defaults:
            others = " and ".join(repr(m) for m, names in MODELS.items() if name in names)
            raise ValueError(f"`{name}` is of the model {others}, and not of {model!r}.")
    values = {name: given[name] if given[name] is not None else d for name, d in defaults.items()}
    k = np.arange(1, n_positions + 1)
    if model == "cascade":
        return _click_first, k
    if model == "dependent":
        return _click_on, _check_continuation(values["continuation"], n_positions)
    check_positive(values["eta"], "eta", zero=True)
    looked_at = k ** -float(values["eta"])
    if model == "position":
        return _click_alone, looked_at
    check_scalar(values["trust"], "trust", Real, min_val=0, max_val=1)
    return _click_trusting, np.column_stack([looked_at, values["trust"] / k])


def _check_continuation(continuation, n_positions):
    values = np.asarray(continuation, dtype=np.float64)
    if values.ndim > 1 or (values.ndim == 1 and len(values) != n_positions):
        raise ValueError(
            f"`continuation` must be a number, or one for each of the {n_positions} positions; got "
            f"shape {values.shape}."
        )
    if not ((values >= 0) & (values <= 1)).all():
        raise ValueError(f"`continuation` must be from 0 to 1; got {continuation!r}.")
    return np.broadcast_to(values, n_positions)


def _first_rows(rankings, queries, length):
    """The rows at the first positions by ranker and query; -1 where there are no more."""
    first = np.full((rankings.shape[1], queries.n_queries, length), -1, dtype=np.intp)
    query = queries.query_of_row()
    position = np.arange(queries.n_samples) - queries.offsets[query]
    top = position < length
    for r, scores in enumerate(rankings.T):
        row = queries.order[np.lexsort((-scores[queries.order], query))]
        first[r, query[top], position[top]] = row[top]
    return first


def _rank_candidates(rows, rankings, ranker, n_candidates, length, rng):
    """The first rows of each session, among candidates that are drawn of its `rows`.

    Both are of shape (n_sessions, n), with -1 where there are no more.
    """
    if n_candidates < rows.shape[1]:
        keys = np.where(rows >= 0, rng.random_sample(rows.shape), np.inf)
        drawn = np.argpartition(keys, n_candidates - 1, axis=1)[:, :n_candidates]
        drawn.sort(axis=1)
        rows = np.take_along_axis(rows, drawn, axis=1)
    scores = np.where(rows >= 0, rankings[rows, ranker[:, None]], -np.inf)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :length]
    return np.take_along_axis(rows, order, axis=1)


def _click_alone(attracts, looked_at, rng):
    return rng.random_sample(attracts.shape) < looked_at * attracts


def _click_trusting(attracts, shape, rng):
    looked_at, trust = shape.T
    # A place without a document attracts with probability 0, and its click is not read.
    return rng.random_sample(attracts.shape) < looked_at * (attracts + (1 - attracts) * trust)


def _click_first(attracts, _, rng):
    attracted = rng.random_sample(attracts.shape) < attracts
    return attracted & (np.cumsum(attracted, axis=1) == 1)


def _click_on(attracts, continuation, rng):
    attracted = rng.random_sample(attracts.shape) < attracts
    ends = attracted & (rng.random_sample(attracts.shape) >= continuation)
    ended_above = np.cumsum(ends, axis=1) - ends > 0
    return attracted & ~ended_above
