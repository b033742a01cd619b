# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What it costs to fit linear functions and small nets, beside PyTorch.

    python benchmarks/score_functions.py [--threads 1 2] [--repeats 3] [--tables linear nets]
    python benchmarks/score_functions.py --queries 10000 --features 50 --tables linear

Needs PyTorch, which no extra of the project installs. Data of `make_ranking`: 5 grades, 100 rows a
query.

Linear: ListNet, ListMLE, RankCosine and RankNet by L-BFGS at their defaults, against the same
minimiser of SciPy with the same settings and the loss in PyTorch, its gradient by autograd, in
float64. Both must come to the same loss. LightGBM's lambdarank with 100 trees of 31 leaves is shown
for scale.

Nets: an epoch of Adam with batches of 32 queries, ListNet and LambdaRank, against a loop in PyTorch
with the same net, initial weights and batches, in float64, which must come near the same loss, and
in float32, as most people would run it.

The reference is made for speed: all queries have the same number of rows, so that a batch is a
tensor of three axes without padding or masks, and its rows come in the order of the queries, unseen
by checks. A fit of ours includes checks and sorting; that of the reference starts at `X` too, and
scales it. The time of an evaluation or epoch is taken from the first evaluation to the last, and
leaves out what comes before. Contenders take turns within each repeat; a ratio is the median over
the repeats of the ratio within one.

