"""Targets and modes that follow a rule, against dense predicates written from the published definitions (layouts.py)."""

import re
import unittest

import numpy as np

import layouts
import places

DATA = places.shared_data()
LARGEST = (1 << 63) - 1


class InFolder(places.InFolder):
    def words(self, table, mode, seed=0):
        """What `attnspan target` needs: the tables in a file."""
        def lines(name, values):
            spelled = {k: f'"{v}"' if isinstance(v, str) else str(v).lower() for k, v in values.items()}
            return f"[{name}]\n" + "".join(f"{k} = {v}\n" for k, v in spelled.items())

        text = lines("run", {"seed": seed}) + lines("target", table) + lines("mode", mode)
        (self.folder / "run.toml").write_text(text)
        return ["target", "run.toml"]

    def weights(self, plugin, mode="bidirectional", mode_keys=None, seed=0, **keys):
        """The target as a dense array."""
        words = self.words({"plugin": plugin, **keys}, {"plugin": mode, **(mode_keys or {})}, seed)
        described = self.run_json(*words, "--write", "A.npy")
        array = np.load(self.folder / "A.npy")
        self.assertEqual(described["nonzeros"], np.count_nonzero(array))
        return array

    def kept(self, plugin, **keys):
        return self.weights(plugin, **keys) > 0

    def count(self, plugin, **keys):
        return self.run_json(*self.words({"plugin": plugin, **keys}, {"plugin": "bidirectional"}))["nonzeros"]


