#!/usr/bin/env python3
"""Mesh files as users have them: `limber info` and `limber run` on every format, on meshes with faults, and on files that
lie.

    test_meshes.py LIMBER

The files are made here, by writers that know nothing of the readers. A file that lies must cost neither time nor
memory beyond what its size explains.
"""

import base64
import json
import os
import struct
import subprocess
import sys
import tempfile
import time
import unittest

LIMBER = sys.argv[1]

CUBE = [(0, 0, 0), (2, 0, 0), (2, 1, 0), (0, 1, 0), (0, 0, 0.5), (2, 0, 0.5), (2, 1, 0.5), (0, 1, 0.5)]
QUADS = [(3, 2, 1, 0), (4, 5, 6, 7), (0, 1, 5, 4), (2, 3, 7, 6), (1, 2, 6, 5), (0, 4, 7, 3)]
TRIANGLES = [t for a, b, c, d in QUADS for t in [(a, b, c), (a, c, d)]]


def obj(points, faces):
    return "".join("v %g %g %g\n" % p for p in points) + "".join(
        "f " + " ".join(str(i + 1) for i in face) + "\n" for face in faces)


def ply(points, faces, order="<"):
    head = ("ply\nformat %s 1.0\nelement vertex %d\nproperty float x\nproperty float y\nproperty float z\n"
            "element face %d\nproperty list uchar int vertex_indices\nend_header\n")
    name = {"<": "binary_little_endian", ">": "binary_big_endian", "": "ascii"}[order]
    head %= (name, len(points), len(faces))
    if order == "":
        return (head + "".join("%g %g %g\n" % p for p in points) + "".join(
            "%d %s\n" % (len(f), " ".join(map(str, f))) for f in faces)).encode()
    return head.encode() + b"".join(struct.pack(order + "3f", *p) for p in points) + b"".join(
        struct.pack("%sB%di" % (order, len(f)), len(f), *f) for f in faces)


def stl(points, triangles):
    return b"made by a test".ljust(80) + struct.pack("<I", len(triangles)) + b"".join(
        struct.pack("<12fH", 0, 0, 0, *points[a], *points[b], *points[c], 0) for a, b, c in triangles)


def gltf(points, triangles, uri=None, **more):
    """The JSON as a dictionary, and the buffer."""
    positions = b"".join(struct.pack("<3f", *p) for p in points)
    indices = b"".join(struct.pack("<3H", *t) for t in triangles)
    buffer = {"byteLength": len(positions + indices)}
    if uri:
        buffer["uri"] = uri
    document = {
        "asset": {"version": "2.0"}, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}], "buffers": [buffer],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "bufferViews": [{"buffer": 0, "byteLength": len(positions)},
                        {"buffer": 0, "byteOffset": len(positions), "byteLength": len(indices)}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": len(points), "type": "VEC3"},
                      {"bufferView": 1, "componentType": 5123, "count": 3 * len(triangles), "type": "SCALAR"}]}
    document.update(more)
    return document, positions + indices


def glb(document, buffer):
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    buffer += b"\0" * (-len(buffer) % 4)
    return (b"glTF" + struct.pack("<III", 2, 28 + len(text) + len(buffer), len(text)) + b"JSON" + text +
            struct.pack("<I", len(buffer)) + b"BIN\0" + buffer)


