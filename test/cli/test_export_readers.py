#!/usr/bin/env python3
"""What `limber export` writes, read by other people's programs: gltf-validator, three.js and TinyUSDZ in node, Blender in the background, VTK.

    test_export_readers.py LIMBER READERS

READERS is a folder with node_modules (tools/setup readers makes it). A reader that is not there is a failure: tools/setup readers installs
them. Positions agree with those of a PLY sequence to 1e-5 of the size at five frames, counts and the sense of triangles too.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import export_files as files  # noqa: E402

LIMBER, READERS = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "readers")
SCENES = ["twist", "modes"]
FRAMES, RATE, COUNT = 48, 15, 13
LOOKED_AT = [0, 3, 6, 9, 12]


class Readers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.frames, cls.loss = {}, {}
        for scene in SCENES:
            for name, *more in (("ply",), ("usda",), ("pc2",), ("mdd",), ("vtu",), ("joints.glb",), ("eight.glb", "--influences", "8"),
                                ("morphs.glb", "--motion", "morphs")):
                done = subprocess.run([LIMBER, "export", scene, "--frames", str(FRAMES), "--fps", str(RATE), "--out",
                                       cls.path("%s.%s" % (scene, name)), *more], capture_output=True, text=True)
                assert done.returncode == 0, done.stderr
                if "up to" in done.stdout:
                    cls.loss[scene, name] = float(done.stdout.split("up to ")[1].split()[0]) / 1000
            cls.frames[scene] = [files.read_ply(cls.path("%s.%04d.ply" % (scene, i))) for i in range(COUNT)]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder.name, name)

    def read(self, command):
        """Runs a reader that ends with a line of JSON: a list of frames, each with points and triangles of all meshes, by name."""
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:] + done.stdout[-2000:])
        line = next(line for line in done.stdout.splitlines() if line.startswith("READ "))
        return json.loads(line[5:])

    def compare(self, scene, frames, name="ply"):
        """`frames` are those of LOOKED_AT. Meshes come in the order of the file. A GLB with joints is compared with what it says,
        which is as far from the PLY files as was told (test_export.py)."""
        self.assertEqual(len(frames), len(LOOKED_AT))
        jointed = files.Glb(self.path("%s.%s" % (scene, name))) if (scene, name) in self.loss else None
        for index, meshes in zip(LOOKED_AT, frames):
            points, faces = [], []
            for mesh in meshes:
                faces += [tuple(len(points) + i for i in t) for t in files.triples(mesh["triangles"])]
                points += files.triples(mesh["points"])
            wanted, triangles = jointed.frame(index) if jointed else self.frames[scene][index]
            self.assertLess(files.distance(points, wanted), 1e-5 * files.size(wanted), (scene, name, index))
            self.assertEqual(sorted(map(turned, faces)), sorted(map(turned, triangles)))
            self.assertGreater(files.volume(points, faces), 0)

    def node(self, script, *arguments):
        self.assertTrue(os.path.isdir(os.path.join(READERS, "node_modules", "three")), "tools/setup readers")
        return self.read(["node", os.path.join(HERE, script), READERS, *arguments])

    # ---- node ----

    def test_validator(self):
        for scene in SCENES:
            for name in ("joints.glb", "eight.glb", "morphs.glb"):
                report = self.node("validate.mjs", self.path("%s.%s" % (scene, name)))
                self.assertEqual((report["numErrors"], report["numWarnings"]), (0, 0), report["messages"])

    def test_three(self):
        """three.js plays four influences for each vertex."""
        for scene in SCENES:
            for name in ("joints.glb", "morphs.glb"):
                frames = self.node("three_glb.mjs", self.path("%s.%s" % (scene, name)), *(str(i / RATE) for i in LOOKED_AT))
                self.compare(scene, frames, name)

    def test_three_attributes(self):
        """Normals are those of the triangles as they are bent, colours those of the PLY file in linear light."""
        done = subprocess.run([LIMBER, "export", "liver-cut", "--frames", "16", "--fps", "15", "--out", self.path("liver.ply")],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        _, wanted, _ = files.read_ply_colours(self.path("liver.0004.ply"))
        self.assertGreater(len(set(wanted)), 10)
        for motion in ("joints", "morphs"):
            path = self.path("liver.%s.glb" % motion)
            done = subprocess.run([LIMBER, "export", "liver-cut", "--frames", "16", "--fps", "15", "--motion", motion, "--out", path],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            mesh, = self.node("three_attributes.mjs", path, "%.9f" % (4 / 15))
            colours = files.triples(mesh["colours"])
            self.assertEqual(len(colours), len(wanted))
            for rgb, linear in zip(wanted, colours):
                for c, found in zip(rgb, linear):
                    c /= 255
                    self.assertAlmostEqual(found, c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4, delta=2e-5)
            self.check_normals(mesh)

    def check_normals(self, mesh):
        """Against sums of the normals of triangles, weighted by area."""
        points = files.triples(mesh["points"])
        sums = [[0.0, 0.0, 0.0] for _ in points]
        for triangle in files.triples(mesh["triangles"]):
            p, q, r = (points[i] for i in triangle)
            u, v = [b - a for a, b in zip(p, q)], [b - a for a, b in zip(p, r)]
            for k in range(3):
                n = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3]
                for i in triangle:
                    sums[i][k] += n
        cosines = [sum(a * b for a, b in zip(n, s)) / max(1e-30, sum(a * a for a in s) ** 0.5)
                   for n, s in zip(files.triples(mesh["normals"]), sums)]
        self.assertGreater(sum(cosines) / len(cosines), 0.995)
        self.assertGreater(sum(c > 0.95 for c in cosines) / len(cosines), 0.98)

    def test_three_usd(self):
        for scene in SCENES:
            frames = self.node("three_usda.mjs", self.path(scene + ".usda"), *map(str, LOOKED_AT))
            self.compare(scene, frames)

    def test_tiny_usd(self):
        """TinyUSDZ reads a file by the schemas of USD, at the first time code: a file for each frame, and the whole one."""
        for scene in SCENES:
            paths = []
            for index in LOOKED_AT:
                paths.append(self.path("%s.%d.usda" % (scene, index)))
                frame = str(60 // RATE * index)
                done = subprocess.run([LIMBER, "export", scene, "--from", frame, "--frames", frame, "--out", paths[-1]],
                                      capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
            whole, *frames = self.node("tiny_usda.mjs", self.path(scene + ".usda"), *paths)
            self.assertEqual(whole, frames[0])
            self.compare(scene, frames)

    def test_usd_with_cuts(self):
        """A body that is cut while it is written: three.js reads the whole file and TinyUSDZ, which has no colours that change, its first
        and its last frame alone. After the cuts there are more triangles, and they enclose as much."""
        path, begin, end = (self.path(name) for name in ("cut.usda", "begin.usda", "end.usda"))
        for out, *more in ((path, "--frames", "60", "--fps", "10"), (begin, "--frames", "0"), (end, "--from", "60", "--frames", "60")):
            done = subprocess.run([LIMBER, "export", "liver-cut", "--out", out, *more], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
        first, cut = self.node("three_usda.mjs", path, "0", "10")
        for tiny, three in zip(self.node("tiny_usda.mjs", begin, end), (first, cut)):
            self.assertEqual([mesh["triangles"] for mesh in tiny], [mesh["triangles"] for mesh in three])
            for a, b in zip(tiny, three):
                self.assertLess(files.distance(files.triples(a["points"]), files.triples(b["points"])), 1e-6)
        volumes = [files.volume(files.triples(m["points"]), files.triples(m["triangles"])) for m in (first[0], cut[0])]
        self.assertGreater(len(cut[0]["triangles"]), len(first[0]["triangles"]))
        self.assertAlmostEqual(volumes[1] / volumes[0], 1, delta=0.1)

    # ---- Blender ----

    def blender(self, *arguments):
        program = shutil.which("blender")
        self.assertIsNotNone(program, "tools/setup readers")
        return self.read([program, "-b", "--factory-startup", "-noaudio", "--python-exit-code", "1", "-P",
                          os.path.join(HERE, "blender_read.py"), "--", *arguments])

    def test_blender_glb(self):
        for scene in SCENES:
            for name in ("joints.glb", "eight.glb", "morphs.glb"):
                frames = self.blender("glb", self.path("%s.%s" % (scene, name)), str(RATE), *map(str, LOOKED_AT))
                self.compare(scene, frames, name)

    def test_blender_caches(self):
        for scene in SCENES:
            for kind in ("pc2", "mdd"):
                frames = self.blender(kind, self.path("%s.%s" % (scene, kind)), str(RATE), *map(str, LOOKED_AT))
                self.compare(scene, frames)

    # ---- VTK ----

    def test_vtk(self):
        for scene in SCENES:
            frames = self.read(["/usr/bin/python3", os.path.join(HERE, "vtk_read.py"), self.path(scene + ".pvd"),
                                *map(str, LOOKED_AT)])
            self.compare(scene, frames["frames"])
            for arrays in frames["particles"]:
                self.assertEqual(arrays, {"velocity": 3, "mass": 1, "strain": 6, "stretch": 1, "stress": 6,
                                          "von_mises": 1, "region": 1, "piece": 1, "body": 1})


def turned(triangle):
    """The same corners in the same sense, the lowest first."""
    least = min(range(3), key=lambda k: triangle[k])
    return tuple(triangle[(least + k) % 3] for k in range(3))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
