"""The installed program, and plugins built outside the tree against what was installed."""

import json
import os
import pathlib
import shutil
import subprocess
import unittest

import places
import support

BUILD = os.environ["ATTNSPAN_BUILD"]
CMAKE = os.environ["ATTNSPAN_CMAKE"]
COMPILER = os.environ["ATTNSPAN_COMPILER"]
SANITIZED = "a plugin built without the program's sanitizer is refused"


class Installed(places.InFolder):
    def tool(self, *words):
        """Runs a tool of the build; fails with what it said unless it ends well."""
        done = subprocess.run([*map(str, words)], cwd=self.folder, capture_output=True, text=True, timeout=250)
        self.assertEqual(done.returncode, 0, f"{' '.join(map(str, words))}\n{done.stdout}{done.stderr}")
        return done.stdout

    def installed(self, *words, root):
        """What the program installed below `root` prints; fails unless it ends well."""
        answer = support.run(words, self.folder, program=root / "bin" / "attnspan")
        self.assertEqual(answer.code, 0, f"attnspan {' '.join(map(str, words))}\n{answer.out}{answer.err}")
        return answer.out

    def plugins(self, *words, root):
        listed = json.loads(self.installed("plugins", "list", "--json", *words, root=root))
        self.assertEqual(listed["failures"], [])
        return {(plugin["kind"], plugin["name"]): pathlib.Path(plugin["file"]) for plugin in listed["plugins"]}

    def assert_template_works(self, root):
        """The template of the guide, copied out, builds with what is installed below `root`, and its plugins run."""
        shutil.copytree(root / "share/doc/attnspan/docs/template", self.folder, dirs_exist_ok=True)
        self.tool(CMAKE, "-S", ".", "-B", "build", f"-DCMAKE_PREFIX_PATH={root}",
                  f"-DCMAKE_CXX_COMPILER={COMPILER}", "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wconversion -Wshadow -Werror")
        self.tool(CMAKE, "--build", "build")
        path = ("--plugin-path", "build/plugins")
        found = self.plugins(*path, root=root)
        self.assertEqual(found["target", "acme.ring"].name, "target-acme.ring.so")
        self.assertEqual(found["projection", "acme.signs"].name, "projection-acme.signs.so")
        self.assertIn("neighbours", self.installed("plugins", "describe", "acme.ring", *path, root=root))
        result = json.loads(self.installed("run", "ring.toml", "--json", *path, root=root))
        self.assertTrue(result["passed"])
        self.assertEqual(result["targets"][0]["nonzeros"], 256)

        # One symbol and nothing else; the same bytes once more.
        for library in sorted((self.folder / "build/plugins").glob("*.so")):
            symbols = self.tool("nm", "--dynamic", "--defined-only", library).split("\n")
            self.assertEqual([line.split()[-1] for line in symbols if line], ["attnspan_plugin"])
            self.installed("plugins", "check", library, root=root)
        again = json.loads(self.installed("run", "ring.toml", "--json", "--threads", "1", *path, root=root))
        self.assertEqual(again["targets"], result["targets"])

    def assert_whole(self, root):
        """Below `root` the program finds its plugins there, all that the build has, with their kernels, and runs."""
        found = self.plugins(root=root)
        built = {(p["kind"], p["name"]) for p in self.run_json("plugins", "list")["plugins"]}
        self.assertEqual(set(found), built)
        for file in found.values():
            self.assertEqual(file.parent, root / "lib" / "attnspan" / "plugins")
        config = root / "share" / "doc" / "attnspan" / "configs" / "quickstart.toml"
        for backend in ("armadillo", "eigen"):
            result = self.installed("run", config, "--set", f"backend.plugin={backend}", "--json", root=root)
            self.assertTrue(json.loads(result)["passed"])


