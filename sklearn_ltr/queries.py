# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Query ids: the only module that understands ``groups``.

Everything else sees a `QueryGroups`: a permutation of the rows that makes every query contiguous,
and the offsets of the queries in it.
"""

import operator
from collections.abc import Iterator, Mapping

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from sklearn_ltr._kernels import _queries
from sklearn_ltr.cached import cached_property
from sklearn_ltr.interrupts import parts
from sklearn_ltr.reduction import anywhere, largest, places
from sklearn_ltr.validation import check_column, is_nested, without_vanishing

# Weights up to 2 to this, and down to its inverse, are taken as they are.
LARGEST_EXPONENT = 60

# Numbers that are centred at a time: those of a megabyte.
BLOCK = 2**17

NO_GROUPS = (
    "`groups` is None: all {n} rows are taken as one query. Inside a pipeline or a search, groups "
    "reach {method} only with metadata routing: sklearn.set_config(enable_metadata_routing=True)."
)


def encode_groups(groups, n_samples, name="groups", unit="query id"):
    """Number the distinct query ids of the rows, comparing ids exactly.

    Parameters
    ----------
    groups : array-like of shape (n_samples,)
        One query id a row: integers of any width, floats, strings, any hashable objects, a pandas
        or categorical column. Rows of a query need not be contiguous.
    n_samples : int
        Number of rows expected.
    name : str, default="groups"
        Name of the argument in error messages.
    unit : str, default="query id"
        What an entry is called there.

    Returns
    -------
    codes : ndarray of shape (n_samples,), dtype intp
        Number of each row's query in `ids`.
    ids : ndarray of shape (n_queries,)
        The distinct ids: ascending for numbers and strings, else in order of first appearance.

    Raises
    ------
    ValueError
        If `groups` has a wrong shape or length, or a missing id.
    """
    groups = _as_id_array(groups, name, unit)
    if groups.ndim != 1:
        raise ValueError(
            f"`{name}` must be one-dimensional, one {unit} a row; got shape {groups.shape}. If "
            f"it has a list of ids for each query, np.concatenate({name}) is what is needed."
        )
    if groups.shape[0] != n_samples:
        if groups.dtype.kind == "O":
            _encode_objects(groups, name, unit)  # refuses lists of ids, which explain the length
        message = (
            f"`{name}` has {groups.shape[0]} entries but there are {n_samples} rows; "
            f"give one {unit} for each row."
        )
        if unit == "query id" and _sums_to(groups, n_samples):
            message += (
                " They sum to the number of rows and look like query sizes: "
                f"np.repeat(np.arange(len({name})), {name}) turns sizes into ids."
            )
        raise ValueError(message)
    missing = _missing_rows(groups)
    if missing is not None and missing.any():
        raise ValueError(_missing_id(name, unit, int(missing.argmax())))
    if isinstance(groups, np.ma.MaskedArray):
        groups = groups.data
    if groups.dtype.hasobject:
        return _encode_objects(groups, name, unit)
    if groups.dtype.kind in "iuf" and (groups[1:] >= groups[:-1]).all():
        new = np.concatenate(([True], groups[1:] != groups[:-1]))[: len(groups)]
        return np.cumsum(new) - 1, groups[new]
    ids, codes = np.unique(groups, return_inverse=True)
    return codes.astype(np.intp, copy=False), ids


def _sums_to(values, total):
    try:
        return bool(values.sum() == total)
    except (TypeError, ValueError, ArithmeticError):  # ids that are no numbers, or cannot be added
        return False


def check_groups(groups, name="groups", unit="query id"):
    """Raise unless there are ids."""
    if groups is None:
        raise ValueError(f"`{name}` is None; give one {unit} for each row.")


def _missing_id(name, unit, row):
    return f"`{name}` has a missing id at row {row}; every row needs a {unit}."


def _missing_rows(groups):
    """Which ids the dtype of an array itself marks as missing: ndarray of bool, or None.

    What objects say is left to `is_missing`.
    """
    if isinstance(groups, np.ma.MaskedArray):
        masked = np.ma.getmaskarray(groups)
        if masked.dtype.names:
            masked = np.any([masked[field] for field in masked.dtype.names], axis=0)
        missing = _missing_rows(groups.data)
        return masked if missing is None else masked | missing
    if groups.dtype.names:
        found = [_missing_rows(groups[field]) for field in groups.dtype.names]
        found = [missing for missing in found if missing is not None]
        return np.any(found, axis=0) if found else None
    if groups.dtype.kind in "fcmM":
        return np.isnan(groups)
    if groups.dtype.kind == "T" and hasattr(groups.dtype, "na_object"):
        # isnan knows only of sentinels that are a NaN.
        sentinel = groups.dtype.na_object
        return np.array([value is sentinel for value in groups.astype(object)], dtype=bool)
    return None


def _as_id_array(groups, name, unit):
    check_groups(groups, name, unit)
    if sparse.issparse(groups):
        raise ValueError(f"`{name}` must be a dense one-dimensional array; got a sparse matrix.")
    if isinstance(groups, (str, bytes, set, frozenset, Mapping, Iterator)):
        # They have no order, or cannot be read twice, or are one id.
        raise ValueError(  # noqa: TRY004 - as for all other ids that are wrong
            f"`{name}` must be an array or a list, one {unit} for each row; got a "
            f"{type(groups).__name__}."
        )
    if not hasattr(groups, "__array__") and not hasattr(groups, "dtype"):
        # NumPy would turn a list such as [2**63, -1] into floats and merge neighbouring ids.
        return _as_objects(groups, name, unit)
    try:
        array = groups if isinstance(groups, np.ma.MaskedArray) else np.asarray(groups)
    except Exception:  # noqa: BLE001 - each library has its own, as polars for integers of 128 bits
        return _as_objects(groups, name, unit)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array.ravel()
    return array


def _as_objects(groups, name, unit):
    try:
        groups = list(groups)
    except TypeError as error:
        raise ValueError(f"`{name}` must be one {unit} for each row; got {groups!r}.") from error
    return np.fromiter(groups, dtype=object, count=len(groups))  # which leaves lists alone


def _encode_objects(groups, name, unit):
    numbers = {}
    codes = np.empty(groups.shape[0], dtype=np.intp)
    for row, value in enumerate(groups.tolist()):
        seen = len(numbers)
        try:
            codes[row] = numbers.setdefault(value, seen)
        except TypeError as error:
            if is_missing(value):  # such as Decimal("sNaN")
                raise ValueError(_missing_id(name, unit, row)) from error
            raise ValueError(
                f"`{name}` has an unhashable id at row {row}: {value!r}. If it has a list of ids "
                f"for each query, np.concatenate({name}) is what is needed; ids of several parts "
                "are tuples."
            ) from error
        if len(numbers) > seen and is_missing(value):
            raise ValueError(_missing_id(name, unit, row))
    ids = np.empty(len(numbers), dtype=object)
    ids[:] = list(numbers)
    try:
        order = np.array(sorted(range(len(ids)), key=ids.__getitem__), dtype=np.intp)
    except TypeError:  # ids that do not compare, such as 1 and "a", stay in order of appearance
        return codes, ids
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return rank[codes], ids[order]


def is_missing(value):
    """Whether a value, or a part of a tuple, is what some library calls missing."""
    if isinstance(value, (tuple, frozenset)):
        return any(is_missing(part) for part in value)
    if hasattr(value, "as_py"):  # a scalar of pyarrow
        value = value.as_py()
    if value is None or value is np.ma.masked:
        return True
    try:
        return bool(operator.ne(value, value))  # NaN and NaT differ from themselves
    except (TypeError, ArithmeticError):  # pandas.NA has no truth value, a signalling NaN no order
        return True
    except ValueError:  # an array
        return False


def row_hash(X, *columns, n_threads=1):
    """A 64-bit hash of the content of each row, the same for dense and sparse `X`.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_samples, n_features), dtype float32 or float64
    *columns : ndarrays of shape (n_samples,), dtype float64
        Further columns that belong to the content: grades, weights.
    n_threads : int, default=1

    Returns
    -------
    hashes : ndarray of shape (n_samples,), dtype uint64
        -0.0 hashes as 0.0, and every NaN alike.
    """
    hashes = sums_of_cell_hashes(X, n_threads)
    for k, column in enumerate(columns):
        column = np.ascontiguousarray(column, dtype=np.float64)
        _queries.hash_dense(column[:, None], X.shape[1] + k, False, hashes, 1)
    _queries.mix_hashes(hashes)
    return hashes


def sums_of_cell_hashes(X, n_threads=1, single=False):
    """Sums of the hashes of the cells of each row, wrapping at 64 bits.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_samples, n_features), dtype float32 or float64
    n_threads : int, default=1
    single : bool, default=False
        Hash numbers as rounded to single precision.

    Returns
    -------
    sums : ndarray of shape (n_samples,), dtype uint64
    """
    sums = np.zeros(X.shape[0], dtype=np.uint64)
    if sparse.issparse(X):
        index_type = np.intc if X.indices.dtype.itemsize == 4 else np.longlong
        indices, indptr = (a.astype(index_type, copy=False) for a in (X.indices, X.indptr))
        _queries.hash_csr(X.data, indices, indptr, single, sums, n_threads)
    else:
        for part in parts(X.shape[0], X.shape[1]):
            _queries.hash_dense(X[part], 0, single, sums[part], n_threads)
    return sums


class QueryGroups:
    """Rows grouped by query.

    Rows ``order[offsets[q]:offsets[q + 1]]`` of the caller's arrays belong to query ``q``.

    Parameters
    ----------
    order : ndarray of shape (n_samples,), dtype intp
    offsets : ndarray of shape (n_queries + 1,), dtype intp
    ids : ndarray of shape (n_queries,)
        The query ids, in the order of the queries.
    keys : ndarray of shape (n_queries,), dtype uint64, or None
        What queries are ordered by, ascending, where it is their content.

    Attributes
    ----------
    n_queries, n_samples : int
    sizes : ndarray of shape (n_queries,), dtype intp
        Rows of each query.
    """

    def __init__(self, order, offsets, ids, keys=None):
        self.order = order
        self.offsets = offsets
        self.ids = ids
        self.keys = keys

    @classmethod
    def from_ids(cls, groups, n_samples, *, keys=None, name="groups"):
        """Group rows by id.

        Parameters
        ----------
        groups : array-like of shape (n_samples,) or None
            Query id of each row; None puts all rows into one query.
        n_samples : int
        keys : ndarray of shape (n_samples,), dtype uint64, or None
            Content hash of each row. With it the order is canonical: rows within a query and the
            queries themselves are ordered by content, whatever their ids and positions. Without
            it queries are ordered by id, and rows within a query as given.
        name : str, default="groups"
            Name of the argument in error messages.
        """
        if groups is None:
            codes, ids = np.zeros(n_samples, dtype=np.intp), np.zeros(min(n_samples, 1), np.intp)
        else:
            codes, ids = encode_groups(groups, n_samples, name)
        sizes = np.bincount(codes, minlength=len(ids)).astype(np.intp)
        query_keys = None
        if keys is None:
            order = np.argsort(codes, kind="stable")
        else:
            order = np.argsort(keys, kind="stable")
            order = order[np.argsort(codes[order], kind="stable")]
            starts = np.cumsum(sizes) - sizes
            # Wrapping sums commute: the key of a query does not depend on the order of its rows.
            query_keys = np.add.reduceat(keys[order], starts) if len(ids) else keys[:0]
            rank = np.argsort(query_keys, kind="stable")
            order = order[_ranges(starts[rank], sizes[rank])]
            sizes, ids, query_keys = sizes[rank], ids[rank], query_keys[rank]
        offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.intp)
        return cls(order, offsets, ids, query_keys)

    @property
    def n_queries(self):
        return len(self.offsets) - 1

    @property
    def n_samples(self):
        return len(self.order)

    @cached_property
    def sizes(self):
        return np.diff(self.offsets)

    def query_of_row(self):
        """Number of the query of each row, rows in grouped order."""
        return np.repeat(np.arange(self.n_queries), self.sizes)

    def select(self, mask):
        """The queries where `mask` (n_queries,) is true, and the positions of their rows.

        Returns
        -------
        groups : QueryGroups
            `order` still refers to the caller's rows.
        positions : ndarray, dtype intp
            Positions of the kept rows in this object's grouped order.
        """
        kept = np.flatnonzero(mask)
        sizes = self.sizes[kept]
        positions = _ranges(self.offsets[kept], sizes)
        offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.intp)
        keys = None if self.keys is None else self.keys[kept]
        return QueryGroups(self.order[positions], offsets, self.ids[kept], keys), positions

    def keep_rows(self, mask):
        """The groups without the rows where `mask` is false, and without queries left empty.

        Parameters
        ----------
        mask : ndarray of shape (n_samples,), dtype bool
            In grouped order.
        """
        sizes = np.add.reduceat(mask, self.offsets[:-1], dtype=np.intp)
        offsets = np.concatenate(([0], np.cumsum(sizes[sizes > 0]))).astype(np.intp)
        keys = None if self.keys is None else self.keys[sizes > 0]
        return QueryGroups(self.order[mask], offsets, self.ids[sizes > 0], keys)


def _ranges(starts, sizes):
    """The concatenation of arange(start, start + size)."""
    shift = np.repeat(starts - (np.cumsum(sizes) - sizes), sizes)
    return (shift + np.arange(len(shift))).astype(np.intp)


def split_queries(
    eligible, fraction, random_state=None, *, keys=None, otherwise="set early_stopping=False"
):
    """Choose whole queries to hold out.

    Parameters
    ----------
    eligible : ndarray of shape (n_queries,), dtype bool
        Queries that may be held out.
    fraction : float in (0, 1)
        Share of the eligible queries to hold out; at least one is, and at least one stays.
    random_state : int, RandomState instance or None, default=None
    keys : ndarray of shape (n_queries,), dtype uint64, default=None
        What queries are ordered by, where there may be others elsewhere.
    otherwise : str, default="set early_stopping=False"
        How to do without held-out queries, in the error message.

    Returns
    -------
    held_out : ndarray of shape (n_queries,), dtype bool

    Raises
    ------
    ValueError
        If fewer than two queries are eligible.
    """
    candidates = np.flatnonzero(eligible)
    place, n = places(candidates if keys is None else keys[candidates])
    if n < 2:
        raise ValueError(
            f"Holding out queries for validation needs at least two queries to learn from; got "
            f"{n}. Give `groups`, give a validation set (`X_val`, `y_val`, "
            f"`groups_val`), or {otherwise}."
        )
    size = min(max(1, round(fraction * n)), n - 1)
    chosen = np.zeros(n, dtype=bool)
    chosen[check_random_state(random_state).permutation(n)[:size]] = True
    held_out = np.zeros(len(eligible), dtype=bool)
    held_out[candidates] = chosen[place]
    return held_out


def per_query(values, queries, name="query_weight"):
    """Reduce one non-negative entry a row, constant within each query, to one entry a query.

    Parameters
    ----------
    values : array-like of shape (n_samples,)
        In the caller's row order.
    queries : QueryGroups
    name : str, default="query_weight"

    Returns
    -------
    reduced : ndarray of shape (n_queries,), dtype float64

    Raises
    ------
    ValueError
        If the length is not the number of rows, an entry is negative, missing or infinite, entries
        differ within a query, or all are zero.
    """
    try:
        values = check_column(values, name, queries.n_samples, finite=False)
    except ValueError as error:
        if is_nested(values) or np.shape(values) != (queries.n_queries,):
            raise
        raise ValueError(
            f"{error} It has one entry for each query: repeat each over the rows of its query, "
            f"{name}[np.unique(groups, return_inverse=True)[1]]."
        ) from error
    if not np.isfinite(values).all() or (values < 0).any():
        row = int(np.flatnonzero(~np.isfinite(values) | (values < 0))[0])
        raise ValueError(f"`{name}` must be finite and not negative; row {row} has {values[row]}.")
    grouped = values[queries.order]
    first = grouped[queries.offsets[:-1]]
    differs = grouped != np.repeat(first, queries.sizes)
    if differs.any():
        q = int(np.searchsorted(queries.offsets, np.flatnonzero(differs)[0], side="right")) - 1
        raise ValueError(
            f"`{name}` must be constant within a query; it is not in query "
            f"{queries.ids[q : q + 1].tolist()[0]!r}."
        )
    if not anywhere(first):
        raise ValueError(f"`{name}` is zero for every query; at least one must be positive.")
    return relative_weights(first)


def relative_weights(weights):
    """Weights of which only the ratios count, where their sums cannot overflow or lose digits.

    They are multiplied by a power of 2 if need be, which rounds nothing.

    Parameters
    ----------
    weights : ndarray, dtype float64
        Finite.
    """
    weights = without_vanishing(weights)
    exponent = int(np.frexp(largest(weights))[1])
    return weights if abs(exponent) <= LARGEST_EXPONENT else np.ldexp(weights, -exponent)


def centre(rows, offsets):
    """Subtract from rows of numbers the means of their query, in place.

    Parameters
    ----------
    rows : ndarray of shape (n_samples,) or (n_samples, n_columns), dtype float64
        Grouped by query.
    offsets : ndarray of shape (n_queries + 1,), dtype intp
        No query is empty.

    Returns
    -------
    rows : ndarray
    """
    most, first = max(1, BLOCK // (rows.size // len(rows))), 0
    while first < len(offsets) - 1:
        # As many whole queries as fit into the cache, at least one.
        last = max(first + 1, int(np.searchsorted(offsets, offsets[first] + most, "right")) - 1)
        starts = offsets[first:last] - offsets[first]
        sizes = np.diff(offsets[first : last + 1])
        part = rows[offsets[first] : offsets[last]]
        # From a row of the query, so that equal rows give 0 and a common part takes no digits.
        part -= np.repeat(part[starts], sizes, axis=0)
        means = (np.add.reduceat(part, starts, axis=0).T / sizes).T
        part -= np.repeat(means, sizes, axis=0)
        first = last
    return rows
