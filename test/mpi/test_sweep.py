#!/usr/bin/env python3
"""limber-mpi sweep: its table against `limber run` and free fall, on several numbers of ranks, interrupted, continued and refused.

    test_sweep.py LIMBER LIMBER_MPI
"""

import csv
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

LIMBER, TOOL = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
GRAVITY = 9.81
SCENE = {
    "limber": 1,
    "title": "A cube falls freely",
    "frames": 30,
    "gravity": [0, -GRAVITY, 0],
    "bodies": [{"name": "cube", "shape": {"name": "box", "size": [1, 1, 1], "detail": 4}, "lattice": {"spacing": 0.25, "width": 1},
                "material": {"hertz": 5}, "at": [0, 3, 0]}],
}
VARY = ["--vary", "bodies[0].material.hertz=2:8:log:3", "--vary", "gravity[1]=0,-5,-9.81"]
MEASURE = ["--measure", "height@cube", "--measure", "max:speed", "--measure", '{"measure": "height", "body": "cube", "at": 0.25}']


def launch(ranks, *arguments, folder, **more):
    """On Open MPI; as root in a container, and with more ranks than cores."""
    environment = dict(os.environ, OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                       OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_btl="self,vader")
    return subprocess.Popen(["mpirun", "-n", str(ranks), TOOL, *arguments], cwd=folder, env=environment, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, **more)


def sweep(ranks, *arguments, folder):
    process = launch(ranks, "sweep", "scene.json", *arguments, folder=folder)
    out, err = process.communicate(timeout=240)
    return process.returncode, out, err


def read(folder, name):
    with open(os.path.join(folder, name), newline="") as file:
        return file.read()


def rows(text):
    return list(csv.DictReader(text.splitlines()[1:]))


