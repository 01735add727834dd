#!/usr/bin/env python3
"""`limber validate`: what it finds is within its limits, what it writes is a page with its plots, and what is wrong is refused.

    test_validate.py LIMBER
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

LIMBER = os.path.abspath(sys.argv[1])
STUDIES = ["hanging", "poisson", "compression", "cantilever", "torsion", "wave", "beam", "default", "drift", "cloth", "cost"]


def run(*arguments, folder=None):
    return subprocess.run([LIMBER, "validate", *arguments], capture_output=True, text=True, timeout=600, cwd=folder)


class Validate(unittest.TestCase):
    def test_quick(self):
        """All studies, within their limits, with something of each sampling."""
        with tempfile.TemporaryDirectory() as folder:
            done = run("--quick", "--json", "--out", os.path.join(folder, "docs"))
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            lines = [json.loads(line) for line in done.stdout.splitlines()]
            self.assertEqual(sorted({line["study"] for line in lines}), sorted(STUDIES))
            for sampling in ("lattice", "octree", "tetrahedra"):
                self.assertGreater(sum(line.get("sampling") == sampling for line in lines), 4)
            checks = [line for line in lines if "check" in line]
            self.assertGreater(len(checks), 25)
            for line in checks:
                self.assertTrue(line["low"] <= line["value"] <= line["high"] and line["good"], line)
            with open(os.path.join(folder, "docs", "validation.md")) as file:
                page = file.read()
            self.assertIn("limber validate --quick --out docs", page)
            self.assertIn("%d of %d values are within their limits" % (len(checks), len(checks)), page)
            pictures = re.findall(r"!\[[^\]]+\]\((pictures/validation-[a-z-]+\.png)\)", page)
            self.assertEqual(len(set(pictures)), len(pictures))
            self.assertGreaterEqual(len(pictures), 9)
            for name in pictures:
                with open(os.path.join(folder, "docs", name), "rb") as file:
                    self.assertEqual(file.read(8), b"\x89PNG\r\n\x1a\n")

    def test_one(self):
        done = run("--quick", "--only", "wave")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("Speed of a wave in a rod\n", done.stdout)
        self.assertNotIn("Hanging", done.stdout)
        self.assertRegex(done.stdout, r"\n(\d+) of \1 values are within their limits, [0-9.]+ s of processor time\n$")

    def test_list_and_help(self):
        done = run("--list")
        self.assertEqual([line.split()[0] for line in done.stdout.splitlines()], STUDIES)
        done = run("--help")
        self.assertEqual(done.returncode, 0)
        for name in STUDIES + ["--only", "--quick", "--json", "--out"]:
            self.assertIn(name, done.stdout)

    def test_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "file"), "w"):
                pass
            for arguments, code, line in (
                (["--only", "wav"], 2, 'no study "wav" (expected %s; did you mean "wave"?)' % ", ".join(STUDIES)),
                (["--only", ""], 2, "no study"),
                (["--only"], 2, "--only"),
                (["hanging"], 2, "hanging"),
                (["--quick=3"], 2, "--quick"),
                (["--out", ""], 2, "expected the name of a folder"),
                (["--quick", "--only", "wave", "--out", "file"], 1, "file: is no folder"),
                (["--quick", "--only", "wave", "--out", "no/such/place"], 1, "cannot be made"),
                (["--quick", "--only", "wave", "--out", "x" * 2000], 1, "too long"),
            ):
                done = run(*arguments, folder=folder)
                self.assertEqual(done.returncode, code, (arguments, done.stderr))
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                self.assertIn(line, done.stderr)
            self.assertEqual(os.listdir(folder), ["file"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
