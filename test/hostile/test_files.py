#!/usr/bin/env python3
"""Every output of the tool is whole or not there, and the exit code tells: writes that hit a size limit or a full disk, and standard
streams that are closed or full.

    test_files.py LIMBER

A command is run once undisturbed; what it writes then is what may be there after a disturbed run, and nothing else may be.
"""

import itertools
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

LIMBER = os.path.abspath(sys.argv[1])
CAN_DRAW = subprocess.run([LIMBER, "shape", "box", "--out", "/nonexistent/x.png"], capture_output=True,
                          text=True).stderr.find("without pictures") < 0

OUTPUTS = {  # name: arguments, files
    "run": (["run", "modes", "--frames", "2", "--out", "."], ["surfaces.obj", "state.limber", "summary.json"]),
    "obj": (["shape", "duck", "--detail", "24", "--out", "x.obj"], ["x.obj"]),
}
EXPORTS = {"pc2": ["x.pc2", "x.obj"], "usda": ["x.usda"], "glb": ["x.glb"], "csv": ["x.csv"],
           "ply": ["x.%04d.ply" % n for n in range(3)],
           "vtu": ["x.pvd"] + ["x.%s.%04d.vtu" % (part, n) for part in ("particles", "surface") for n in range(3)]}
for ending, names in EXPORTS.items():
    OUTPUTS["export " + ending] = (["export", "twist", "--frames", "2", "--out", "x." + ending], names)
if CAN_DRAW:
    OUTPUTS["picture"] = (["shape", "duck", "--detail", "24", "--picture", "64x64", "--out", "x.png"], ["x.png"])
    OUTPUTS["render"] = (["render", "modes", "--at", "0", "--size", "64x64", "--out", "x.png"], ["x.png"])
    if shutil.which("ffmpeg"):
        OUTPUTS["video"] = (["render", "modes", "--frames", "3", "--size", "64x64", "--out", "x.mp4"], ["x.mp4"])
# Of these fewer ways, but for `make test-long`.
DRAWN = ["picture", "render", "video"] + [name for name in OUTPUTS if name.startswith("export")]
LONG = "LIMBER_TEST_LONG" in os.environ
SAYING = [["list"], ["schema"], ["info", "modes"], ["--help"], ["--version"], ["run", "--help"], ["devices"],
          ["validate", "--list"], ["validate", "--quick", "--only", "cost"],
          ["run", "modes", "--frames", "1"], ["run", "modes", "--frames", "1", "--json"], ["bench", "polar", "--quick"]]