class Sweep(unittest.TestCase):
    def setUp(self):
        self.held = tempfile.TemporaryDirectory()
        self.folder = self.held.name
        with open(os.path.join(self.folder, "scene.json"), "w") as file:
            json.dump(SCENE, file)

    def tearDown(self):
        self.held.cleanup()

    def run_sweep(self, ranks, out, *more):
        code, said, err = sweep(ranks, *VARY, *MEASURE, "--out", out, *more, folder=self.folder)
        self.assertEqual(code, 0, err)
        return said

    def test_ranks_and_numbers(self):
        for ranks in (1, 4):
            said = self.run_sweep(ranks, "%d.csv" % ranks, *(["--plot", "plot.png"] if ranks == 4 else []))
            self.assertIn("9 runs, 0 finished before", said)
            shares = [int(n) for n in said.split("runs of each rank:")[1].split()]
            self.assertEqual((len(shares), sum(shares)), (ranks, 9))
            self.assertEqual(shares[0], 9 if ranks == 1 else 0)
        self.assertEqual(read(self.folder, "1.csv"), read(self.folder, "4.csv"))
        with open(os.path.join(self.folder, "plot.png"), "rb") as file:
            self.assertEqual(file.read(8), b"\x89PNG\r\n\x1a\n")
        table = rows(read(self.folder, "4.csv"))
        self.assertEqual([row["run"] for row in table], [str(n) for n in range(9)])
        hertz = [float(row["bodies[0].material.hertz"]) for row in table[::3]]
        self.assertEqual((hertz[0], hertz[2]), (2.0, 8.0))
        self.assertAlmostEqual(hertz[1], 4.0, places=12)
        h = 1.0 / 60.0  # of a step; with v += g h before x += v h, n steps fall g h² n (n + 1) / 2
        for row in table:
            g, n = -float(row["gravity[1]"]), SCENE["frames"]
            self.assertAlmostEqual(float(row["max:speed"]), g * n * h, delta=1e-4)
            # Substeps fall a little less: between the sum and its limit.
            low, high = 3 - g * h * h * n * (n + 1) / 2, 3 - g * (h * n) ** 2 / 2
            self.assertTrue(low - 1e-4 <= float(row["height@cube"]) <= high + 1e-4, row)
            at = float(row[MEASURE[5]])
            self.assertTrue(3 - g * h * h * 15 * 16 / 2 - 1e-4 <= at <= 3 - g * 0.25 ** 2 / 2 + 1e-4, row)
        for row in (table[1], table[8]):
            sets = ["%s=%s" % (path, row[path]) for path in ("bodies[0].material.hertz", "gravity[1]")]
            done = subprocess.run([LIMBER, "run", "scene.json", "--json", "--set", sets[0], "--set", sets[1]], cwd=self.folder,
                                  capture_output=True, text=True, timeout=120, check=True)
            self.assertEqual(json.loads(done.stdout)["hash"], row["hash"])

    def test_continued(self):
        """After a line was torn, and after one was lost: only those are run, and the table is the same."""
        self.run_sweep(3, "t.csv")
        whole = read(self.folder, "t.csv")
        lines = whole.splitlines(keepends=True)
        torn = "".join(lines[:2] + [lines[9], lines[2], lines[4]] + [lines[6][:-9]])
        with open(os.path.join(self.folder, "t.csv"), "w") as file:
            file.write(torn)
        self.assertIn("9 runs, 3 finished before", self.run_sweep(2, "t.csv"))
        self.assertEqual(read(self.folder, "t.csv"), whole)
        self.assertIn("9 runs, 9 finished before", self.run_sweep(4, "t.csv"))
        self.assertEqual(read(self.folder, "t.csv"), whole)

    def test_killed(self):
        """A rank is killed: the whole run ends, what was written stays, and the sweep goes on from there."""
        many = ["--vary", "bodies[0].material.hertz=2:8:lin:40", "--measure", "height", "--frames", "2000"]
        process = launch(3, "sweep", "scene.json", *many, "--out", "k.csv", folder=self.folder)
        path = os.path.join(self.folder, "k.csv")
        deadline = time.monotonic() + 120
        while not (os.path.exists(path) and read(self.folder, "k.csv").count("\n") >= 4) and time.monotonic() < deadline:
            self.assertIsNone(process.poll())
            time.sleep(0.05)
        with open("/proc/%d/task/%d/children" % (process.pid, process.pid)) as file:
            children = [int(child) for child in file.read().split()]
        self.assertEqual(len(children), 3)
        os.kill(children[-1], signal.SIGKILL)
        process.communicate(timeout=60)
        self.assertNotEqual(process.returncode, 0)
        left = read(self.folder, "k.csv")
        self.assertGreaterEqual(len(rows(left)), 2)
        finished = [line for line in left.splitlines(keepends=True)[2:] if line.endswith("\n")]
        # The rest would take long: finish a sweep of the same head with what is there.
        code, said, err = sweep(3, *many, "--out", "k.csv", folder=self.folder)
        self.assertEqual(code, 0, err)
        self.assertIn("40 runs, %d finished before" % len(finished), said)
        after = read(self.folder, "k.csv")
        for line in finished:
            self.assertIn(line, after)
        self.assertEqual([row["run"] for row in rows(after)], [str(n) for n in range(40)])

    def test_failures(self):
        code, _, err = sweep(3, "--vary", "bodies[0].material.hertz=5,-1", "--measure", "height", "--out", "f.csv", folder=self.folder)
        self.assertNotEqual(code, 0)
        self.assertIn("1 of 2 runs failed, one of them by: --set bodies[0].material.hertz=-1:", err)
        good, bad = rows(read(self.folder, "f.csv"))
        self.assertEqual((good["error"], bad["height"], bad["hash"]), ("", "", ""))
        self.assertIn("hertz", bad["error"])
        # It is tried again, and the good one is not.
        code, _, err = sweep(1, "--vary", "bodies[0].material.hertz=5,-1", "--measure", "height", "--out", "f.csv", folder=self.folder)
        self.assertEqual(len(rows(read(self.folder, "f.csv"))), 2)

    def test_refusals(self):
        whole = VARY + MEASURE + ["--out", "r.csv"]
        with open(os.path.join(self.folder, "r.csv"), "w") as file:
            file.write("something else\n")
        for arguments, words in ((whole, "not of this sweep"),
                                 (VARY + ["--measure", "heigth", "--out", "a.csv"], 'did you mean "height"'),
                                 (VARY + ["--measure", "soon:height", "--out", "a.csv"], "expected end:, max:"),
                                 (["--vary", "a=1:2:cos:3", *MEASURE, "--out", "a.csv"], "expected PATH=FROM:TO:lin:COUNT"),
                                 (["--vary", "a=-1:2:log:3", *MEASURE, "--out", "a.csv"], "above 0 for log"),
                                 (["--vary", "a=1,,2", *MEASURE, "--out", "a.csv"], "commas between"),
                                 (whole + ["--frames", "-3"], "--frames"),
                                 (whole + ["--what", "3"], "unknown option"),
                                 (VARY + MEASURE, "are needed"),
                                 (whole + ["--set", "bodies[0].mass=none"], "mass"),
                                 (VARY + ["--measure", "height@cub", "--out", "a.csv"], "there is no body \"cub\""),
                                 (VARY + ["--measure", "he\night", "--out", "a.csv"], "expected one line"),
                                 (VARY + MEASURE + ["--out", "no/such/folder.csv"], "no/such/folder.csv")):
            code, _, err = sweep(2, *arguments, folder=self.folder)
            self.assertNotEqual(code, 0, arguments)
            self.assertIn(words, err)
            self.assertEqual(err.count("limber-mpi: "), 1, err)
        self.assertEqual(read(self.folder, "r.csv"), "something else\n")
        self.assertFalse(os.path.exists(os.path.join(self.folder, "a.csv")))
        code, _, err = sweep(2, *VARY, "--measure", '{"measure": "height", "at": 9}', "--out", "late.csv", folder=self.folder)
        self.assertNotEqual(code, 0)
        self.assertIn("the run ended before the time of a measure", err)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
