# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The Cython extensions; everything else about the package is in pyproject.toml."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools._distutils.ccompiler import new_compiler
from setuptools._distutils.errors import CompileError, LinkError
from setuptools._distutils.sysconfig import customize_compiler

KERNELS = Path("sklearn_ltr/_kernels")

# The extension of Cython's own code that the kernels share.
SHARED = "sklearn_ltr._kernels._cyutility"

# SKLEARN_LTR_BOUNDSCHECK=1 builds the kernels with index and None checks, for one run of the tests.
CHECKED = os.environ.get("SKLEARN_LTR_BOUNDSCHECK", "0") != "0"

# SKLEARN_LTR_SANITIZE=address,undefined or =thread builds them with those sanitizers, whose
# libraries have to be loaded before Python: see .ci/sanitize.
SANITIZERS = os.environ.get("SKLEARN_LTR_SANITIZE")

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": CHECKED,
    "wraparound": False,
    "initializedcheck": CHECKED,
    "nonecheck": CHECKED,
    "cdivision": True,
    "freethreading_compatible": True,
}

PROBE = """
#include <omp.h>
#include <stdio.h>
int main(void) { printf("%d", omp_get_max_threads()); return 0; }
"""


def openmp_flags():
    """Compile and link flags that give a running OpenMP program; empty where none do."""
    if sys.platform == "win32":
        candidates = [(["/openmp"], [])]
    elif sys.platform == "darwin":
        candidates = [(["-Xpreprocessor", "-fopenmp"], ["-lomp"]), (["-fopenmp"], ["-fopenmp"])]
    else:
        candidates = [(["-fopenmp"], ["-fopenmp"])]
    compiler = new_compiler()
    customize_compiler(compiler)
    for compile_args, link_args in candidates:
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "probe.c")
            source.write_text(PROBE)
            try:
                objects = compiler.compile(
                    [str(source)], output_dir=folder, extra_postargs=compile_args
                )
                compiler.link_executable(
                    objects, "probe", output_dir=folder, extra_postargs=link_args
                )
                subprocess.run([str(Path(folder, "probe"))], check=True, capture_output=True)
            except (CompileError, LinkError, OSError, subprocess.CalledProcessError):
                continue
            return compile_args, link_args
    print("OpenMP not found: the kernels are built serial", file=sys.stderr)
    return [], []


def shared_code():
    """The C file of what all kernels need of Cython, made once and not in each."""
    path = Path("build/cython", *SHARED.split(".")).with_suffix(".c")
    path.parent.mkdir(parents=True, exist_ok=True)
    directives = [f"-X{name}={value}" for name, value in DIRECTIVES.items()]
    command = [sys.executable, "-m", "cython", *directives, "--generate-shared", str(path)]
    subprocess.run(command, check=True)
    return str(path)


def extensions():
    compile_args, link_args = openmp_flags()
    # Plain -O3: one build serves every processor of the architecture; no -march=native.
    optimise = ["/O2"] if sys.platform == "win32" else ["-O3"]
    if SANITIZERS:
        sanitizers = [f"-fsanitize={SANITIZERS}"]
        optimise = ["-O1", "-g", "-fno-omit-frame-pointer", *sanitizers]
        link_args = link_args + sanitizers
    if sys.platform != "win32":
        # Where a processor has a fused multiply-add, as on arm64, compilers would choose between it
        # and two roundings loop by loop, and equal sums would differ in their last bits.
        optimise.append("-ffp-contract=off")
    return [Extension(SHARED, [shared_code()])] + [
        Extension(
            f"sklearn_ltr._kernels.{source.stem}",
            [str(source)],
            extra_compile_args=optimise + compile_args,
            extra_link_args=link_args,
        )
        for source in sorted(KERNELS.glob("*.pyx"))
    ]


setup(
    ext_modules=cythonize(
        extensions(),
        build_dir="build/cython",
        compiler_directives=DIRECTIVES,
        language_level=3,
        shared_utility_qualified_name=SHARED,
    ),
    options={"build_ext": {"parallel": os.cpu_count()}},
)
