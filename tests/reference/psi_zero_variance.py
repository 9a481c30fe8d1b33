#!/usr/bin/env python3
"""Writes psi_zero_variance.json: psi statistics and their derivatives where inputs have variance 0.

E f(x) = f + s/2 f'' + O(s^2) for an input of variance s, so that a derivative at s = 0 is half a second derivative of
the kernel's definition; here with 40 digits, by mpmath.
"""
import json
import random

from mpmath import cos, diff, exp, mp, mpf, pi

mp.dps = 40
random.seed(5)


def number(low, high):
    return mpf(round(random.uniform(low, high), 3))


def se_ard(theta, x, z):
    return theta["variance"] * exp(-sum(((a - b) / l) ** 2 for a, b, l in zip(x, z, theta["lengthscales"])) / 2)


def linear_ard(theta, x, z):
    return sum(v * a * b for v, a, b in zip(theta["variances"], x, z))


def spectral_mixture(theta, x, z):
    total = mpf(0)
    for w, means, variances in zip(theta["weights"], theta["means"], theta["variances"]):
        product = w
        for m, v, a, b in zip(means, variances, x, z):
            product *= exp(-2 * pi**2 * v * (a - b) ** 2) * cos(2 * pi * m * (a - b))
        total += product
    return total


def case(name, kernel, theta, D):
    N, M = 2, 3
    Z = [[number(-1, 1) for _ in range(D)] for _ in range(M)]
    mu = [[number(-1, 1) for _ in range(D)] for _ in range(N)]
    w0 = [number(-1, 1) for _ in range(N)]
    w1 = [[number(-1, 1) for _ in range(M)] for _ in range(N)]
    w2 = [[[number(-1, 1) for _ in range(M)] for _ in range(M)] for _ in range(N)]

    def at(n, x):
        k = [kernel(theta, x, z) for z in Z]
        value = w0[n] * kernel(theta, x, x)
        for i in range(M):
            value += w1[n][i] * k[i] + sum(w2[n][i][j] * k[i] * k[j] for j in range(M))
        return value

    def moved(n, q, t):
        return at(n, [m + (t if p == q else 0) for p, m in enumerate(mu[n])])

    def derivative(n, q, order):
        return diff(lambda t: moved(n, q, t), 0, order)

    k = [[kernel(theta, x, z) for z in Z] for x in mu]
    plain = lambda v: [plain(u) for u in v] if isinstance(v, list) else float(v)
    return {
        "name": name, "tolerance": 1e-9,
        "kernel": {"type": kernel.__name__, **{key: plain(v) for key, v in theta.items()}},
        "Z": plain(Z), "mu": plain(mu), "var": [[0.0] * D] * N, "w0": plain(w0), "w1": plain(w1), "w2": plain(w2),
        "expected": {"psi1": plain(k), "functional": float(sum(at(n, mu[n]) for n in range(N)))},
        "gradients": {"mu": [[float(derivative(n, q, 1)) for q in range(D)] for n in range(N)],
                      "var": [[float(derivative(n, q, 2) / 2) for q in range(D)] for n in range(N)]},
    }


cases = [
    case("se_ard", se_ard, {"variance": number(0.5, 2), "lengthscales": [number(0.5, 2), number(0.5, 2)]}, 2),
    case("linear_ard", linear_ard, {"variances": [number(0.5, 2), number(0.5, 2)]}, 2),
    case("spectral_mixture", spectral_mixture,
         {"weights": [number(0.5, 1), number(0.5, 1)], "means": [[number(0.1, 0.4)] * 2, [number(0.1, 0.4)] * 2],
          "variances": [[number(0.01, 0.05)] * 2, [number(0.01, 0.05)] * 2]}, 2),
]
description = ("Derivatives of sum_n w0 psi0 + w1 psi1 + w2 psi2 with respect to input variances that are 0, from above. "
               "Written by psi_zero_variance.py with 40 digits.")
with open(__file__.replace(".py", ".json"), "w") as out:
    json.dump({"kind": "psi", "description": description, "cases": cases}, out, indent=1)
    out.write("\n")
