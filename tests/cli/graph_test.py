"""The target `graph`: edge lists and adjacency matrices against NumPy, and what is refused, with its line."""

import unittest

import numpy as np

import places

DATA = places.shared_data()


class Graphs(places.InFolder):
    def words(self, file, *more):
        return ["target", "--set", "target.plugin=graph", "--set", f"target.path={file}",
                *(w for setting in more for w in ("--set", setting))]

    def describe(self, file, *more):
        """What is printed, and the weights as a dense array."""
        (self.folder / "run.toml").write_text('[target]\nplugin = "graph"\n')
        words = self.words(file, *more)
        out = self.run_json(words[0], "run.toml", *words[1:], "--write", "A.npy")
        return out, np.load(self.folder / "A.npy")

    def of_text(self, text, *more):
        (self.folder / "g.txt").write_text(text)
        return self.describe("g.txt", *more)


class EdgeLists(Graphs):
    def test_nodes_that_are_integers_are_numbered_ascending(self):
        out, a = self.of_text("10 9\n-3\t10\n 100   9 \n")
        expected = np.zeros((4, 4))  # -3, 9, 10, 100
        expected[[2, 0, 3], [1, 2, 1]] = 1
        np.testing.assert_array_equal(a, expected)
        self.assertEqual((out["rows"], out["nonzeros"], out["empty_rows"]), (4, 3, 1))

    def test_nodes_that_are_words_are_numbered_by_their_bytes(self):
        _, a = self.of_text("b 10\n10 a\n9 B\n")
        expected = np.zeros((5, 5))  # 10, 9, B, a, b
        expected[[4, 0, 1], [0, 3, 2]] = 1
        np.testing.assert_array_equal(a, expected)

    def test_the_order_of_the_lines_does_not_matter(self):
        draw = np.random.default_rng(3)
        edges = sorted({tuple(e) for e in draw.integers(0, 50, (200, 2))})
        lines = [f"{u} {v} {draw.integers(1, 9)}\n" for u, v in edges]
        _, first = self.of_text("".join(lines))
        draw.shuffle(lines)
        np.testing.assert_array_equal(self.of_text("".join(lines))[1], first)

    def test_comments_blank_lines_and_line_ends_of_windows_are_skipped(self):
        _, a = self.of_text("# u v\r\n\r\n% more\r\n1 2\r\n   \r\n  # x\r\n2 1\r\n")
        np.testing.assert_array_equal(a, [[0, 1], [1, 0]])

    def test_a_third_column_holds_the_weights_and_zeros_are_dropped_and_counted(self):
        out, a = self.of_text("1 2 0.5\n2 3 +2e0\n3 1 0\n")
        np.testing.assert_array_equal(a, [[0, 0.5, 0], [0, 0, 2], [0, 0, 0]])
        self.assertEqual(out["explicit_zeros"], 1)

    def test_duplicates_are_added_on_request(self):
        out, a = self.of_text("1 2 1\n2 1 3\n1 2 4\n01 2 5\n", "target.duplicates=sum")
        np.testing.assert_array_equal(a, [[0, 10], [3, 0]])
        self.assertEqual(out["duplicates"], 2)

    def test_symmetric_edges_go_both_ways_with_the_larger_weight(self):
        _, a = self.of_text("1 2 1\n2 1 3\n3 1 4\n2 2 5\n", "target.edges=symmetric")
        np.testing.assert_array_equal(a, [[0, 3, 4], [3, 5, 0], [4, 0, 0]])

    def test_self_loops_are_kept_added_or_removed(self):
        text = "1 2 3\n2 2 7\n3 2 4\n"
        base = np.array([[0, 3, 0], [0, 7, 0], [0, 4, 0]])
        for rule, expected in (("keep", base), ("add", base + np.diag([1, 0, 1])), ("remove", base - np.diag([0, 7, 0]))):
            with self.subTest(rule):
                np.testing.assert_array_equal(self.of_text(text, f"target.self_loops={rule}")[1], expected)

    def test_weights_can_be_made_up_instead(self):
        text = "1 2 3\n2 2 7\n2 3 9\n3 2 4\n"
        _, given = self.of_text(text)
        _, uniform = self.of_text(text, "target.weights=uniform")
        np.testing.assert_array_equal(uniform, given > 0)
        _, drawn = self.of_text(text, "target.weights=log-uniform", "target.variation=2")
        np.testing.assert_array_equal(drawn > 0, given > 0)
        self.assertTrue((drawn[given > 0] >= 1).all() and (drawn <= 2).all())

    def test_edges_that_the_mode_hides_are_left_out_and_counted(self):
        out, a = self.of_text("1 1\n1 2\n2 1\n2 3\n3 3\n", "mode.plugin=causal")
        np.testing.assert_array_equal(a, [[1, 0, 0], [1, 0, 0], [0, 0, 1]])
        self.assertEqual(out["invisible_entries_left_out"], 2)

    def test_nodes_without_edges_are_refused_by_run_unless_allowed(self):
        (self.folder / "run.toml").write_text('[target]\nplugin = "graph"\npath = "g.txt"\n')
        (self.folder / "g.txt").write_text("".join(f"{i} {i + 1}\n" for i in range(12)))
        self.assert_refused(self.run_program("run", "run.toml"), 4, "g.txt.*row 12")
        self.run_ok("run", "run.toml", "--set", "target.empty_rows=allow")


