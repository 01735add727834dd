#!/usr/bin/env python3
"""`limber export`: every format read back here, with the same frames in all of them; what is refused; memory that does not grow with
the number of frames. (test_export_readers.py has the readers of other people.)

    test_export.py LIMBER
"""

import csv
import glob
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import export_files as files  # noqa: E402

LIMBER = os.path.abspath(sys.argv[1])
SANITIZED = "sanitize" in LIMBER or "tsan" in LIMBER  # memory of these says nothing
FRAMES, RATE = 48, 15  # 13 frames from 0 to 0.8 s
COUNT = 13


# A column of a metre on a floor without friction; the stress at a height is the weight above, over the area.
COLUMN = """{"limber": 1, "substeps": 8, "frames": 300, "colliders": [{"shape": "plane", "friction": 0}],
 "bodies": [{"shape": {"name": "box", "size": [0.5, 1, 0.5], "detail": 4}, "at": [0, 0.5, 0], "density": 1000,
  "lattice": {"spacing": 0.1, "width": 2}, "material": {"young": 1e6, "poisson": 0.2, "damping_ratio": 0.5, "friction": 0}}]}"""


def von_mises(stress):
    """From xx yy zz xy yz zx."""
    xx, yy, zz, xy, yz, zx = stress
    return math.sqrt(0.5 * ((xx - yy) ** 2 + (yy - zz) ** 2 + (zz - xx) ** 2) + 3 * (xy * xy + yz * yz + zx * zx))


