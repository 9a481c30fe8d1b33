#!/usr/bin/env python3
"""What the cost model of docs/explanation/distributed.md says of two ranks on one host, to compare with measurements,
and of large tables and many ranks, as the rows of its tables."""

from math import ceil, log2

FUNCTIONS, M, INPUTS = 6, 100, 8
FIXED_MS, CONDITION_MS, ROW_MS = 0.5, 2.6, 17.0e-3  # fathom_bench_ranks hidden=5, one thread
COPY_BYTES_PER_MS = 3e6  # into messages and out of them
HOST = {"latency_ms": 0.004, "bytes_per_ms": 3e6}
NETWORK = {"latency_ms": 0.02, "bytes_per_ms": 1.25e6}  # 10 Gbit/s
MESSAGE_MS = 0.001  # to begin one of the messages of an exchange
MOST_SHARING = 8  # ranks that share the functions


def slots(batch):
    return min(max(batch // 64, 1), min(max(batch // 256, 8), 1024))


def messages_ms(batch, ranks, latency_ms, bytes_per_ms):
    share = ranks <= MOST_SHARING
    levels = ceil(log2(ranks))
    broadcasts, agreements, exchanges = (2, 3, 4) if share else (2, 2, 3)
    waits = (broadcasts + agreements) * levels * latency_ms + exchanges * (latency_ms + (ranks - 1) * MESSAGE_MS)
    square = 8 * FUNCTIONS * M * M
    parameters = levels * (square / 2 + 8 * FUNCTIONS * M * (INPUTS + 1))
    squares = 3 if share else 2  # S, sums and gradient; or sums, twice
    sent = parameters + squares * square * (ranks - 1) / ranks + 8 * (INPUTS + 1) * batch / ranks
    return waits + sent / bytes_per_ms + sent / COPY_BYTES_PER_MS


def step_ms(batch, ranks, wire):
    compute = FIXED_MS + ROW_MS * batch * ceil(slots(batch) / ranks) / slots(batch)
    if ranks == 1:
        return compute + CONDITION_MS
    own = ceil(FUNCTIONS / ranks) / FUNCTIONS if ranks <= MOST_SHARING else 1
    return compute + CONDITION_MS * own + messages_ms(batch, ranks, **wire)


def time_text(seconds):
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


for batch in (128, 256, 512, 1024, 2048, 4096, 8192):
    one, two = step_ms(batch, 1, HOST), step_ms(batch, 2, HOST)
    print(f"| {batch} | {one:.1f} | {two:.1f} | {50 * one / two:.0f} % |")
for batch, ranks in [(1024, 1), (1024, 2), (1024, 8), (8192, 10), (65536, 10), (65536, 100), (262144, 100), (262144, 1000)]:
    ms = step_ms(batch, ranks, NETWORK)
    epochs = " | ".join(time_text(rows / batch * ms / 1e3) for rows in (1e7, 1e8, 1e9))
    efficiency = step_ms(batch, 1, NETWORK) / ms / ranks
    print(f"| {batch} | {ranks} | {ms:.1f} | {100 * efficiency:.0f} % | {epochs} |")