class Meshes(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, name, contents):
        path = os.path.join(self.folder.name, name)
        with open(path, "wb") as file:
            file.write(contents if isinstance(contents, bytes) else contents.encode())
        return path

    def info(self, name, contents):
        done = subprocess.run([LIMBER, "info", self.write(name, contents)], capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        return done.stdout

    def measured(self, *arguments):
        """Exit code, output, errors and the most memory it held, in kilobytes."""
        started = time.monotonic()
        child = subprocess.Popen([LIMBER, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        output, errors = child.stdout.read(), child.stderr.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        child.stdout.close()
        child.stderr.close()
        self.assertLess(time.monotonic() - started, 20, arguments)
        return child.returncode, output.decode(), errors.decode(), usage.ru_maxrss

    def refuse(self, name, contents, expected, commands=("info", "run")):
        """Exit code 1 and one line, which names the file; little time and memory."""
        path = self.write(name, contents)
        for command in commands:
            code, output, errors, memory = self.measured(command, path)
            self.assertEqual(code, 1, (name, output, errors))
            self.assertEqual(output, "")
            self.assertEqual(errors, "limber: %s%s\n" % (path, expected))
            self.assertLess(memory, 200000, name)

    def simulate(self, path, *arguments, notes=""):
        """Runs it, checks what the scene made for it expects, and returns the summary."""
        done = subprocess.run([LIMBER, "run", path, "--check", "--json", *arguments], capture_output=True, text=True,
                              timeout=300)
        self.assertEqual(done.stderr, notes)
        self.assertEqual(done.returncode, 0, path)
        summary = json.loads(done.stdout)
        self.assertTrue(summary["finite"])
        return summary

    # ---- what works ----

    def test_every_format(self):
        document, buffer = gltf(CUBE, TRIANGLES)
        inline, _ = gltf(CUBE, TRIANGLES, "data:application/gltf-buffer;base64," + base64.b64encode(buffer).decode())
        beside, _ = gltf(CUBE, TRIANGLES, "the%20cube.bin")
        self.write("the cube.bin", buffer)
        files = {
            "cube.obj": (obj(CUBE, QUADS), "OBJ"), "ascii.ply": (ply(CUBE, QUADS, ""), "PLY, ASCII"),
            "little.ply": (ply(CUBE, QUADS), "PLY, binary (little endian)"),
            "big.ply": (ply(CUBE, TRIANGLES, ">"), "PLY, binary (big endian)"),
            "cube.stl": (stl(CUBE, TRIANGLES), "STL, binary"), "cube.glb": (glb(document, buffer), "glTF 2.0, binary"),
            "inline.gltf": (json.dumps(inline), "glTF 2.0"), "beside.gltf": (json.dumps(beside, indent=1), "glTF 2.0")}
        for name, (contents, form) in files.items():
            told = self.info(name, contents)
            self.assertIn("%s: a mesh (%s)\n" % (name, form), told)
            self.assertIn("  vertices    8", told)
            self.assertIn("  triangles   12\n  parts       1\n", told)
            self.assertIn("  bounds      [0, 0, 0] to [2, 1, 0.5] m\n  area        7 m2\n  volume      1 m3, closed\n", told)
            self.assertNotIn("problem", told)
        self.assertIn("vertices    8, welded from 36\n", self.info("cube.stl", stl(CUBE, TRIANGLES)))
        # All of them are the same mesh, whose vertices come in the same order in most: the same particles, to the bit.
        # (Points that touch depend on the triangles, which are not: so the particles do.)
        bare = ["--set", "bodies[0].contact_points=particles", "--set", "bodies[0].mask=0"]
        found = {name: self.simulate(os.path.join(self.folder.name, name), "--frames", "20", *bare) for name in files}
        self.assertEqual({run["hash"] for run in found.values()}, {found["cube.obj"]["hash"]})
        self.assertEqual(found["cube.obj"]["bodies"], 1)
        self.assertLess(abs(found["cube.obj"]["particles"] - 3000), 300)

    def test_a_mesh_is_a_scene(self):
        path = self.write("cube.obj", obj(CUBE, QUADS))
        whole = self.simulate(path)
        self.assertEqual(whole["frames"], 240)
        self.assertLess(whole["max_speed"], 10)
        # 8 x 4 x 2 cells.
        self.assertEqual(self.simulate(path, "--frames", "1", "--set", "bodies[0].lattice.spacing=0.25")["particles"], 135)
        narrow = self.simulate(path, "--frames", "1", "--set", "bodies[0].lattice.width=1")
        self.assertEqual(narrow["particles"], whole["particles"])
        self.assertLess(narrow["regions_per_particle"], 27)
        self.assertGreater(whole["regions_per_particle"], 60)  # 5 x 5 x 5 where there is room
        few = self.simulate(path, "--frames", "1", "--set", "bodies[0].lattice.particles=200")["particles"]
        self.assertTrue(120 < few < 300, few)
        # Up to 0.5 m high when Z is up, 1 m when Y is: it stands on the floor in both.
        turned = self.simulate(path, "--set", "bodies[0].mesh.up=z", "--out", self.folder.name)
        with open(os.path.join(self.folder.name, "surfaces.obj")) as file:
            heights = [float(line.split()[2]) for line in file if line.startswith("v ")]
        self.assertTrue(-0.1 < min(heights) < 0.1 and 0.35 < max(heights) - min(heights) < 0.6, turned)

    def test_units(self):
        """Millimetres and kilometres come out at the same size, and are told."""
        note = "%s: its longest side, %s, is scaled to 1 m (for another size: --set bodies[0].mesh.longest=...)\n"
        particles = set()
        for name, scale, size in [("mm.obj", 1e-3, "0.002"), ("m.obj", 0.5, ""), ("km.obj", 1e3, "2000")]:
            path = self.write(name, obj([tuple(scale * x for x in p) for p in CUBE], QUADS))
            run = self.simulate(path, "--frames", "30", "--set", "bodies[0].mesh.longest=1",
                                notes=note % (path, size) if size else "")
            particles.add(run["particles"])
            self.assertGreater(run["max_speed"], 1.5)
        self.assertEqual(len(particles), 1)

    def test_names_and_colours(self):
        told = self.info("named.obj", "o left\nv 0 0 0 1 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\no right\nf 3 2 1\n")
        self.assertIn("vertices    3, with colours\n", told)
        self.assertIn("named       2: left, right\n", told)
        names = "".join("o part%d\nf 1 2 3\n" % i for i in range(1000))
        self.assertRegex(self.info("many.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n" + names), r"named +1000: part0, .* \.\.\.\n")

    # ---- faults ----

    def test_faults(self):
        self.assertIn("problem     3 edges are open\n", self.info("hole.stl", stl(CUBE, TRIANGLES[1:])))
        flipped = [TRIANGLES[0][::-1]] + TRIANGLES[1:]
        self.assertIn("3 edges join triangles that turn opposite ways\n", self.info("turned.stl", stl(CUBE, flipped)))
        fin = self.info("fin.ply", ply(CUBE + [(5, 5, 5)], TRIANGLES + [(0, 1, 8)]))
        self.assertIn("1 edges are in three triangles or more\n", fin)
        self.assertIn("2 edges are open\n", fin)
        self.assertIn("12 triangles are there twice\n", self.info("twice.ply", ply(CUBE, TRIANGLES * 2)))
        self.assertIn("the surface is inside out\n", self.info("out.stl", stl(CUBE, [t[::-1] for t in TRIANGLES])))
        self.assertIn("not one triangle has an area\n", self.info("flat.stl", stl(CUBE, [(0, 0, 1), (2, 2, 2)])))
        self.assertIn("there are no triangles\n", self.info("points.ply", ply(CUBE, [])))
        self.assertIn("1 vertices are in no triangle\n", self.info("spare.ply", ply(CUBE + [(9, 9, 9)], QUADS)))
        self.assertIn("parts       2\n", self.info("two.stl", stl(
            CUBE + [(x + 5, y, z) for x, y, z in CUBE], TRIANGLES + [(a + 8, b + 8, c + 8) for a, b, c in TRIANGLES])))
        self.assertIn("3 edges are open\n", self.info("one.obj", obj(CUBE[:3], [(0, 1, 2)])))

    def test_concave_polygons(self):
        u = [(0, 0, 0), (3, 0, 0), (3, 3, 0), (2, 3, 0), (2, 1, 0), (1, 1, 0), (1, 3, 0), (0, 3, 0)]
        self.assertIn("area        7 m2\n", self.info("u.ply", ply(u, [range(8)], ">")))

    # ---- lies ----

    def test_lying_files(self):
        document, buffer = gltf(CUBE, TRIANGLES)
        whole = glb(document, buffer)
        self.refuse("empty.stl", b"", ": the file is empty")
        self.refuse("empty.glb", b"", ": the file is empty")
        self.refuse("cut.ply", ply(CUBE, TRIANGLES)[:-5], ": the file ends within face 11 of 12")
        self.refuse("cut.stl", stl(CUBE, TRIANGLES)[:-5],
                    ": 679 bytes, but the header promises 12 triangles (expected 684 bytes)")
        self.refuse("cut.glb", whole[:-5], ": %d bytes (expected %d, as its header says)" % (len(whole) - 5, len(whole)))
        self.refuse("promise.ply", ply(CUBE, TRIANGLES).replace(b"vertex 8", b"vertex 4000000000"),
                    ": the header promises 4000000000 vertices, but the file ends before them")
        self.refuse("promise.stl", b"\0" * 80 + b"\xff\xff\xff\xff",
                    ": 84 bytes, but the header promises 4294967295 triangles (expected 214748364834 bytes)")
        self.refuse("list.ply", ply(CUBE, []).replace(b"face 0\nproperty list uchar", b"face 1\nproperty list uint") +
                    b"\xff\xff\xff\x7f", ": the file ends within face 0 of 1")
        self.refuse("index.ply", ply(CUBE, [(0, 1, 8)]), ": face 0 names vertex 8, there are 8 (counted from 0)")
        self.refuse("nan.stl", stl([(0, 0, 0), (1, 0, float("nan")), (0, 1, 0)], [(0, 1, 2)]), ": vertex 1 is not finite")
        self.refuse("inf.ply", ply([(0, 0, 0), (1, float("-inf"), 0)], []), ": vertex 1 is not finite")
        lies = json.loads(json.dumps(document))
        lies["accessors"][0]["count"] = 3000000000
        self.refuse("count.glb", glb(lies, buffer),
                    ": accessor 0: it ends at byte 36000000000 of bufferView 0, which has 96")
        lies = json.loads(json.dumps(document))
        lies["bufferViews"][0]["byteLength"] = 4000000000
        self.refuse("view.glb", glb(lies, buffer),
                    ": bufferView 0: it ends at byte 4000000000 of a buffer of %d" % len(buffer))
        lies = json.loads(json.dumps(document))
        lies["buffers"][0]["byteLength"] = 4000000000
        self.refuse("buffer.glb", glb(lies, buffer),
                    ": buffer 0: %d bytes (expected 4000000000, its byteLength)" % len(buffer))
        self.refuse("missing.gltf", json.dumps(document),
                    ":1: buffer 0: it has no data (expected a uri, or a binary chunk)")
        self.refuse("loop.glb", glb(dict(document, nodes=[{"children": [0], "mesh": 0}]), buffer),
                    ": node 0 has two parents, or is its own ancestor")
        outside, _ = gltf(CUBE, TRIANGLES, "../secret.bin")
        self.refuse("outside.gltf", json.dumps(outside),
                    ':1: buffer 0: "../secret.bin" is not a file in the same folder or below')

    def test_what_cannot_be_a_body(self):
        self.refuse("empty.obj", "", ": the file is empty")
        self.refuse("nothing.obj", "# a comment\n", ": not an OBJ file: it has no vertices")
        for name, contents, expected in [
                ("points.ply", ply(CUBE, []), ": it has no faces"),
                ("flat.stl", stl(CUBE, [(0, 0, 1), (2, 2, 2)]), ": none of its 2 triangles has an area"),
                ("line.obj", obj([(0, 0, 0), (1, 1, 1), (3, 3, 3)], [(0, 1, 2)]), ": none of its 1 triangles has an area")]:
            self.refuse(name, contents, expected, ["run"])
        self.refuse("index.obj", obj(CUBE, [(0, 1, 9)]), ":9: vertex 10 does not exist, there are 8 above this line")
        self.refuse("nan.obj", "v 0 0 0\nv 1 nan 0\nv 0 1 0\nf 1 2 3\n", ':2: "nan" is not a number')
        code, _, errors, _ = self.measured("run", os.path.join(self.folder.name, "none.obj"))
        self.assertEqual((code, errors), (1, "limber: %s/none.obj: No such file or directory\n" % self.folder.name))

    def test_thin_meshes_are_thin_bodies(self):
        one = self.simulate(self.write("one.obj", obj([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])))
        self.assertTrue(2000 < one["particles"] < 4000)
        size = 20
        points = [(x / size, 0.1 * y / size, z / size) for y in [0] for z in range(size + 1) for x in range(size + 1)]
        quads = [(a, a + 1, a + size + 2, a + size + 1) for z in range(size) for a in range(z * (size + 1), z * (size + 1) + size)]
        plane = self.simulate(self.write("plane.obj", obj(points, quads)))
        self.assertTrue(2000 < plane["particles"] < 4000)
        self.assertLess(plane["max_speed"], 10)

    def test_too_fine(self):
        """Ten thousand million cells, and ten million particles too many: refused before they take memory."""
        path = self.write("cube.obj", obj(CUBE, QUADS))
        for spacing, told in [("1e-4", "a spacing of 0.0001 m needs a lattice of 20001 x 10001 x 5000 cells"),
                              ("3e-3", "asks for 37037037 particles (expected at most 16777216 in all)")]:
            code, output, errors, memory = self.measured("run", path, "--set", "bodies[0].lattice.spacing=" + spacing)
            self.assertEqual((code, output), (1, ""))
            self.assertIn(told, errors)
            self.assertTrue(errors.startswith("limber: %s: bodies[0].lattice: " % path), errors)  # of no line in the mesh
            self.assertEqual(errors.count("\n"), 1)
            self.assertLess(memory, 200000)
        code, _, errors, _ = self.measured("run", path, "--set", "bodies[0].lattice.spacing=-1")
        self.assertEqual(code, 1)
        self.assertEqual(errors, "limber: --set bodies[0].lattice.spacing=-1: bodies[0].lattice.spacing: is -1 (expected a "
                                 "number above 0 and at most 100000 in m)\n")

    def test_formats_of_others(self):
        """With assimp its word on the file, without it a hint at what can be read."""
        path = self.write("broken.fbx", "nothing of the kind")
        done = subprocess.run([LIMBER, "info", path], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"\Alimber: [^\n]*broken.fbx: (assimp: [^\n]+|fbx files need assimp, [^\n]+ "
                                      r"\(expected OBJ, PLY, STL, OFF, glTF or GLB\))\n\Z")

    def test_many_triangles(self):
        """A soup in which no two triangles share a corner."""
        count = 1000000
        soup = bytearray(50 * count)
        for k in range(36):
            soup[12 + k::50] = b"\x3f" * count if k % 4 == 3 else os.urandom(count)
        told = self.info("soup.stl", b"\0" * 80 + struct.pack("<I", count) + bytes(soup))
        self.assertIn("triangles   1000000\n", told)
        self.assertIn("parts       1000000\n", told)
        self.assertIn("3000000 edges are open\n", told)
        soup = self.simulate(os.path.join(self.folder.name, "soup.stl"), "--frames", "3")
        self.assertTrue(2000 < soup["particles"] < 4000)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