class Export(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.told = {}
        for name in ("t.ply", "t.obj", "t.pc2", "t.mdd", "t.vtu", "t.csv", "t.usda", "t.glb"):
            cls.told[name] = cls.export("twist", name)
        cls.export("twist", "m.glb", "--motion", "morphs")
        cls.told["eight"] = cls.export("twist", "e.glb", "--influences", "8", "--joints", "64")
        cls.frames = [files.read_ply(cls.path("t.%04d.ply" % i)) for i in range(COUNT)]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder.name, name)

    @classmethod
    def run_limber(cls, *arguments):
        return subprocess.run([LIMBER, *arguments], capture_output=True, text=True, timeout=300, cwd=cls.folder.name)

    @classmethod
    def export(cls, scene, name, *more):
        done = cls.run_limber("export", scene, "--frames", str(FRAMES), "--fps", str(RATE), "--out", name, *more)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def same(self, points, index, most=1e-6):
        reference = self.frames[index][0]
        self.assertLess(files.distance(points, reference), most * files.size(reference))

    # ---- formats ----

    def test_against_run(self):
        """The last frame is what `limber run` ends with."""
        self.assertEqual(self.run_limber("run", "twist", "--frames", str(FRAMES), "--out", "run").returncode, 0)
        points, faces = files.read_obj(self.path("run/surfaces.obj"))
        self.same(points, COUNT - 1)
        self.assertEqual(faces, [tuple(t) for t in self.frames[-1][1]])

    def test_moves(self):
        """The frames differ, and their triangles look outward."""
        self.assertGreater(files.distance(self.frames[0][0], self.frames[6][0]), 0.05)
        for points, faces in self.frames:
            self.assertGreater(files.volume(points, faces), 0.1)

    def test_obj(self):
        for i in range(COUNT):
            points, faces = files.read_obj(self.path("t.%04d.obj" % i))
            self.same(points, i)
            self.assertEqual(faces, [tuple(t) for t in self.frames[i][1]])
        self.assertFalse(os.path.exists(self.path("t.%04d.obj" % COUNT)))

    def test_caches(self):
        caches = files.read_pc2(self.path("t.pc2"))
        times, others = files.read_mdd(self.path("t.mdd"))
        self.assertEqual((len(caches), len(others)), (COUNT, COUNT))
        for i in range(COUNT):
            self.same(caches[i], i)
            self.same(others[i], i)
            self.assertAlmostEqual(times[i], i / RATE, 6)
        points, faces = files.read_obj(self.path("t.obj"))
        self.same(points, 0)
        self.assertEqual(faces, [tuple(t) for t in self.frames[0][1]])

    def test_vtu(self):
        with open(self.path("t.pvd")) as file:
            entries = re.findall(r'timestep="([^"]+)" part="(\d)" name="\w+" file="([^"]+)"', file.read())
        self.assertEqual(len(entries), 2 * COUNT)
        for i in range(COUNT):
            self.assertAlmostEqual(float(entries[2 * i][0]), round(i * 60 / RATE) / 60, 9)
            surface = files.read_vtu(self.path(entries[2 * i + 1][2]))
            self.same(files.triples(surface["Points"]), i)
            self.assertEqual([tuple(t) for t in files.triples(surface["connectivity"])],
                             [tuple(t) for t in self.frames[i][1]])
            inside = files.read_vtu(self.path(entries[2 * i][2]))
            count = len(inside["Points"]) // 3
            for name, width in (("velocity", 3), ("mass", 1), ("strain", 6), ("stretch", 1), ("stress", 6),
                                ("von_mises", 1), ("region", 1),
                                ("piece", 1), ("body", 1)):
                self.assertEqual(len(inside[name]), width * count, name)
            self.assertTrue(all(map(math.isfinite, inside["strain"])))
        self.assertLess(max(map(abs, files.read_vtu(self.path("t.particles.0000.vtu"))["stretch"])), 1e-4)
        self.assertGreater(max(map(abs, inside["stretch"])), 0.01)

    def test_strain_and_stretch(self):
        """The stretch farthest from 1 belongs to the strain: (s^2 - 1) / 2 is one of its eigenvalues."""
        inside = files.read_vtu(self.path("t.particles.%04d.vtu" % (COUNT - 1)))
        for n in range(0, len(inside["stretch"]), 17):
            xx, yy, zz, xy, yz, zx = inside["strain"][6 * n:6 * n + 6]
            e = ((inside["stretch"][n] + 1) ** 2 - 1) / 2
            a, b, c = xx - e, yy - e, zz - e
            self.assertLess(abs(a * (b * c - yz * yz) - xy * (xy * c - yz * zx) + zx * (xy * yz - b * zx)), 1e-6)

    def test_stress(self):
        """Von Mises' belongs to the tensor; a file with Z up has the same tensor along other axes; a column at rest on the ground bears
        its weight."""
        inside = files.read_vtu(self.path("t.particles.%04d.vtu" % (COUNT - 1)))
        self.assertGreater(max(inside["von_mises"]), 0.0)
        for n, mises in enumerate(inside["von_mises"]):
            self.assertAlmostEqual(mises, von_mises(inside["stress"][6 * n:6 * n + 6]), delta=1e-4 * max(mises, 1e-3))
        scene = os.path.join(self.folder.name, "column.json")
        with open(scene, "w") as file:
            file.write(COLUMN)
        for name, more in (("c.vtu", ()), ("z.vtu", ("--up", "z"))):
            done = self.run_limber("export", scene, "--frames", "300", "--fps", "1", "--out", name, *more)
            self.assertEqual(done.returncode, 0, done.stderr)
        y_up, z_up = (files.read_vtu(self.path("%s.particles.0005.vtu" % n)) for n in "cz")
        expected, counted = 0.0, 0
        for n in range(len(y_up["von_mises"])):
            (x, y, z), (u, v, w) = y_up["Points"][3 * n:3 * n + 3], z_up["Points"][3 * n:3 * n + 3]
            self.assertEqual((x, y, z), (u, w, -v))
            a, b = y_up["stress"][6 * n:6 * n + 6], z_up["stress"][6 * n:6 * n + 6]
            xx, yy, zz, xy, yz, zx = a
            self.assertEqual(list(b), [xx, zz, yy, -zx, -yz, xy])
            if 0.2 < y < 0.7:
                expected += yy / (-1000 * 9.81 * (1.0 - y))
                counted += 1
        self.assertGreater(counted, 100)
        self.assertAlmostEqual(expected / counted, 1.0, delta=0.1)

    def test_csv(self):
        with open(self.path("t.csv"), newline="") as file:
            rows = list(csv.DictReader(file))
        bodies = sorted({row["body"] for row in rows})
        self.assertEqual(len(rows), COUNT * len(bodies))
        last = [row for row in rows if float(row["time"]) > (FRAMES - 1) / 60]
        self.assertAlmostEqual(sum(float(row["volume"]) for row in last), files.volume(*self.frames[-1]), 5)
        points = self.frames[-1][0]
        for row in last:
            self.assertLess(float(row["lower_y"]), float(row["centre_y"]))
        self.assertLess(min(float(row["lower_y"]) for row in last), min(p[1] for p in points) + 0.2)

    def test_usda(self):
        prims = files.read_usda(self.path("t.usda"))
        for i in range(COUNT):
            points = []
            faces = []
            for prim in prims.values():
                first = len(points)
                points += files.triples(prim["points"][i])
                self.assertEqual(len(prim["normals"][i]), len(prim["points"][i]))
                faces += [tuple(first + int(v) for v in t) for t in files.triples(prim["faceVertexIndices"])]
                self.assertEqual(set(prim["faceVertexCounts"]), {3})
            self.same(points, i)
            self.assertEqual(faces, [tuple(t) for t in self.frames[i][1]])

    def test_morphs(self):
        glb = files.Glb(self.path("m.glb"))
        self.assertEqual(len(glb.times()), COUNT)
        for i in range(COUNT):
            points, faces = glb.frame(i)
            self.same(points, i)
            self.assertEqual(faces, [tuple(t) for t in self.frames[i][1]])
            self.assertAlmostEqual(glb.times()[i], i / RATE, 6)

    def test_joints(self):
        """As far off as is told, and no farther."""
        for name, told, most in (("t.glb", self.told["t.glb"], 0.02), ("e.glb", self.told["eight"], 0.01)):
            largest, mean = (float(x) / 1000 for x in re.search(r"up to (\S+) mm, (\S+) mm", told).groups())
            glb = files.Glb(self.path(name))
            distances = []
            for i in range(COUNT):
                points, faces = glb.frame(i)
                self.assertEqual(faces, [tuple(t) for t in self.frames[i][1]])
                distances += [math.dist(p, q) for p, q in zip(points, self.frames[i][0])]
            self.assertAlmostEqual(max(distances) / largest, 1, 1)
            self.assertAlmostEqual(math.sqrt(sum(d * d for d in distances) / len(distances)) / mean, 1, 1)
            self.assertLess(largest, most * files.size(self.frames[0][0]))
        self.assertIn("JOINTS_1", glb.json["meshes"][0]["primitives"][0]["attributes"])

    # ---- options ----

    def test_up(self):
        for name in ("z.ply", "z.usda"):
            self.export("twist", name, "--up", "z")
        for i in (0, COUNT - 1):
            points, _ = files.read_ply(self.path("z.%04d.ply" % i))
            self.same([(x, z, -y) for x, y, z in points], i)
        with open(self.path("z.usda")) as file:
            self.assertIn('upAxis = "Z"', file.read(2000))

    def test_range_and_bodies(self):
        with open(self.path("t.csv"), newline="") as file:
            names = [row["body"] for row in csv.DictReader(file)]
        self.export("twist", "part.pc2", "--from", "16", "--body", names[1])
        frames = files.read_pc2(self.path("part.pc2"))
        self.assertEqual(len(frames), 9)
        third = len(self.frames[0][0]) // 3
        for i, points in enumerate(frames):
            self.assertLess(files.distance(points, self.frames[i + 4][0][third:2 * third]), 1e-6)

    # ---- topology ----

    def test_cuts(self):
        done = self.run_limber("export", "liver-cut", "--frames", "60", "--fps", "10", "--out", "cut.usda")
        self.assertEqual(done.returncode, 0, done.stderr)
        prim = files.read_usda(self.path("cut.usda"))["liver"]
        self.assertGreater(len(prim["faceVertexIndices"]), 1)
        for time in range(11):
            since = max(t for t in prim["faceVertexIndices"] if t <= time)
            points, faces = files.triples(prim["points"][time]), files.triples(prim["faceVertexIndices"][since])
            self.assertEqual(len(prim["faceVertexCounts"][since]), len(faces))
            self.assertEqual(len(prim["primvars:displayColor"][since]), 3 * len(points))
            self.assertEqual(max(max(t) for t in faces), len(points) - 1)
            self.assertGreater(files.volume(points, [tuple(map(int, t)) for t in faces]), 0)
        self.assertGreater(len(prim["points"][10]), len(prim["points"][0]))
        self.assertEqual(os.listdir(self.path(".")).count("cut.usda"), 1)

    def test_cuts_refused(self):
        for name in ("no.pc2", "no.mdd", "no.glb"):
            self.refuse(1, "which a %s file cannot hold" % name[3:], "export", "liver-cut", "--frames", "60", "--out", name)

    def test_pieces(self):
        done = self.run_limber("export", "fracture", "--frames", "60", "--fps", "5", "--out", "broken.pvd")
        self.assertEqual(done.returncode, 0, done.stderr)
        inside = files.read_vtu(self.path("broken.particles.0005.vtu"))
        self.assertGreater(max(inside["piece"]), 2)
        self.assertTrue(all(map(math.isfinite, inside["strain"])))

    # ---- what is refused ----

    def refuse(self, code, words, *arguments):
        before = sorted(os.listdir(self.path(".")))
        done = self.run_limber(*arguments)
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(words, done.stderr)
        self.assertEqual(sorted(os.listdir(self.path("."))), before)

    def test_arguments(self):
        self.refuse(2, "--out FILE is missing", "export", "twist")
        self.refuse(2, "expected a name that ends in one of", "export", "twist", "--out", "x.fbx")
        self.refuse(2, "did you mean usda?", "export", "twist", "--out", "x", "--format", "usd")
        self.refuse(2, "expected y or z", "export", "twist", "--out", "x.ply", "--up", "x")
        self.refuse(2, "expected 4 or 8", "export", "twist", "--out", "x.glb", "--influences", "5")
        self.refuse(2, "expected joints or morphs", "export", "twist", "--out", "x.glb", "--motion", "bones")
        self.refuse(2, "from 1 to 60", "export", "twist", "--out", "x.ply", "--fps", "61")
        self.refuse(1, "the scene ends at frame 3", "export", "twist", "--out", "x.ply", "--frames", "3", "--from", "4")
        self.refuse(1, "no such body", "export", "twist", "--out", "x.ply", "--body", "nobody")
        self.refuse(1, "Y points up in every GLB", "export", "twist", "--out", "x.glb", "--up", "z")
        self.refuse(1, "too much for morph targets", "export", "squeeze-duck", "--out", "x.glb", "--motion", "morphs",
                    "--frames", "10000")

    def test_places(self):
        os.makedirs(self.path("folder.glb"), exist_ok=True)
        for name in ("x.glb", "x.usda", "x.pc2", "x.mdd", "x.obj", "x.ply", "x.vtu", "x.csv"):
            self.refuse(1, "cannot be written", "export", "twist", "--frames", "2", "--out", "nowhere/" + name)
            self.refuse(1, "cannot be written", "export", "twist", "--frames", "2", "--format", name[2:], "--out", "/dev/full")
            self.refuse(1, "cannot be written", "export", "twist", "--frames", "2", "--format", name[2:], "--out", "folder.glb")

    def test_interrupted(self):
        """All that was written so far is removed: files with numbers, and what is put aside."""
        for name in ("stop.obj", "stop.vtu", "stop.usda", "stop.glb"):
            process = subprocess.Popen([LIMBER, "export", "twist", "--frames", "1000000", "--out", name],
                                       cwd=self.folder.name, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            waited = 0
            while not glob.glob(self.path("stop.*")) and waited < 600:
                time.sleep(0.1)
                waited += 1
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(60), -signal.SIGINT)
            self.assertLess(waited, 600)
            self.assertEqual(glob.glob(self.path("stop.*")), [])

    # ---- memory ----

    def peak(self, name, frames, *more):
        """Kilobytes that the program held at most."""
        process = subprocess.Popen([LIMBER, "export", "twist", "--frames", str(frames), "--threads", "1", "--out", name, *more],
                                   cwd=self.folder.name, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        for path in glob.glob(self.path("peak.*")):
            os.remove(path)
        return usage.ru_maxrss

    @unittest.skipIf(SANITIZED, "sanitizers keep what is freed")
    def test_memory(self):
        for name, *more in (("peak.usda",), ("peak.glb",), ("peak.glb", "--motion", "morphs"), ("peak.pc2",),
                            ("peak.vtu",), ("peak.csv",)):
            with self.subTest(name=name, more=more):
                few, many = self.peak(name, 29, *more), self.peak(name, 299, *more)
                self.assertLess(many, few + 2048, "kilobytes for 30 and for 300 frames")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
