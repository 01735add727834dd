#!/usr/bin/env python3
"""Tetrahedra as users have them: `limber info` and `limber run` on files of other programs, on scenes that make or read
tetrahedra, and on broken files.

    test_tets.py LIMBER SOURCE

Where gmsh, tetgen and netgen are installed, files are made with them here; else those in test/data/tets have to do.
"""

import glob
import json
import os
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

LIMBER, SOURCE = sys.argv[1], sys.argv[2]
DATA = os.path.join(os.path.abspath(SOURCE), "test", "data", "tets")

POINTS = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)]


def neutral(points, tets):
    return "%d\n%s%d\n%s" % (len(points), "".join("%r %r %r\n" % p for p in points), len(tets),
                             "".join("1 %d %d %d %d\n" % t for t in tets))


class Tets(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()

    def tearDown(self):
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, contents):
        with open(self.path(name), "wb") as file:
            file.write(contents if isinstance(contents, bytes) else contents.encode())
        return self.path(name)

    def limber(self, *arguments):
        done = subprocess.run([LIMBER, *arguments], capture_output=True, text=True, timeout=120, check=False)
        # Kilobytes that any child so far held; not a limit on addresses, of which sanitizers take terabytes.
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, 1 << 20)
        return done

    def succeed(self, *arguments):
        done = self.limber(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        return done.stdout

    def fail_with(self, words, *arguments):
        done = self.limber(*arguments)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(words, done.stderr)

    def numbers(self, path):
        """Nodes, tetrahedra, volume and triangles that info tells of."""
        told = self.succeed("info", path)
        found = [re.search(pattern, told).group(1) for pattern in
                 [r"nodes +(\d+)", r"tetrahedra +(\d+)", r"volume +(\S+) m3", r"surface +(\d+) triangles"]]
        return int(found[0]), int(found[1]), float(found[2]), int(found[3])

    # ---- files of other programs ----

    def test_stored_files(self):
        for name in sorted(os.listdir(DATA)):
            if not name.endswith((".msh", ".mesh", ".node", ".ele")):
                continue
            nodes, tets, volume, _ = self.numbers(os.path.join(DATA, name))
            self.assertEqual((nodes, tets), (8, 6) if "netgen" in name else (28, 34) if "tetgen" in name else (28, 50))
            self.assertAlmostEqual(volume, 2 if "netgen" in name or "tetgen" in name else 0.401754, 5)
            told = self.succeed("run", os.path.join(DATA, name), "--check", "--json")
            self.assertEqual(json.loads(told.splitlines()[0])["particles"], nodes)

    def program(self, *arguments, environment=None):
        if not shutil.which(arguments[0]):
            self.skipTest(arguments[0] + " is not installed")
        return subprocess.run(arguments, cwd=self.folder.name, capture_output=True, timeout=60, check=False,
                              env={**os.environ, **(environment or {})})

    def test_gmsh(self):
        self.write("a.geo", 'SetFactory("OpenCASCADE");\nBox(1) = {0, 0, 0, 1, 2, 1};\nMesh.MeshSizeMax = 0.4;\n')
        seen = set()
        for kind, binary in [("msh22", 0), ("msh22", 1), ("msh40", 0), ("msh41", 0), ("msh41", 1), ("mesh", 0)]:
            name = "%s%d.%s" % (kind, binary, kind[:4] if kind == "mesh" else "msh")
            self.program("gmsh", "-3", "a.geo", "-format", kind, *(["-bin"] if binary else []), "-o", name)
            seen.add(self.numbers(self.path(name)))
        self.assertEqual(len(seen), 1)
        nodes, tets, volume, triangles = seen.pop()
        self.assertGreater(tets, 200)
        self.assertAlmostEqual(volume, 2, 5)
        self.succeed("run", self.path("msh411.msh"), "--check")
        self.program("gmsh", "-3", "-order", "2", "a.geo", "-format", "msh41", "-o", "quadratic.msh")
        self.assertEqual(self.numbers(self.path("quadratic.msh")), (nodes, tets, volume, triangles))

    def test_tetgen(self):
        shutil.copy(os.path.join(DATA, "block.poly"), self.path("block.poly"))
        for options in ["-pqa0.01", "-zpqa0.01", "-pqa0.1o2"]:
            self.program("tetgen", options, "block.poly")
            with open(self.path("block.1.ele")) as file:
                count = int(file.readline().split()[0])
            for ending in ["node", "ele"]:
                _, tets, volume, _ = self.numbers(self.path("block.1." + ending))
                self.assertEqual(tets, count)
                self.assertAlmostEqual(volume, 2, 5)
        self.succeed("run", self.path("block.1.node"), "--check")

    def test_netgen(self):
        shutil.copy(os.path.join(DATA, "block.geo"), self.path("block.geo"))
        # Debian's program asks for a library by a name that the package does not install.
        found = glob.glob("/usr/lib/*/netgen/libgui.so*")
        folders = [os.path.dirname(found[0]), self.folder.name] if found else []
        if found:
            os.symlink(found[0], self.path("libgui.so"))
        self.program("netgen", "-batchmode", "-geofile=block.geo", "-meshfile=block.mesh",
                     "-meshfiletype=Neutral Format", "-moderate",
                     environment={"LD_LIBRARY_PATH": ":".join(folders)} if folders else None)
        if not os.path.exists(self.path("block.mesh")):
            self.skipTest("netgen does not start here")
        _, tets, volume, _ = self.numbers(self.path("block.mesh"))
        self.assertGreater(tets, 6)
        self.assertAlmostEqual(volume, 2, 5)
        self.assertIn("the other way round", self.succeed("info", self.path("block.mesh")))
        self.succeed("run", self.path("block.mesh"), "--check")

    # ---- scenes ----

    def scene(self, *bodies):
        return self.write("scene.json", json.dumps({
            "limber": 1, "frames": 30, "colliders": [{"shape": "plane"}], "bodies": list(bodies),
            "expect": [{"measure": "finite", "equals": 1}, {"measure": "surface_lowest", "greater_than": -0.05}]}))

    def particles(self, path):
        return json.loads(self.succeed("run", path, "--json", "--check").splitlines()[0])["particles"]

    def test_own_tetrahedra(self):
        box = {"shape": {"name": "box", "size": [0.4, 0.2, 0.6]}, "at": [0, 0.5, 0], "tets": {"spacing": 0.1}}
        self.assertEqual(self.particles(self.scene(box)), 5 * 3 * 7)
        about = self.particles(self.scene({**box, "shape": {"name": "duck"}, "tets": {"particles": 500}}))
        self.assertTrue(400 < about < 600, about)
        self.assertEqual(self.particles(self.scene({
            **box, "density": 300, "repeat": {"grid": [2, 1, 2], "spacing": [1, 1, 1], "vary": {"size": 0.2}},
            "mass_zones": [{"near": [0, 0, 0], "radius": 0.1, "value": 3}],
            "stiffness_zones": [{"near": [0, 0, 0], "radius": 0.1, "value": 0.5}]})), 4 * 5 * 3 * 7)

    def test_tetrahedra_of_files(self):
        ball = os.path.join(DATA, "gmsh41.msh")
        body = {"mesh": {"file": ball}, "tets": {}, "at": [0, 1, 0]}
        self.assertEqual(self.particles(self.scene(body)), 28)
        self.assertEqual(self.particles(self.scene({**body, "mesh": {"file": ball, "longest": 0.5, "up": "z"}})), 28)
        # A finer surface in and around them, in the same coordinates.
        self.succeed("shape", "sphere", "--out", self.path("sphere.obj"))
        inside = {"mesh": {"file": "sphere.obj"}, "tets": {"file": ball}, "at": [0, 1, 0], "density": 100}
        self.assertEqual(self.particles(self.scene(inside)), 28)
        # The surface alone: other tetrahedra, a lattice.
        self.assertGreater(self.particles(self.scene({**body, "tets": {"particles": 300}})), 200)
        lattice = {"mesh": {"file": ball}, "lattice": {"particles": 300}, "at": [0, 1, 0]}
        self.assertGreater(self.particles(self.scene(lattice)), 200)

    def test_density_is_that_of_the_tetrahedra(self):
        body = {"mesh": {"file": os.path.join(DATA, "tetgen.node")}, "tets": {}, "density": 100, "at": [0, 1, 0]}
        self.assertIn(" 200 kg", self.succeed("info", self.scene(body)))

    def test_wrong_scenes(self):
        box = {"shape": {"name": "box"}, "at": [0, 1, 0]}
        self.fail_with("tets", "run", self.scene({**box, "tets": {}, "lattice": {}}))
        self.fail_with("tets", "run", self.scene({**box, "tets": {}, "clusters": {}}))
        self.fail_with("spacing", "run", self.scene({**box, "tets": {"spacing": 0.1, "particles": 9}}))
        self.fail_with("is given without lattice, tets or octree", "run", self.scene({"mesh": {"file": "a.obj"}}))
        self.fail_with("nothing.msh: No such file", "run", self.scene({**box, "tets": {"file": "nothing.msh"}}))
        self.fail_with("bodies[0].tets", "run", self.scene({**box, "tets": {"spacing": 1e-4}}))

    # ---- broken files ----

    def test_broken_files(self):
        flat = neutral(POINTS[:4] + [(1, 1, 0)], [(1, 2, 3, 4), (1, 2, 3, 5)])
        inverted = neutral(POINTS + [(-1, -1, -1)], [(1, 2, 3, 4), (3, 2, 4, 5), (1, 3, 2, 6)])
        nothing = neutral(POINTS[:4] + [(1, 1, 0)], [(1, 2, 3, 5)])
        cases = [(nothing, "tetrahedron 1 (nodes 1, 2, 3, 5) has no volume, and no other has any"),
                 (inverted, "tetrahedron 2 (nodes 3, 2, 4, 5) is inverted"),
                 (neutral(POINTS, [(1, 2, 3, 9)]), "tetrahedron 1 has node 9, which does not exist"),
                 (neutral(POINTS, [(1, 2, 3, 4)])[:-9], "has 0 nodes"),
                 (neutral(POINTS, []), "it has no tetrahedra"),
                 ("\0\1\2", "not a tetrahedral mesh")]
        for contents, words in cases:
            path = self.write("broken.mesh", contents)
            self.fail_with(words, "run", path)
            self.fail_with("broken.mesh", "run", path)
        self.succeed("run", self.write("sliver.mesh", flat), "--frames", "2")
        self.assertIn("1 tetrahedra have no volume, the first is 2 (left out)", self.succeed("info", self.write("a.mesh", flat)))
        self.assertIn("1 tetrahedra are inverted, the first is 2", self.succeed("info", self.write("a.mesh", inverted)))
        unused = neutral(POINTS, [(1, 2, 3, 4)])
        self.assertIn("1 nodes are in no tetrahedron", self.succeed("info", self.write("a.mesh", unused)))
        self.fail_with("a.ele: No such file", "info", self.write("a.node", "1 3 0 0\n1 0 0 0\n"))

    def test_files_that_lie(self):
        head = b"$MeshFormat\n4.1 1 8\n" + struct.pack("<i", 1) + b"\n$EndMeshFormat\n$Nodes\n"
        for blocks, count in [(1, 1 << 60), (1 << 60, 1 << 60), (1, 1 << 40)]:
            block = struct.pack("<4q3iq", blocks, count, 1, count, 3, 1, 0, count)
            self.fail_with("a.msh: ", "info", self.write("a.msh", head + block + b"\0" * 64))
        self.fail_with("a.mesh:", "info", self.write("a.mesh", "999999999999\n0 0 0\n"))
        vertices = struct.pack("<iiiiiiiii", 1, 2, 3, 20, 3, 4, 1 << 30, 1 << 30, 0)
        self.fail_with("a.meshb: ", "info", self.write("a.meshb", vertices))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