# (plugin, its keys, the definition), for a length.
def cases(length):
    for radius in (0, 1, 3, 200, LARGEST):
        yield "sliding-window", {"radius": radius}, layouts.sliding_window(length, min(radius, 999))
    for sinks, recent in ((4, 512), (0, 1), (0, 5), (3, 2), (200, 1), (LARGEST, LARGEST)):
        yield ("streaming", {"sinks": sinks, "recent": recent},
               layouts.streaming(length, min(sinks, 999), min(recent, 999)))
    for vertical, slash in ((50, 30), (0, 0), (3, 4), (5, 0), (LARGEST, LARGEST)):
        yield ("a-shape", {"vertical": vertical, "slash": slash},
               layouts.a_shape(length, min(vertical, 999), min(slash, 999)))
    for window, dilation, tokens in ((256, 1, []), (0, 1, []), (2, 1, [0]), (2, 3, []), (3, 2, [0, length - 1, 0]),
                                     (1, 200, [length // 2]), (LARGEST, LARGEST, []), (LARGEST, 2, [])):
        yield ("longformer", {"window": window, "dilation": dilation, "global": tokens},
               layouts.longformer(length, min(window, 999), min(dilation, 999), tokens))
    for stride in (1, 2, 5, 32, LARGEST):
        for head in ("local", "strided", "union"):
            yield "strided", {"stride": stride, "head": head}, layouts.strided(length, min(stride, 999), head)
    for block in (1, 4, 5, 16, LARGEST):
        yield "blocks", {"block": block}, layouts.blocks(length, min(block, 999))
    for block, local, globals_, head in ((2, 4, 1, 0), (2, 4, 1, 3), (1, 6, 2, 1), (3, 2, 2, 0), (5, 1, 1, 0)):
        keys = {"block": block, "local_blocks": local, "global_blocks": globals_, "head": head}
        yield "fixed", keys, layouts.fixed_original(length, **keys)
        if -(-length // block) >= globals_:
            for direction, horizontal in (("bidirectional", False), ("bidirectional", True), ("unidirectional", False)):
                yield ("fixed", {"variant": "deepspeed", **keys, "direction": direction, "horizontal": horizontal},
                       layouts.fixed_deepspeed(length, **keys, unidirectional=direction == "unidirectional",
                                               horizontal=horizontal))
    yield "fixed", {"block": LARGEST, "local_blocks": LARGEST}, np.tri(length) > 0
    yield "fixed", {"variant": "deepspeed", "block": LARGEST, "local_blocks": LARGEST}, np.ones((length, length)) > 0
    for variant in ("original", "deepspeed"):
        for block, window in ((1, 1), (2, 3), (3, 5), (5, 99)):
            kept = layouts.bigbird_without_random(-(-length // block), window, variant == "original")
            yield ("bigbird", {"variant": variant, "block": block, "window_blocks": window, "random_blocks": 0},
                   layouts.whole_blocks(kept, block, length))


class Definitions(InFolder):
    def test_every_pattern_is_what_its_definition_says(self):
        for length in (1, 2, 13, 40):
            for plugin, keys, expected in cases(length):
                with self.subTest(plugin=plugin, length=length, **keys):
                    np.testing.assert_array_equal(self.kept(plugin, length=length, **keys), expected)

    def test_the_defaults_are_the_published_parameters(self):
        for plugin, more, expected in (
                ("streaming", {}, layouts.streaming(600, 4, 512)),
                ("a-shape", {}, layouts.a_shape(600, 50, 30)),
                ("longformer", {}, layouts.longformer(600, 256)),
                ("strided", {}, layouts.strided(600, 32, "union")),
                ("fixed", {}, layouts.fixed_original(600, 32, 4, 1, 0)),
                ("fixed", {"variant": "deepspeed"}, layouts.fixed_deepspeed(600, 16, 4, 1, 0)),
        ):
            with self.subTest(plugin=plugin, **more):
                np.testing.assert_array_equal(self.kept(plugin, length=600, **more), expected)

    def test_counts_are_the_published_ones(self):
        for expected, plugin, length, keys in (
                (32272, "strided", 1024, {"stride": 32, "head": "local"}),
                (3600, "strided", 128, {"stride": 32, "head": "local"}),
                (16896, "strided", 1024, {"stride": 32, "head": "strided"}),
                (320, "strided", 128, {"stride": 32, "head": "strided"}),
                (1216 * 256, "fixed", 1024, {"variant": "deepspeed"}),
                (640 * 256, "fixed", 1024, {"variant": "deepspeed", "direction": "unidirectional"}),
                (28672, "fixed", 256, {"variant": "deepspeed"}),
                *((180736, "fixed", 1024, {"block": 32, "head": head}) for head in range(4)),
                (2035456, "longformer", 4096, {}),
                (2043134, "longformer", 4096, {"global": [0]}),
                (16410, "longformer", 256, {"window": 32, "global": [0, 100]}),
                (395514, "streaming", 1024, {}),
                (15130, "streaming", 256, {"recent": 64}),
                (79704, "a-shape", 1024, {}),
                (100 * 256, "bigbird", 256, {"random_blocks": 0}),
                (142 * 256, "bigbird", 256, {}),
        ):
            with self.subTest(plugin=plugin, length=length, **keys):
                self.assertEqual(self.count(plugin, length=length, **keys), expected)

    @unittest.skipUnless(DATA, "the shared data is not here (ATTNSPAN_SHARED_DATA)")
    def test_masks_are_those_of_the_shared_data(self):
        for name, plugin, keys in (
                ("sparse_transformer_local_L128_c32", "strided", {"length": 128, "head": "local"}),
                ("sparse_transformer_strided_L128_s32", "strided", {"length": 128, "head": "strided"}),
                ("streamingllm_L256_sink4_recent64", "streaming", {"length": 256, "recent": 64}),
                ("longformer_L256_w32_g0_100", "longformer", {"length": 256, "window": 32, "global": [0, 100]}),
                ("deepspeed_fixed_L256_default_bidir", "fixed", {"length": 256, "variant": "deepspeed"}),
        ):
            with self.subTest(name):
                file = DATA / "masks" / f"{name}.mtx"
                if not file.exists():
                    self.skipTest(f"{file.name} is not here")
                places_of = np.loadtxt(file, comments="%", dtype=int, usecols=(0, 1))  # the size first
                expected = np.zeros(places_of[0], dtype=bool)
                expected[tuple(places_of[1:].T - 1)] = True
                np.testing.assert_array_equal(self.kept(plugin, **keys), expected)


class BigBird(InFolder):
    def blocks_of(self, count, block, **keys):
        """The layout in blocks; the tokens of a block are alike."""
        kept = self.kept("bigbird", length=count * block, block=block, **keys)
        layout = kept[::block, ::block]
        np.testing.assert_array_equal(kept, layouts.whole_blocks(layout, block, count * block))
        return layout

    def test_rows_draw_so_many_blocks_of_those_they_may(self):
        for count, window, random in ((8, 3, 3), (16, 3, 3), (17, 5, 2), (9, 1, 5), (40, 3, 30)):
            for seed in range(3):
                with self.subTest(count=count, window=window, random=random, seed=seed):
                    layout = self.blocks_of(count, 2, window_blocks=window, random_blocks=random, seed=seed)
                    base = layouts.bigbird_without_random(count, window, original=True)
                    may = layouts.bigbird_may_draw(count, window)
                    self.assertTrue((layout & base == base).all())
                    self.assertFalse((layout & ~base & ~may).any())
                    drawn = (layout & ~base).sum(1)
                    np.testing.assert_array_equal(drawn, np.minimum(may.sum(1), random))

    def test_deepspeed_rows_draw_from_all_blocks_or_from_those_before(self):
        for direction in ("bidirectional", "unidirectional"):
            outside = 0
            for seed in range(5):
                with self.subTest(direction=direction, seed=seed):
                    layout = self.blocks_of(16, 2, variant="deepspeed", direction=direction, seed=seed)
                    base = layouts.bigbird_without_random(16, 3, False, direction == "unidirectional")
                    self.assertTrue((layout & base == base).all())
                    self.assertLessEqual((layout & ~base).sum(1).max(), 1)
                    outside += (layout & ~base).sum()
                    if direction == "unidirectional":
                        self.assertFalse(np.triu(layout, 1).any())
            # A row q draws outside with probability 1 - (kept) / (drawn from): 4/16 or so are kept of 16, 4 of q + 1.
            self.assertGreater(outside, 20)

    def test_blocks_are_drawn_uniformly(self):
        count, random, bins = 2000, 3, 20
        layout = self.blocks_of(count, 1, random_blocks=random, seed=7)
        drawn = (layout & ~layouts.bigbird_without_random(count, 3, True)).sum(0)
        expected = (layouts.bigbird_may_draw(count, 3) / np.maximum(layouts.bigbird_may_draw(count, 3).sum(1), 1)[:, None]
                    ).sum(0) * random
        got, wanted = (np.add.reduceat(v, np.arange(0, count, count // bins)) for v in (drawn, expected))
        self.assertLess((((got - wanted) ** 2) / wanted).sum(), 72.0)  # chi-square, 19 degrees: false alarm 4e-8

    def test_other_seeds_draw_other_blocks_and_equal_seeds_equal_ones(self):
        layout = [self.blocks_of(16, 1, seed=seed) for seed in (1, 1, 2)]
        np.testing.assert_array_equal(layout[0], layout[1])
        self.assertTrue((layout[0] != layout[2]).any())


# One of each pattern, for what holds of all.
EXAMPLES = (
    ("sliding-window", {"radius": 5}), ("streaming", {"sinks": 2, "recent": 6}), ("a-shape", {"vertical": 3, "slash": 4}),
    ("longformer", {"window": 3, "dilation": 2, "global": [7]}), ("strided", {"stride": 5}), ("blocks", {"block": 6}),
    ("fixed", {"block": 2}), ("fixed", {"block": 2, "variant": "deepspeed"}), ("bigbird", {"block": 3}),
    ("bigbird", {"block": 3, "variant": "deepspeed"}), ("random-sparse", {"nonzeros": 4}),
)
VIEWS = (("causal", {}), ("sliding-window", {"radius": 4}), ("sliding-window", {"radius": 2, "causal": True}),
         ("prefix", {"prefix": 9}))


class Weights(InFolder):
    LENGTH = 41

    def test_uniform_weights_are_all_1_as_are_those_without_variation(self):
        for plugin, keys in EXAMPLES:
            for weights in ({"weights": "uniform"}, {"weights": "log-uniform"}, {"weights": "decaying"}, {}):
                with self.subTest(plugin=plugin, **keys, **weights):
                    a = self.weights(plugin, length=self.LENGTH, **keys, **weights)
                    self.assertTrue((a[a > 0] == 1).all())

    def test_log_uniform_weights_lie_between_1_and_the_variation(self):
        for plugin, keys in EXAMPLES:
            with self.subTest(plugin=plugin, **keys):
                a, same, other = (self.weights(plugin, length=self.LENGTH, variation=3.0, seed=seed, **keys)
                                  for seed in (1, 1, 2))
                np.testing.assert_array_equal(a, same)
                self.assertTrue((a != other).any())
                w = a[a > 0]
                self.assertTrue((w >= 1).all() and (w <= 3).all())
                # Mean 1/2 and variance 1/12 of log w / log 3; 5.3 standard deviations have a false alarm of 1e-7.
                self.assertLess(abs((np.log(w) / np.log(3)).mean() - 0.5), 5.3 / np.sqrt(12 * w.size))

    def test_decaying_weights_fall_geometrically_with_the_distance_and_attain_the_variation(self):
        for plugin, keys in EXAMPLES:
            for mode, mode_keys in (("bidirectional", {}), *VIEWS):
                with self.subTest(plugin=plugin, mode=mode, **keys):
                    a = self.weights(plugin, mode=mode, mode_keys=mode_keys, length=self.LENGTH, weights="decaying",
                                     variation=6.0, **keys)
                    np.testing.assert_allclose(a, layouts.decaying(a > 0, 6.0), rtol=1e-14)
                    quotient = a.max(1) / np.where(a > 0, a, np.inf).min(1)
                    self.assertLessEqual(quotient.max(), 6 * (1 + 1e-14))

    def test_a_variation_that_the_weights_cannot_have_is_refused(self):
        for plugin, keys in EXAMPLES:
            words = self.words({"plugin": plugin, "length": 8, **keys, "weights": "uniform", "variation": 2.0},
                               {"plugin": "causal"})
            self.assert_refused(self.run_program(*words), 2, r"run\.toml:\d+:1: target\.variation: .*\"uniform\"")


class Modes(InFolder):
    def test_every_query_sees_what_the_definition_says(self):
        for length in (1, 7, 30):
            for mode, keys in (*VIEWS, ("sliding-window", {"radius": 0}), ("sliding-window", {"radius": LARGEST}),
                               ("sliding-window", {"radius": LARGEST, "causal": True}), ("prefix", {"prefix": 0}),
                               ("prefix", {"prefix": LARGEST})):
                with self.subTest(mode=mode, length=length, **keys):
                    seen = self.weights("blocks", length=length, block=length, mode=mode, mode_keys=keys) > 0
                    small = {k: min(v, 999) for k, v in keys.items()}
                    np.testing.assert_array_equal(seen, layouts.visible(mode, length, length, **small))

    def test_rectangles_are_seen_in_part(self):
        for shape in ((3, 7), (7, 3), (1, 9)):
            np.save(self.folder / "ones.npy", np.ones(shape))
            for mode, keys in VIEWS:
                with self.subTest(shape=shape, mode=mode, **keys):
                    settings = [f"--set=mode.{k}={str(v).lower()}" for k, v in keys.items()]
                    out = self.run_json("target", "ones.npy", "--mode", mode, *settings)
                    hidden = shape[0] * shape[1] - layouts.visible(mode, *shape, **keys).sum()
                    self.assertEqual(out.get("invisible_entries", 0), hidden)

    def test_patterns_are_cut_to_what_the_mode_shows(self):
        for plugin, keys in EXAMPLES[:-1]:  # random-sparse fills its diagonal
            whole = self.kept(plugin, length=41, **keys)
            for mode, mode_keys in VIEWS:
                with self.subTest(plugin=plugin, mode=mode, **keys):
                    kept = self.weights(plugin, mode=mode, mode_keys=mode_keys, length=41, **keys) > 0
                    np.testing.assert_array_equal(kept, whole & layouts.visible(mode, 41, 41, **mode_keys))


class Bounds(InFolder):
    """The number of entries that is promised before any is made: the memory they need is refused by it."""

    def promised(self, plugin, **keys):
        words = self.words({"plugin": plugin, **keys}, {"plugin": "bidirectional"})
        answer = self.run_program(*words)
        self.assert_refused(answer, 5, "needs about")
        return int(re.search(r"up to (\d+) entries", answer.err).group(1))

    def test_promises_are_the_formulas_where_there_is_one(self):
        n = 10**10 + 7  # too large for any memory
        for expected, plugin, keys in (
                (516 * 517 // 2 + (n - 516) * 516, "streaming", {}),
                (81 * 82 // 2 + (n - 81) * 81, "a-shape", {}),
                (n * 513 - 256 * 257, "longformer", {}),
                (n * 7 - 2 * 2 * (1 + 2 + 3), "longformer", {"window": 3, "dilation": 2}),
                (32 * 33 // 2 + (n - 32) * 32, "strided", {"head": "local"}),
                (n // 16 * 256 + 7 * 7, "blocks", {}),
                (n * 21 - 10 * 11, "sliding-window", {"radius": 10}),
        ):
            with self.subTest(plugin=plugin, **keys):
                self.assertEqual(self.promised(plugin, length=n, **keys), expected)

    def test_promises_are_close_where_there_is_no_simple_formula(self):
        n, block = 1 << 40, 16
        for about, plugin, keys in (
                (n * (n / 128) / 2 * 32, "fixed", {}),
                (n * n / 4, "fixed", {"variant": "deepspeed"}),
                (n * n / 8, "fixed", {"variant": "deepspeed", "direction": "unidirectional"}),
                (n * n / 64, "strided", {}),
                (2 * 2 * block * n + n * (3 + 3) * block, "bigbird", {}),
                (2 * block * n + n * (3 + 1) * block, "bigbird", {"variant": "deepspeed"}),
        ):
            with self.subTest(plugin=plugin, **keys):
                self.assertLess(abs(self.promised(plugin, length=n, **keys) / min(about, 2**62) - 1), 0.01)


if __name__ == "__main__":
    unittest.main()
