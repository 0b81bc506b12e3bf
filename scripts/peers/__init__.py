"""Compare the numbers of this library with those of every other tool that is installed."""

import os

# Before anything imports them: compiling takes longer than all the data sets, and Keras has to
# choose a backend when it is imported.
os.environ.setdefault("NUMBA_DISABLE_JIT", "1")
os.environ.setdefault("KERAS_BACKEND", "torch")