Losses of nets in float64 differ somewhat, since PyTorch guards the step of Adam in the other of the
two ways that Kingma and Ba give; without a guard they were seen to agree to 1e-9.
"""

import warnings
from functools import partial

import lightgbm
import numpy as np
import torch
from _data import N_DOCS
from _harness import clock, make_parser, print_head, take_turns, timed
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Bunch, check_random_state
from threadpoolctl import threadpool_limits

from sklearn_ltr import LambdaRank, ListMLE, ListNet, RankCosine, RankNet
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.scorefunction import ScoreFunction

BATCH_SIZE = 32
CUT_OFF = 10  # of LambdaRank's NDCG, its default
LINEAR = (ListNet, ListMLE, RankCosine, RankNet)
NETS = (ListNet, LambdaRank)
HIDDEN = ((10,), (64, 32))


# Ours -------------------------------------------------------------------------------------------


class Clocked:
    """Notes when each evaluation of the loss begins."""

    def fit(self, *args, **kwargs):
        self.marks = [clock()]
        return super().fit(*args, **kwargs)

    def _bind(self, data):
        bound = super()._bind(data)
        update = bound.update

        def noting(*args):
            self.marks.append(clock())
            update(*args)

        bound.update = noting
        return bound


def fit_ours(cls, data, **params):
    ranker = type(cls.__name__, (Clocked, cls), {})(random_state=0, **params)
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        ranker.fit(data.X, data.y, groups=data.groups)
    return [*ranker.marks, clock()], ranker.train_loss_[-1]


# The reference: losses of a batch, from scores and grades of shape (n_queries, N_DOCS) ------------


def list_net(scores, y):
    return -(torch.softmax(y, 1) * torch.log_softmax(scores, 1)).sum(1).mean()


def list_mle(scores, y):
    y, order = y.sort(dim=1)
    scores = scores.gather(1, order)
    last = torch.searchsorted(y, y, right=True) - 1  # row of its grade
    log_sum = torch.logcumsumexp(scores, 1).gather(1, last)
    return ((log_sum - scores) * (y > y[:, :1])).sum(1).mean()


def rank_cosine(scores, y):
    y, scores = (z - z.mean(1, keepdim=True) for z in (y, scores))
    length = torch.sqrt((scores**2).sum(1) + scores.shape[1])
    return (1 - (y * scores).sum(1) / (y.norm(dim=1) * length)).mean() / 2


def rank_net(scores, y):
    won = y[:, :, None] > y[:, None, :]
    losses = torch.nn.functional.softplus(scores[:, None, :] - scores[:, :, None]) * won
    return (losses.sum((1, 2)) / won.sum((1, 2))).mean()


def lambda_rank(scores, y):
    """1 - NDCG, with the gradients of the method in the place of its own."""
    with torch.no_grad():
        gain = 2**y - 1
        discount = torch.zeros_like(scores[0])
        discount[:CUT_OFF] = 1 / torch.log2(torch.arange(CUT_OFF) + 2)
        ideal = (gain.sort(dim=1, descending=True).values * discount).sum(1)
        order = scores.argsort(dim=1, descending=True)
        gain = gain / ideal[:, None]
        of_row = torch.empty_like(scores).scatter_(1, order, discount.expand_as(scores))
        delta = (gain[:, :, None] - gain[:, None, :]).clamp(min=0)
        delta = delta * (of_row[:, :, None] - of_row[:, None, :]).abs()
        push = delta * torch.sigmoid(scores[:, None, :] - scores[:, :, None])
        gradient = (push.sum(1) - push.sum(2)) / len(y)
        loss = 1 - (gain * of_row).sum(1).mean()
    return loss + ((scores - scores.detach()) * gradient).sum()


LOSSES = {
    ListNet: list_net,
    ListMLE: list_mle,
    RankCosine: rank_cosine,
    RankNet: rank_net,
    LambdaRank: lambda_rank,
}
BLOCK = {RankNet: 50}  # queries at once whose pairs stay in the cache; others: all


class Reference:
    """Linear function or net with a loss, on tensors of (n_queries, N_DOCS, ...)."""

    def __init__(self, cls, data, hidden, dtype=torch.float64):
        self.marks = [clock()]
        self.ranker = cls(hidden_layer_sizes=hidden, batch_size=BATCH_SIZE, random_state=0)
        scale = data.X.std(axis=0)
        self.function = ScoreFunction(hidden, "tanh", scale)
        shape = (-1, N_DOCS, data.X.shape[1])
        self.X = torch.tensor(data.X, dtype=dtype).reshape(shape)
        self.y = torch.tensor(data.y, dtype=dtype).reshape(shape[:2])
        self.scale = torch.tensor(scale, dtype=dtype)[:, None]

    def loss(self, weights, intercepts, X, y):
        weights = [weights[0] / self.scale, *weights[1:]]
        for weight, intercept in zip(weights, intercepts, strict=False):
            X = torch.tanh(X @ weight + intercept)
        penalty = self.ranker.alpha / 2 * sum((weight**2).sum() for weight in weights)
        return LOSSES[type(self.ranker)]((X @ weights[-1])[:, :, 0], y) + penalty

    def value_and_gradient(self, w):
        self.marks.append(clock())
        w = torch.tensor(w[:, None], requires_grad=True)
        total, n_queries = 0.0, len(self.y)
        size = BLOCK.get(type(self.ranker), n_queries)
        for X, y in zip(self.X.split(size), self.y.split(size), strict=True):
            loss = self.loss([w], [], X, y) * (len(y) / n_queries)
            loss.backward()
            total += loss.item()
        return total, w.grad.numpy().ravel()

    def lbfgs(self):
        # As scorefunction.lbfgs.
        options = {
            "maxiter": self.ranker.max_iter,
            "maxfun": 50 * self.ranker.max_iter,
            "maxls": 50,
            "gtol": self.ranker.tol,
            "ftol": 64 * np.finfo(float).eps,
        }
        start = np.zeros(self.X.shape[2])
        found = minimize(
            self.value_and_gradient, start, jac=True, method="L-BFGS-B", options=options
        )
        return [*self.marks, clock()], found.fun

    def adam(self, n_epochs):
        # Initial weights and batches as ScoreFunctionRanker.fit and scorefunction.adam draw them.
        rng = np.random.default_rng(check_random_state(0).randint(np.iinfo(np.int32).max))
        weights, intercepts = self.function.unpack(self.function.start(rng))
        weights[0] = weights[0] * self.scale.numpy()
        weights, intercepts = (
            [torch.tensor(part, dtype=self.X.dtype, requires_grad=True) for part in parts]
            for parts in (weights, intercepts)
        )
        optimizer = torch.optim.Adam([*weights, *intercepts], lr=self.ranker.learning_rate_init)
        n_queries = len(self.y)
        n_batches = -(-n_queries // BATCH_SIZE)
        for _ in range(n_epochs):
            total = 0.0
            batch_of_query = rng.permutation(np.arange(n_queries) % n_batches)
            for k in range(n_batches):
                batch = torch.from_numpy(np.flatnonzero(batch_of_query == k))
                self.marks.append(clock())
                loss = self.loss(weights, intercepts, self.X[batch], self.y[batch])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                total += loss.item() * len(batch)
        return [*self.marks, clock()], total / n_queries


# Tables -----------------------------------------------------------------------------------------


def make_data(n_queries, n_features):
    X, y, groups = make_ranking(
        n_queries=n_queries,
        n_docs=N_DOCS,
        n_features=n_features,
        n_informative=20,
        n_redundant=20,
        random_state=0,
    )
    # In the order of the queries that a fit brings them to, so that both get the same batches.
    data = ListNet()._validate_training_data(X, y, groups, None)
    data = data.select(data.informative)
    rows = data.queries.order
    X, y, groups = X[rows], y[rows], groups[rows]
    return Bunch(X=X, y=y, groups=groups)


def compare(contenders, repeats):
    """Marks of each contender in each repeat, and the loss that each comes to."""
    runs = take_turns(contenders, repeats)
    marks = {name: [found for found, _ in of_one] for name, of_one in runs.items()}
    return marks, {name: of_one[-1][1] for name, of_one in runs.items()}


def fit_time(marks):
    return marks[-1] - marks[0]


def evaluation_time(marks):
    """From the first evaluation to the last: marks are of the start, the evaluations, the end."""
    return (marks[-2] - marks[1]) / (len(marks) - 3)


def ratios(ours, theirs, of):
    """Median ratios of wall and CPU time within a repeat."""
    quotients = [of(a) / of(b) for a, b in zip(ours, theirs, strict=True)]
    wall, cpu = np.median(quotients, axis=0)
    return f"{wall:.2f} ({cpu:.2f})"


def seconds(marks, of):
    return np.median([of(m)[0] for m in marks])


def linear(data, args, n_threads):
    print(f"\nLinear, L-BFGS, {n_threads} thread(s)")
    print(
        f"{'':<12}{'fit s':>8}{'PyTorch':>9}{'ratio (CPU)':>14}{'evaluations':>13}{'ms each':>9}"
        f"{'PyTorch':>9}{'ratio (CPU)':>14}{'losses differ by':>18}"
    )
    for cls in LINEAR:
        contenders = {
            "ours": partial(fit_ours, cls, data, n_jobs=n_threads),
            "PyTorch": lambda cls=cls: Reference(cls, data, ()).lbfgs(),
        }
        marks, losses = compare(contenders, args.repeats)
        ours, theirs = marks.values()
        print(
            f"{cls.__name__:<12}{seconds(ours, fit_time):8.2f}{seconds(theirs, fit_time):9.2f}"
            f"{ratios(ours, theirs, fit_time):>14}{len(ours[0]) - 2:13}"
            f"{1e3 * seconds(ours, evaluation_time):9.1f}"
            f"{1e3 * seconds(theirs, evaluation_time):9.1f}"
            f"{ratios(ours, theirs, evaluation_time):>14}"
            f"{abs(losses['ours'] / losses['PyTorch'] - 1):18.1e}",
            flush=True,
        )
    params = {"objective": "lambdarank", "num_leaves": 31, "num_threads": n_threads}
    params |= {"force_row_wise": True, "verbosity": -1}
    sizes = np.full(len(data.y) // N_DOCS, N_DOCS)
    lightgbm_data = lightgbm.Dataset(data.X, data.y, group=sizes)
    seconds_of_trees = timed(lightgbm.train, params, lightgbm_data, 100)[0][0]
    print(f"LightGBM    {seconds_of_trees:8.2f}  (lambdarank, 100 trees of 31 leaves)")


def nets(data, args, n_threads):
    print(f"\nNets, Adam, {n_threads} thread(s); epochs")
    print(
        f"{'':<20}{'ms':>8}{'PyTorch':>9}{'ratio (CPU)':>14}{'losses differ by':>18}"
        f"{'float32':>9}{'ratio (CPU)':>14}"
    )
    n_batches = -(-(len(data.y) // N_DOCS) // BATCH_SIZE)

    def epoch_time(marks):
        return n_batches * evaluation_time(marks)

    for cls in NETS:
        for hidden in HIDDEN:
            net = {
                "hidden_layer_sizes": hidden,
                "max_iter": args.epochs,
                "n_jobs": n_threads,
                "batch_size": BATCH_SIZE,
            }
            contenders = {"ours": partial(fit_ours, cls, data, **net)}
            for dtype in (torch.float64, torch.float32):
                contenders[dtype] = lambda cls=cls, hidden=hidden, dtype=dtype: Reference(
                    cls, data, hidden, dtype
                ).adam(args.epochs)
            marks, losses = compare(contenders, args.repeats)
            ours, double, single = marks.values()
            print(
                f"{f'{cls.__name__} {hidden}':<20}{1e3 * seconds(ours, epoch_time):8.0f}"
                f"{1e3 * seconds(double, epoch_time):9.0f}{ratios(ours, double, epoch_time):>14}"
                f"{abs(losses['ours'] / losses[torch.float64] - 1):18.1e}"
                f"{1e3 * seconds(single, epoch_time):9.0f}{ratios(ours, single, epoch_time):>14}",
                flush=True,
            )


TABLES = {"linear": linear, "nets": nets}


def main():
    parser = make_parser(__doc__)
    parser.add_argument("--queries", type=int, default=1000, help="of 100 rows")
    parser.add_argument("--features", type=int, default=136)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=3, help="of nets")
    args = parser.parse_args()
    print_head("torch", "lightgbm")
    data = make_data(args.queries, args.features)
    print(f"{data.X.shape[0]} rows x {data.X.shape[1]} features, {N_DOCS} rows a query")
    for n_threads in args.threads:
        torch.set_num_threads(n_threads)
        with threadpool_limits(n_threads):
            for table in args.tables:
                TABLES[table](data, args, n_threads)


if __name__ == "__main__":
    main()
