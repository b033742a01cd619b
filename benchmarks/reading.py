# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What it takes to read a LETOR file, beside scikit-learn, and polars with the numbers as CSV.

    python benchmarks/reading.py --data DIR             # 200 MB: the MSLR sample many times over
    python benchmarks/reading.py --digits               # made numbers of 17 digits; needs no DIR

One thread each. Every run is in a process of its own, the file in the cache of the system; readers
take turns within each repeat, and a ratio is the median over the repeats of the ratio within one.
Memory is what reading adds at its peak, by the memory of what is read. scikit-learn returns a
sparse matrix, without query ids, which it would take hours for; polars a frame of float64.
"""

import gzip
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
from _data import FILES
from _harness import (
    MB,
    in_child,
    make_parser,
    memory,
    print_head,
    require_data,
    row,
    spread,
    take_turns,
    timed,
)

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"}
READERS = {
    "dense float64": {"file": "letor"},
    "dense float32": {"file": "letor", "dtype": "float32"},
    "CSR float64": {"file": "letor", "sparse": True},
    "chunks float32": {"file": "letor", "chunks": True},
    "scikit-learn": {"file": "letor"},
    "polars, CSV": {"file": "csv"},
}
N_FEATURES = 136


def nbytes(X):
    arrays = [X] if isinstance(X, np.ndarray) else [X.data, X.indices, X.indptr]
    return sum(array.nbytes for array in arrays)


def reader_of(name, path, chunks=False, **options):
    """A function that reads the file and returns the bytes of what it has read."""
    if name == "scikit-learn":
        from sklearn.datasets import load_svmlight_file

        def read():
            X, y = load_svmlight_file(path)
            return nbytes(X) + y.nbytes

    elif name == "polars, CSV":
        import polars

        names = ["y", "qid", *map(str, range(N_FEATURES))]

        def read():
            frame = polars.read_csv(
                path, has_header=False, schema=dict.fromkeys(names, polars.Float64)
            )
            return frame.estimated_size()

    elif chunks:
        from sklearn_ltr.datasets import iter_letor_file

        def read():
            found = iter_letor_file(path, n_features=N_FEATURES, chunk_rows=10_000, dtype="float32")
            return max(nbytes(chunk.X) for chunk in found)

    else:
        from sklearn_ltr.datasets import load_letor_file

        def read():
            data = load_letor_file(path, **options)
            return sum(map(nbytes, (data.X, data.y, data.groups, data.docids)))

    return read


def measure(settings):
    """Wall and CPU seconds, what the peak of memory adds, and the size of the result, in MB."""
    read = reader_of(**settings)
    before = memory()[0]
    (wall, cpu), n_bytes = timed(read)
    return wall, cpu, memory()[1] - before, n_bytes / MB


def sample_rows(data):
    """Label, query id and values of the rows of the MSLR sample, as written."""
    folder, files, _ = FILES["mslr10k"]
    for name in files:
        for line in gzip.decompress(Path(data, folder, f"{name}.txt.gz").read_bytes()).splitlines():
            label, query, *cells = line.decode().split()
            yield label, query[4:], [cell.split(":")[1] for cell in cells]


def made_rows():
    for i, values in enumerate(np.random.default_rng(0).normal(size=(5_000, N_FEATURES))):
        yield str(i % 5), str(i // 100), [repr(value) for value in values.tolist()]


def write(rows, folder, megabytes):
    """Write the rows as LETOR text and CSV, again and again up to a size."""
    letor, csv = [], []
    for label, query, values in rows:
        cells = " ".join(f"{j}:{value}" for j, value in enumerate(values, 1))
        letor.append(f"{label} qid:{query} {cells}\n")
        csv.append(f"{label},{query},{','.join(values)}\n")
    # Each copy has other queries, as `chunks` asks for.
    size = sum(map(len, letor))
    n_copies = -(-megabytes * 10**6 // size)
    paths = {"letor": Path(folder, "letor.txt"), "csv": Path(folder, "letor.csv")}
    for name, lines in (("letor", letor), ("csv", csv)):
        with open(paths[name], "w") as file:
            for copy in range(n_copies):
                text = "".join(lines)
                if name == "letor":
                    text = text.replace(" qid:", f" qid:{copy + 1}0000")
                file.write(text)
    return {name: str(path) for name, path in paths.items()}, n_copies * len(letor)


def main():
    parser = make_parser(__doc__, data="folder of mslr-web10k-sample", quick="20 MB, one repeat")
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--digits", action="store_true", help="made numbers of 17 digits")
    parser.add_argument("--readers", nargs="+", choices=READERS, default=list(READERS))
    args = parser.parse_args()
    if args.quick:
        args.megabytes, args.repeats = 20, 1
    if not args.digits:
        require_data(parser, args, "--digits")
    print_head("polars")
    with tempfile.TemporaryDirectory() as folder:
        rows = made_rows() if args.digits else sample_rows(args.data)
        paths, n_rows = write(rows, folder, args.megabytes)
        sizes = [Path(path).stat().st_size / 10**6 for path in paths.values()]
        print(f"{n_rows:,} rows x {N_FEATURES}; {sizes[0]:.0f} MB of LETOR, {sizes[1]:.0f} of CSV")
        contenders = {}
        for name in args.readers:
            options = {"name": name} | READERS[name]
            options["path"] = paths[options.pop("file")]
            contenders[name] = partial(in_child, measure, options, **ONE_THREAD)
        found = {k: np.array(v) for k, v in take_turns(contenders, args.repeats).items()}
    row("", ["seconds", "CPU", "of sk.'s", "from-to", "MB added", "of result"], width=13)
    for name, runs in found.items():
        wall, cpu, added, size = np.median(runs, axis=0)
        ratio = runs[:, 1] / found["scikit-learn"][:, 1] if "scikit-learn" in found else [np.nan]
        cells = [f"{wall:.2f}", f"{cpu:.2f}", f"{np.median(ratio):.3f}", spread(ratio, 3)]
        row(name, [*cells, f"{added:.0f}", f"{added / size:.2f}"], width=13)


if __name__ == "__main__":
    main()
