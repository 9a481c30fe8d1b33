#!/usr/bin/env python3
"""What the cost model of docs/explanation/distributed.md says of large tables and many ranks, as the rows of its table."""

from math import ceil, log2

FUNCTIONS, M, INPUTS = 3, 100, 8
FIXED_MS, CONDITION_MS, ROW_MS = 0.5, 3.9, 8.6e-3  # fathom_bench_shape, one thread
LATENCY_MS, BYTES_PER_MS = 0.02, 1.25e6  # a network of 10 Gbit/s
MOST_SHARING = 8  # ranks that share the functions


def slots(batch):
    return min(max(batch // 64, 1), min(max(batch // 256, 8), 1024))


def step_ms(batch, ranks):
    compute = FIXED_MS + ROW_MS * batch * ceil(slots(batch) / ranks) / slots(batch)
    if ranks == 1:
        return compute + CONDITION_MS
    share = ranks <= MOST_SHARING
    compute += CONDITION_MS * (ceil(FUNCTIONS / ranks) / FUNCTIONS if share else 1)
    rounds = 4 * ceil(log2(ranks)) + (5 if share else 3)  # broadcasts and one agreement by trees, exchanges
    sent = (5 if share else 3) * 8 * M * M * FUNCTIONS + 8 * (INPUTS + 1) * batch / ranks
    return compute + rounds * LATENCY_MS + sent / BYTES_PER_MS


def time_text(seconds):
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


for batch, ranks in [(1024, 1), (1024, 2), (1024, 8), (8192, 10), (65536, 10), (65536, 100), (262144, 100), (262144, 1000)]:
    ms = step_ms(batch, ranks)
    epochs = " | ".join(time_text(rows / batch * ms / 1e3) for rows in (1e7, 1e8, 1e9))
    efficiency = step_ms(batch, 1) / ms / ranks
    print(f"| {batch} | {ranks} | {ms:.1f} | {100 * efficiency:.0f} % | {epochs} |")
