#!/usr/bin/env python3
"""Two hundred random configurations with `factorization = "direct"`: both back ends, with one and with two threads, give the
same verdict on every (m, sample) they try, the same least m and the same winning sample.

The configurations are drawn from a fixed seed. Their tolerances are drawn wide, so that some are met at a small m, some only
near the exact end, and some never; a share of them puts a limit where rounding decides.
"""

import json
import os
import random
import unittest

import places

CONFIGURATIONS = 40 if os.environ.get("ATTNSPAN_SANITIZED") else 200
MACHINES = tuple((threads, backend) for threads in (1, 2) for backend in ("armadillo", "eigen"))


def table(name, **entries):
    lines = [f"[{name}]"]
    for key, value in entries.items():
        text = f'"{value}"' if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else repr(value)
        lines.append(f"{key} = {text}")
    return "\n".join(lines) + "\n"


def target(draw, causal):
    length = draw.choice((1, 2, 3, 5, 8, 17, 32, 33, 64, 100, 150))
    plugin = draw.choice(("random-sparse", "random-sparse", "sliding-window") + (() if causal else ("permutation",)))
    if plugin == "random-sparse":
        nonzeros = draw.randint(1, min(length, 6))
        return length, table("target", plugin=plugin, length=length, nonzeros=nonzeros,
                             variation=draw.choice((1.0, 1.5, 10.0)))
    if plugin == "sliding-window":
        return length, table("target", plugin=plugin, length=length, radius=draw.randint(0, 4))
    return length, table("target", plugin=plugin, length=length)


def projection(draw):
    plugin = draw.choice(("gaussian", "orthogonal", "sparse", "structured"))
    own = {"sparse": ("nonzeros", (1, 4, 64)), "structured": ("blocks", (1, 2, 3))}.get(plugin)
    return plugin, table("construction.projection", plugin=plugin, **({own[0]: draw.choice(own[1])} if own else {}))


def search(draw, plugin, length):
    largest = {"orthogonal": length, "structured": 1 << (length - 1).bit_length()}.get(plugin, 4 * length)
    method = draw.choice(("grid", "bisect", "fixed"))
    common = {"samples": draw.randint(1, 3), "resample": draw.random() < 0.3}
    if method == "fixed":
        # At the largest m of an exact scheme the logits are the encoded ones, up to rounding.
        return table("search", method=method, query_dim=draw.choice((1, largest, draw.randint(1, largest))), **common)
    start = draw.randint(1, largest)
    return table("search", method=method, start=start, step=draw.randint(1, max(1, largest // 4)), **common)


def configuration(draw, number):
    causal = draw.random() < 0.3
    length, text = target(draw, causal)
    plugin, projected = projection(draw)
    # A ratio of 0 with one entry a row, or a leakage that exact logits just meet, leaves the verdict to rounding.
    criterion = {"ratio": draw.choice((0.0, 0.1, 0.5, 2.0)), "leakage": draw.choice((0.01, 0.3, 0.5, 0.9))}
    if draw.random() < 0.2:
        criterion["total_variation"] = draw.choice((0.05, 0.3, 0.9))
    return (table("run", seed=number) + text + table("mode", plugin="causal" if causal else "bidirectional")
            + table("criterion", **criterion)
            + table("construction", factorization="direct", margin_scale=draw.choice((1.0, 1.0, 2.0, 4.0)))
            + projected + search(draw, plugin, length))


class EveryMachine(places.InFolder):
    def verdicts(self, threads, backend):
        """Verdict on every (m, sample) tried, and the answer."""
        done = self.run_program("run", "run.toml", "--threads", threads, "--set", f"backend.plugin={backend}", "--out",
                                "run", "--force", "--json")
        self.assertIn(done.code, (0, 1), done.err)
        result = json.loads(done.out)
        attempts = [(a["query_dim"], a["sample"], a["passed"]) for a in result["search"]["attempts"]]
        return attempts, result["query_dim"], result["sample"]

    def test_gives_the_same_verdicts(self):
        draw = random.Random(20261201)
        found = 0
        for number in range(CONFIGURATIONS):
            text = configuration(draw, number)
            with self.subTest(number=number, configuration=text):
                (self.folder / "run.toml").write_text(text)
                first = self.verdicts(*MACHINES[0])
                self.assertTrue(first[0])
                found += first[1] is not None
                for machine in MACHINES[1:]:
                    self.assertEqual(self.verdicts(*machine), first, machine)
        # Neither trivially met nor never: otherwise equal verdicts would say little.
        self.assertGreater(found, CONFIGURATIONS // 5)
        self.assertLess(found, CONFIGURATIONS * 9 // 10)


if __name__ == "__main__":
    unittest.main()
