#!/usr/bin/env python3
"""Texture coordinates from meshes, with seams, through scenes into GLB, USD, OBJ and PLY files, also of a body that is cut: every corner of
every triangle has the coordinates that it has in the mesh.

    test_uvs.py LIMBER
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

from export_files import Glb, read_usda

LIMBER = sys.argv[1]

# A cube of two metres whose six faces each show the whole picture: every vertex has several texture coordinates.
POINTS = [(2.0 * (i & 1) - 1, 2.0 * (i >> 1 & 1) - 1, 2.0 * (i >> 2 & 1) - 1) for i in range(8)]
FACES = [(0, 2, 3, 1), (0, 1, 5, 4), (4, 5, 7, 6), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
UVS = [(0.0, 0.0), (1.0, 0.0), (1.0, 0.75), (0.0, 0.75)]


def cube(divisions):
    """The cube with faces divided into squares, as OBJ; and what each corner of a triangle may be: {position: {uv, ...}}."""
    points, lines, expected = {}, [], {}

    def mix(corners, a, b):
        p, q, r, s = corners
        return tuple(round((1 - a) * (1 - b) * p[k] + a * (1 - b) * q[k] + a * b * r[k] + (1 - a) * b * s[k], 6) for k in range(len(p)))

    textures, faces = [], []
    for face in FACES:
        for i in range(divisions):
            for j in range(divisions):
                corners = []
                for a, b in ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)):
                    p = mix([POINTS[n] for n in face], a / divisions, b / divisions)
                    uv = mix(UVS, a / divisions, b / divisions)
                    number = points.setdefault(p, len(points) + 1)
                    textures.append(uv)
                    corners.append("%d/%d" % (number, len(textures)))
                    expected.setdefault(p, set()).add(uv)
                faces.append("f " + " ".join(corners))
    lines = ["v %g %g %g" % p for p in points] + ["vt %g %g" % uv for uv in textures] + faces
    return "\n".join(lines) + "\n", expected


def limber(*arguments):
    done = subprocess.run([LIMBER, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done


class TextureCoordinates(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.text, self.expected = cube(4)
        with open(self.path("cube.obj"), "w") as file:
            file.write(self.text)

    def tearDown(self):
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def export(self, out, *options, frames=1, **body):
        scene = {"limber": 1, "frames": frames, "gravity": [0, 0, 0],
                 "bodies": [dict({"name": "cube", "mesh": {"file": "cube.obj"}, "lattice": {"spacing": 0.5}}, **body)]}
        scene.update(scene["bodies"][0].pop("scene", {}))
        if "octree" in body:
            del scene["bodies"][0]["lattice"]
        with open(self.path("scene.json"), "w") as file:
            json.dump(scene, file)
        limber("export", self.path("scene.json"), "--out", self.path(out), *options)

    def check(self, positions, uvs, at_least):
        """Each vertex has one of the coordinates of its place; and all of them are there."""
        self.assertEqual(len(positions), len(uvs))
        seen = set()
        for p, uv in zip(positions, uvs):
            place = tuple(round(x, 4) + 0.0 for x in p)
            near = next(q for q in self.expected if max(abs(a - b) for a, b in zip(q, place)) < 1e-4)
            found = [e for e in self.expected[near] if max(abs(a - b) for a, b in zip(e, uv)) < 1e-5]
            self.assertTrue(found, (place, uv))
            seen.add((near, found[0]))
        self.assertEqual(len(seen), at_least)

    def total(self):
        return sum(len(uvs) for uvs in self.expected.values())

    def test_glb(self):
        for options in (["--motion", "morphs"], ["--joints", "8"]):
            self.export("cube.glb", *options)
            glb = Glb(self.path("cube.glb"))
            attributes = glb.json["meshes"][0]["primitives"][0]["attributes"]
            uvs = [(u, 1.0 - v) for u, v in glb.accessor(attributes["TEXCOORD_0"])]  # in the file v points down
            self.check(glb.accessor(attributes["POSITION"]), uvs, self.total())

    def test_usd(self):
        self.export("cube.usda")
        prim, = read_usda(self.path("cube.usda")).values()
        self.check(list(zip(*[iter(prim["points"][0])] * 3)), list(zip(*[iter(prim["primvars:st"])] * 2)), self.total())

    def test_obj_comes_back(self):
        """What is written is read again, and written once more: nothing is lost."""
        self.export("out.obj", "--frames", "0")
        with open(self.path("out.0000.obj")) as file:
            first = file.read()
        for _ in range(2):
            vertices = [tuple(map(float, line.split()[1:4])) for line in first.splitlines() if line.startswith("v ")]
            uvs = [tuple(map(float, line.split()[1:3])) for line in first.splitlines() if line.startswith("vt ")]
            self.check(vertices, uvs, self.total())
            with open(self.path("cube.obj"), "w") as file:
                file.write(first)
            self.export("out.obj", "--frames", "0")
            with open(self.path("out.0000.obj")) as file:
                first = file.read()

    def test_glb_comes_back(self):
        self.export("again.glb", "--motion", "morphs")
        os.rename(self.path("again.glb"), self.path("cube.obj"))  # the format is known by what is in the file
        self.test_glb()

    def test_a_coarse_mesh_after_a_cut(self):
        """Two triangles a side, which a cut divides into many: at every corner of every outer triangle the picture is where it was. Every kind of
        body; two cuts."""
        self.text, self.expected = cube(1)
        with open(self.path("cube.obj"), "w") as file:
            file.write(self.text)
        cuts = [{"time": 0, "body": "cube", "cut": {"a": [0.1, -2, -2], "b": [0.1, 2, -2], "to_a": [0.1, -2, 2], "to_b": [0.1, 2, 2]}},
                {"time": 0.03, "body": "cube", "cut": {"a": [-2, -2, 0.3], "b": [2, -2, 0.3], "to_a": [-2, 2, -0.2], "to_b": [2, 2, -0.2]}}]
        for kind in ({"lattice": {"spacing": 0.25}}, {"octree": {"spacing": 0.25}}, {"tets": {"spacing": 0.4}}):
            with self.subTest(kind=kind):
                body = dict({"name": "cube", "mesh": {"file": "cube.obj"}}, **kind)
                scene = {"limber": 1, "frames": 6, "gravity": [0, 0, 0], "bodies": [body], "events": cuts}
                with open(self.path("coarse.json"), "w") as file:
                    json.dump(scene, file)
                limber("export", self.path("coarse.json"), "--out", self.path("coarse.usda"))
                prim, = read_usda(self.path("coarse.usda")).values()
                last = {name: prim[name][max(prim[name])] for name in ("points", "primvars:st", "faceVertexIndices")}
                self.check_places(list(zip(*[iter(last["points"])] * 3)), list(zip(*[iter(last["primvars:st"])] * 2)),
                                  list(zip(*[iter(map(int, last["faceVertexIndices"]))] * 3)))

    def check_places(self, points, uvs, triangles):
        inner, area, bent = 0, 0.0, 0.0
        for triangle in triangles:
            p, q, r = (points[i] for i in triangle)
            u, v = [b - a for a, b in zip(p, q)], [b - a for a, b in zip(p, r)]
            normal = (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])
            size = sum(x * x for x in normal) ** 0.5
            axis = max(range(3), key=lambda k: abs(normal[k]))
            sign = 1 if normal[axis] > 0 else -1
            on_side = abs(normal[axis]) > 0.999 * size and all(abs(c[axis] - sign) < 0.02 for c in (p, q, r))
            if all(uvs[i] == (0.0, 0.0) for i in triangle):
                inner += 1
                self.assertFalse(on_side and size > 1e-4)
            elif size > 1e-4 and not on_side:
                bent += size / 2  # around an edge of the cube, over which a cut has moved a vertex
            elif size > 1e-4:
                area += size / 2
                corners = next([POINTS[n] for n in face] for face in FACES if all(POINTS[n][axis] == sign for n in face))
                for i in triangle:
                    across, up = (sum((x - o) * (e - o) for x, o, e in zip(points[i], corners[0], end)) / 4
                                  for end in (corners[1], corners[3]))
                    self.assertAlmostEqual(uvs[i][0], across, delta=0.01)
                    self.assertAlmostEqual(uvs[i][1], 0.75 * up, delta=0.01)
        self.assertGreater(inner, 10)
        self.assertLess(bent, 0.5)
        self.assertAlmostEqual(area + bent, 24.0, delta=0.2)  # the six sides, of which nothing is left out

    def test_after_a_cut(self):
        """Away from the cut all is as it was; inner faces have none."""
        cut = {"time": 0, "body": "cube", "cut": {"a": [0.1, -2, -2], "b": [0.1, 2, -2], "to_a": [0.1, -2, 2], "to_b": [0.1, 2, 2]}}
        self.export("cut.usda", octree={"spacing": 0.25}, frames=3, scene={"events": [cut]})
        prim, = read_usda(self.path("cut.usda")).values()
        at = list(zip(*[iter(prim["points"][max(prim["points"])])] * 3))
        uvs = list(zip(*[iter(prim["primvars:st"][max(prim["primvars:st"])])] * 2))
        self.assertEqual(len(at), len(uvs))
        self.assertGreater(len(uvs), self.total())  # the cut made some
        checked = 0
        for p, uv in zip(at, uvs):
            near = [q for q in self.expected if max(abs(a - b) for a, b in zip(q, p)) < 0.02]
            if near and abs(p[0] - 0.1) > 0.6:
                self.assertTrue(any(max(abs(a - b) for a, b in zip(e, uv)) < 1e-5 for e in self.expected[near[0]]), (p, uv))
                checked += 1
        self.assertGreater(checked, 50)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
