"""Times of what JAX compiles, for the benchmarks that compare with it."""

import statistics
import time


def measure(function, arguments, repeats):
    """Medians of the seconds that compiling `function` from nothing takes, and running it once."""
    import jax
    compiling, running = [], []
    for _ in range(repeats):
        jax.clear_caches()
        begin = time.perf_counter()
        compiled = jax.jit(function).lower(*arguments).compile()
        compiling.append(time.perf_counter() - begin)
        begin = time.perf_counter()
        jax.block_until_ready(compiled(*arguments))
        running.append(time.perf_counter() - begin)
    return statistics.median(compiling), statistics.median(running)