class Files(unittest.TestCase):
    def run_in(self, folder, arguments, before=None, **streams):
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
        return subprocess.run([LIMBER, *arguments], cwd=folder, preexec_fn=before, timeout=300, **options)

    def contents(self, folder):
        found = {}
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), "rb") as file:
                found[name] = file.read()
        return found

    def undisturbed(self, name):
        with tempfile.TemporaryDirectory() as folder:
            arguments, files = OUTPUTS[name]
            done = self.run_in(folder, arguments)
            self.assertEqual(done.returncode, 0, done.stderr)
            found = self.contents(folder)
            self.assertEqual(sorted(found), sorted(files))
            return found

    def check(self, name, folder, code, whole, told):
        """All files are there and as they should be, or none is; and 0 says that they are."""
        found = self.contents(folder)
        self.assertIn(code, (0, 1), told)
        self.assertTrue(set(found) == set(whole) or not found, (told, sorted(found), code))
        self.assertTrue(found or code == 1, (told, "nothing was written, and the exit code is 0"))
        for file, bytes_found in found.items():
            if file == "summary.json":  # it has times in it
                self.assertEqual(json.loads(bytes_found)["hash"], json.loads(whole[file])["hash"], told)
            else:
                self.assertEqual(bytes_found, whole[file], (told, file))
        return bool(found)

    def test_size_limits(self):
        for name in OUTPUTS:
            whole = self.undisturbed(name)
            largest = max(len(bytes_found) for bytes_found in whole.values())
            some = {100, largest - 1} if name in DRAWN and not LONG else {0, 1, 100, largest // 2, largest - 1}
            for limit in sorted(some):
                with self.subTest(name=name, limit=limit), tempfile.TemporaryDirectory() as folder:
                    done = self.run_in(folder, OUTPUTS[name][0],
                                       lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
                    self.assertEqual(done.returncode, 1, (name, limit, done.stderr))
                    self.assertRegex(done.stderr.decode(), r"\Alimber: [^\n]+\n\Z")
                    there = self.check(name, folder, done.returncode, whole, (name, limit))
                    self.assertFalse(there)

    def test_earlier_files_stay(self):
        """What cannot be replaced stays as it was."""
        whole = self.undisturbed("run")
        with tempfile.TemporaryDirectory() as folder:
            for file in whole:
                with open(os.path.join(folder, file), "w") as old:
                    old.write("old")
            limit = len(whole["summary.json"]) - 1  # the largest fails
            done = self.run_in(folder, OUTPUTS["run"][0],
                               lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
            self.assertEqual(done.returncode, 1)
            self.assertEqual(self.contents(folder), {file: b"old" for file in whole})

    def test_full_disk(self):
        """A disk of a few pages, in a namespace of its own; left out where that is not allowed."""
        self.full_disk("run")

    def test_exports_on_a_full_disk(self):
        for name in OUTPUTS:
            if name.startswith("export") and name != "export csv":  # that is less than a page
                self.full_disk(name)

    def full_disk(self, name):
        whole = self.undisturbed(name)
        largest = max(len(bytes_found) for bytes_found in whole.values())
        script = 'mount -t tmpfs -o size="$1" none "$2" && cd "$2" && shift 2 && "$@" >/dev/null 2>&1; echo "$?" && ls -A'
        for size in (4096, largest // 2, 16 * largest + 65536):
            with self.subTest(name=name, size=size), tempfile.TemporaryDirectory() as folder:
                try:
                    done = subprocess.run(["unshare", "-rm", "sh", "-c", script, "sh", str(size), folder, LIMBER,
                                           *OUTPUTS[name][0]], capture_output=True, text=True, timeout=300)
                except FileNotFoundError:
                    self.skipTest("there is no unshare")
                if done.stderr:
                    self.skipTest(done.stderr)
                code, *names = done.stdout.split()
                enough = size > 16 * largest
                self.assertEqual(code, "0" if enough else "1")
                self.assertEqual(sorted(names), sorted(whole) if enough else [])

    def test_closed_streams(self):
        """Whichever standard streams are closed, files are whole; that nothing can be said on standard output is a failure."""
        for name in OUTPUTS:
            whole = self.undisturbed(name)
            some = [(False, False, True), (True, True, True)]
            for closed in some if name in DRAWN and not LONG else itertools.product((False, True), repeat=3):
                with self.subTest(name=name, closed=closed), tempfile.TemporaryDirectory() as folder:
                    done = self.run_in(folder, OUTPUTS[name][0],
                                       lambda: [os.close(n) for n in range(3) if closed[n]])
                    self.assertEqual(done.returncode, 1 if closed[1] else 0, done.stderr)
                    self.assertTrue(self.check(name, folder, done.returncode, whole, (name, closed)))

    def test_nothing_to_say_it_to(self):
        """With standard error closed or full the exit code still tells."""
        with tempfile.TemporaryDirectory() as folder, open("/dev/full", "w") as full:
            wrong = ["run", "modes", "--frames", "1", "--out", "/dev/null/x"]
            self.assertEqual(self.run_in(folder, wrong, lambda: os.close(2)).returncode, 1)
            self.assertEqual(self.run_in(folder, wrong, stderr=full).returncode, 1)
            self.assertEqual(self.run_in(folder, ["run"], lambda: os.close(2)).returncode, 2)
            self.assertEqual(self.contents(folder), {})

    def test_standard_output(self):
        """Full, closed, or a file that may not grow: everything that is said there is said or failed."""
        with tempfile.TemporaryDirectory() as folder, open("/dev/full", "w") as full:
            for arguments in SAYING:
                with self.subTest(arguments=arguments):
                    self.assertEqual(self.run_in(folder, arguments, stdout=full).returncode, 1)
                    self.assertEqual(self.run_in(folder, arguments, lambda: os.close(1)).returncode, 1)
                    with open(os.path.join(folder, "said"), "w") as said:
                        done = self.run_in(folder, arguments, stdout=said,
                                           before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (5, 5)))
                    self.assertEqual(done.returncode, 1, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
