#!/usr/bin/env python3
"""Caches as colliders, as users have them: a body's motion is exported in every format that moves one mesh; a scene takes it as a collider
that deforms, and a soft ball rides on it; files that do not fit, or lie, are refused with one line.

    test_caches.py LIMBER
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

LIMBER = sys.argv[1]

# A mat that sags between two hands, which lift it.
MAT = {"limber": 1, "frames": 90,
       "bodies": [{"name": "mat", "shape": {"name": "box", "size": [2, 0.2, 2], "detail": 8}, "at": [0, 1, 0],
                   "lattice": {"spacing": 0.1, "width": 2}, "mass": 5, "material": {"hertz": 12}}],
       "movers": [{"name": "hand", "keyframes": [{"time": 0, "at": [0, 0, 0]}, {"time": 1.5, "at": [0, 0.8, 0]}]}],
       "pins": [{"body": "mat", "where": {"min": [-1.1, -1, -1.1], "max": [-0.95, 2, 1.1]}, "mover": "hand"},
                {"body": "mat", "where": {"min": [0.95, -1, -1.1], "max": [1.1, 2, 1.1]}, "mover": "hand"}]}

CACHES = {"PC2": ({"file": "mat.obj", "origin": "file"}, {"file": "mat.pc2"}),
          "MDD": ({"file": "mat.obj", "origin": "file"}, {"file": "mat.mdd"}),
          "joints": ({"file": "joints.glb", "origin": "file"}, {}),
          "morphs": ({"file": "morphs.glb", "origin": "file"}, {})}


def ride(mesh, cache, **more):
    return dict({"limber": 1, "frames": 90, "substeps": 2,
                 "bodies": [{"name": "ball", "shape": {"name": "sphere", "size": [0.4, 0.4, 0.4]}, "at": [0, 1.4, 0],
                             "lattice": {"particles": 150}, "material": {"hertz": 12, "friction": 1}}],
                 "colliders": [{"shape": "mesh", "mesh": mesh, "cache": cache, "solid": True, "friction": 2}]}, **more)


def limber(*arguments):
    return subprocess.run([LIMBER, *arguments], capture_output=True, text=True)


class Caches(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.write("mat.json", MAT)
        for out, options in (("mat.pc2", []), ("mat.mdd", ["--fps", "30"]), ("joints.glb", ["--joints", "128"]),
                             ("morphs.glb", ["--motion", "morphs"])):
            done = limber("export", cls.path("mat.json"), "--out", cls.path(out), *options)
            assert done.returncode == 0, done.stderr

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder.name, name)

    @classmethod
    def write(cls, name, scene):
        with open(cls.path(name), "w") as file:
            json.dump(scene, file)
        return cls.path(name)

    def height(self, scene, frame):
        """Of the ball after so many frames."""
        path = self.write("ride.json", scene)
        done = limber("export", path, "--from", str(frame), "--frames", str(frame), "--out", self.path("ball.csv"))
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("ball.csv")) as file:
            header, *lines = file.read().splitlines()
        values = dict(zip(header.split(","), lines[-1].split(",")))
        return float(values["centre_y"] if "centre_y" in values else values["centre.y"])

    def test_a_ball_rides_on_every_format(self):
        heights = {name: self.height(ride(*made), 89) for name, made in CACHES.items()}
        still = self.height(ride(*CACHES["PC2"]) | {"colliders": [
            {"shape": "mesh", "mesh": CACHES["PC2"][0], "solid": True}]}, 89)
        for name, height in heights.items():
            self.assertGreater(height, still + 0.3, name)  # the mat lifted it
            self.assertAlmostEqual(height, heights["PC2"], delta=0.05, msg=name)

    def test_the_motion_can_be_stretched_turned_and_repeated(self):
        mesh, cache = CACHES["PC2"]
        rest = self.height(ride(mesh, dict(cache, speed=0)), 89)
        whole = self.height(ride(mesh, cache), 89)
        half = self.height(ride(mesh, dict(cache, fps=30)), 89)
        self.assertLess(rest + 0.04, half)  # at half the rate it is half as far
        self.assertLess(half + 0.2, whole)
        again = self.height(ride(mesh, dict(cache, speed=2, loop=True)), 60)
        once = self.height(ride(mesh, dict(cache, speed=2)), 60)
        self.assertLess(again + 0.15, once)  # it began again at the bottom

    def test_the_run_is_the_same_on_every_number_of_threads_and_after_a_restart(self):
        path = self.write("ride.json", ride(*CACHES["morphs"]))
        hashes = {limber("run", path, "--threads", threads, "--json").stdout.split('"hash": ')[1].split(",")[0]
                  for threads in "13"}
        self.assertEqual(len(hashes), 1)

    def refuse(self, scene, *words):
        done = limber("run", self.write("bad.json", scene))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_what_does_not_fit_is_refused(self):
        mesh, cache = CACHES["PC2"]
        with open(self.path("mat.pc2"), "rb") as file:
            whole = file.read()
        for name, data in (("short.pc2", whole[:-7]), ("empty.pc2", b""), ("lies.pc2", whole[:28] + b"\xff" * 4 + whole[32:]),
                           ("nan.pc2", whole[:32] + b"\0\0\xc0\x7f" + whole[36:])):
            with open(self.path(name), "wb") as file:
                file.write(data)
        with open(self.path("other.obj"), "w") as file:
            file.write("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
        self.refuse(ride(mesh, {"file": "short.pc2"}), "short.pc2", "ends within frame 90")
        self.refuse(ride(mesh, {"file": "empty.pc2"}), "empty.pc2", "does not begin")
        self.refuse(ride(mesh, {"file": "lies.pc2"}), "ends within")
        self.refuse(ride(mesh, {"file": "nan.pc2"}), "point 0 is not finite")
        self.refuse(ride(mesh, {"file": "none.pc2"}), "none.pc2")
        self.refuse(ride(mesh, {}), "no motion")
        self.refuse(ride({"file": "other.obj"}, cache), "vertices (expected 3")
        self.refuse(ride(CACHES["morphs"][0], {"animation": "walk"}), "no animation")
        self.refuse(ride(mesh, cache) | {"colliders": [{"shape": "plane", "cache": cache}]}, "cache", "moves nothing")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