class Refused(Graphs):
    CASES = (
        ("a line of one word", "1 2\n3\n", r"g\.txt:2:2: .*target .*missing"),
        ("commas", "1,2\n", r"g\.txt:1:4: .*blanks"),
        ("a fourth column", "1 2 3 4\n", r"g\.txt:1:7: .*\"4\""),
        ("a weight too many", "1 2\n2 3 1\n", r"g\.txt:2:5: .*\"1\""),
        ("a weight too few", "1 2 1\n# c\n2 3\n", r"g\.txt:3:4: .*weight is missing"),
        ("a weight that is a word", "1 2 heavy\n", r"g\.txt:1:5: .*\"heavy\", expected a number"),
        ("a negative weight", "1 2 -1\n", r"g\.txt:1:5: .*not negative"),
        ("an infinite weight", "1 2 inf\n", r"g\.txt:1:5: .*finite"),
        ("a weight of nan", "1 2 nan\n", r"g\.txt:1:5: .*finite"),
        ("a weight out of range", "1 2 1e999\n", r"g\.txt:1:5: .*range"),
        ("an edge twice", "1 2\n2 1\n1 2\n", r"g\.txt:3:1: .*line 1.*duplicates = \"sum\""),
        ("headings", "from to\n1 2\n2 3\n", r"g\.txt:1:1: .*headings"),
        ("nothing", "", r"g\.txt: .*no edge"),
        ("comments alone", "# a\n\n", r"g\.txt: .*no edge"),
        ("binary data", "1 2\n\0\0\n", r"g\.txt: an edge list is expected, but this is"),
        ("a matrix that is not square", "%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 1\n",
         r"g\.txt: .*2 x 3"),
        ("a bad matrix", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 3 1\n", r"g\.txt:3:3: .*expected 1 to 2"),
    )

    def test_bad_graphs_are_refused_with_file_and_line(self):
        (self.folder / "run.toml").write_text('[target]\nplugin = "graph"\npath = "g.txt"\n')
        for what, text, says in self.CASES:
            with self.subTest(what):
                (self.folder / "g.txt").write_text(text)
                self.assert_refused(self.run_program("target", "run.toml"), 4, says)

    def test_sums_of_duplicates_that_overflow_are_refused(self):
        (self.folder / "run.toml").write_text('[target]\nplugin = "graph"\npath = "g.txt"\nduplicates = "sum"\n')
        (self.folder / "g.txt").write_text("1 2 1e308\n1 2 1e308\n")
        self.assert_refused(self.run_program("target", "run.toml"), 4, r"g\.txt:2:1: .*overflows")

    def test_a_variation_of_given_weights_is_refused(self):
        (self.folder / "run.toml").write_text('[target]\nplugin = "graph"\npath = "g.txt"\nvariation = 2.0\n')
        (self.folder / "g.txt").write_text("1 2\n2 1\n")
        self.assert_refused(self.run_program("target", "run.toml"), 2, r"run\.toml:4:1: target\.variation: .*\"given\"")


class Matrices(Graphs):
    def test_an_array_is_an_adjacency_matrix(self):
        a = np.triu(np.random.default_rng(1).integers(0, 4, (9, 9))).astype("f4")
        np.save(self.folder / "g.npy", a)
        np.testing.assert_array_equal(self.describe("g.npy")[1], a)
        both = np.maximum(a, a.T)
        np.testing.assert_array_equal(self.describe("g.npy", "target.edges=symmetric")[1], both)

    @unittest.skipUnless(DATA, "the shared data is not here (ATTNSPAN_SHARED_DATA)")
    def test_public_graphs_are_read_whole(self):
        graphs = DATA / "graphs"
        cora = np.loadtxt(graphs / "cora.cites", dtype=int)
        nodes, numbers = np.unique(cora, return_inverse=True)
        expected = np.zeros((nodes.size, nodes.size))
        expected[tuple(numbers.reshape(cora.shape).T)] = 1
        out, a = self.describe(graphs / "cora.cites")
        self.assertEqual((out["rows"], out["nonzeros"]), (2708, 5429))
        np.testing.assert_array_equal(a, expected)
        _, both = self.describe(graphs / "cora.cites", "target.edges=symmetric", "target.self_loops=add")
        np.testing.assert_array_equal(both, np.maximum(expected, expected.T) + np.eye(2708))

        lines = np.loadtxt(graphs / "1a8o_contacts.mtx", comments="%", dtype=int)
        contacts = np.zeros(lines[0, :2])
        i, j, count = lines[1:].T
        contacts[i - 1, j - 1] = contacts[j - 1, i - 1] = count
        out, a = self.describe(graphs / "1a8o_contacts.mtx")
        np.testing.assert_array_equal(a, contacts)
        self.assertEqual((out["nonzeros"], out["sum"]), (574, 7800))


if __name__ == "__main__":
    unittest.main()