class Prefix(Installed):
    def setUp(self):
        super().setUp()
        self.prefix = self.folder / "prefix"
        self.tool(CMAKE, "--install", BUILD, "--prefix", self.prefix)

    def test_an_installation_is_whole_also_after_it_was_moved(self):
        self.assert_whole(self.prefix)
        moved = self.folder / "elsewhere"
        self.prefix.rename(moved)
        self.assert_whole(moved)

    def test_no_installed_library_looks_into_the_build_folder(self):
        libraries = sorted(self.prefix.rglob("*.so"))
        self.assertGreater(len(libraries), 10)
        for library in [*libraries, self.prefix / "bin" / "attnspan"]:
            dynamic = self.tool("readelf", "--dynamic", library)
            for line in dynamic.splitlines():
                if "(RUNPATH)" in line or "(RPATH)" in line:
                    self.assertIn("[$ORIGIN/../kernels]", line, library)

    @unittest.skipIf(os.environ.get("ATTNSPAN_SANITIZED"), SANITIZED)
    def test_the_template_builds_and_runs_outside_the_tree(self):
        self.assert_template_works(self.prefix)

    def test_the_function_refuses_what_is_no_kind(self):
        (self.folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(wrong LANGUAGES CXX)\n"
            "find_package(attnspan REQUIRED)\nattnspan_add_plugin(a KIND generator SOURCES a.cpp)\n")
        done = subprocess.run([CMAKE, "-S", ".", "-B", "build", f"-DCMAKE_PREFIX_PATH={self.prefix}",
                               f"-DCMAKE_CXX_COMPILER={COMPILER}"], cwd=self.folder, capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("KIND must be one of", done.stderr)


@unittest.skipUnless(shutil.which("dpkg-shlibdeps"), "the tools of Debian packages are missing")
class DebianPackage(Installed):
    def setUp(self):
        super().setUp()
        cpack = pathlib.Path(CMAKE).with_name("cpack")
        self.tool(cpack, "-G", "DEB", "--config", f"{BUILD}/CPackConfig.cmake", "-B", "package")
        [self.package] = (self.folder / "package").glob("*.deb")

    def test_it_holds_what_an_installation_holds_under_usr(self):
        self.tool("dpkg-deb", "-x", self.package, "unpacked")
        self.tool(CMAKE, "--install", BUILD, "--prefix", self.folder / "installed")
        unpacked, installed = ({str(path.relative_to(root)) for path in root.rglob("*")}
                               for root in (self.folder / "unpacked/usr", self.folder / "installed"))
        self.assertEqual(unpacked, installed)
        self.assertEqual([path.name for path in (self.folder / "unpacked").iterdir()], ["usr"])
        for file in ("bin/attnspan", "include/attnspan/plugin.hpp", "lib/attnspan/plugins/mode-causal.so",
                     "lib/cmake/attnspan/attnspan-config.cmake", "share/doc/attnspan/README.md",
                     "share/doc/attnspan/configs/quickstart.toml", "share/doc/attnspan/docs/template/ring.cpp",
                     "share/man/man1/attnspan-run.1", "share/bash-completion/completions/attnspan",
                     "share/zsh/vendor-completions/_attnspan", "share/fish/vendor_completions.d/attnspan.fish"):
            self.assertIn(file, unpacked)

    def test_it_is_whole(self):
        self.tool("dpkg-deb", "-x", self.package, "unpacked")
        self.assert_whole(self.folder / "unpacked/usr")

    @unittest.skipUnless(os.geteuid() == 0, "only root installs packages")
    @unittest.skipIf(os.environ.get("ATTNSPAN_SANITIZED"), SANITIZED)
    def test_dpkg_installs_it_the_template_builds_with_it_and_removing_it_leaves_nothing(self):
        root = self.folder / "root"
        for folder in ("updates", "info"):
            (root / "var/lib/dpkg" / folder).mkdir(parents=True)
        (root / "var/lib/dpkg/status").touch()
        # The libraries it depends on are the machine's; some machines leave documents out unless told.
        dpkg = ["dpkg", f"--root={root}", "--force-depends", "--path-include=/usr/share/doc/*", "--path-include=/usr/share/man/*"]
        self.tool(*dpkg, "--install", self.package)
        self.assert_whole(root / "usr")
        self.assert_template_works(root / "usr")
        self.tool(*dpkg, "--purge", "attnspan")
        self.assertEqual([path for path in root.rglob("*") if path.is_file() and "var" not in path.parts], [])

    def test_it_depends_on_the_libraries_that_are_linked(self):
        depends = self.tool("dpkg-deb", "--field", self.package, "Depends")
        for library in ("libc6 (>= ", "libstdc++6 (>= ", "libtbb12", "libopenblas0", "libfmt", "libzip4", "libpng16-16", "libssl3"):
            self.assertIn(library, depends)


if __name__ == "__main__":
    unittest.main()
