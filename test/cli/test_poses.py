#!/usr/bin/env python3
"""Example poses as users have them: a second mesh, a morph target, frames of MDD and PC2 files, each written here, give the
same body to the last bit; and broken or unfitting files are refused with a line that says what is wrong.

    test_poses.py LIMBER
"""

import itertools
import json
import math
import os
import struct
import subprocess
import sys
import tempfile
import unittest

LIMBER = sys.argv[1]

# A bar of 4 x 1 x 1, every corner three times, as programs write it that give each face its own normals.
CORNERS = [(4.0 * (i & 1) - 2.0, 1.0 * (i >> 1 & 1) - 0.5, 1.0 * (i >> 2 & 1) - 0.5) for i in range(8)]
FACES = [(0, 2, 3, 1), (0, 1, 5, 4), (4, 5, 7, 6), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
POINTS = [CORNERS[i] for face in FACES for i in face]
TRIANGLES = [(4 * f + a, 4 * f + b, 4 * f + c) for f in range(6) for a, b, c in ((0, 1, 2), (0, 2, 3))]


def sheared(point):
    return (point[0], point[1] + 0.5 * point[0], point[2])


def floats(order, points):
    return b"".join(struct.pack(order + "3f", *p) for p in points)


def obj(points):
    return ("".join("v %r %r %r\n" % p for p in points) +
            "".join("f %d %d %d\n" % (a + 1, b + 1, c + 1) for a, b, c in TRIANGLES)).encode()


def mdd(frames):
    return (struct.pack(">2i", len(frames), len(frames[0])) +
            struct.pack(">%df" % len(frames), *(i / 24 for i in range(len(frames)))) +
            b"".join(floats(">", frame) for frame in frames))


def pc2(frames):
    return (struct.pack("<12siiffi", b"POINTCACHE2", 1, len(frames[0]), 0.0, 1.0, len(frames)) +
            b"".join(floats("<", frame) for frame in frames))


def glb(points, targets):
    moves = [[tuple(b - a for a, b in zip(p, q)) for p, q in zip(points, target)] for target in targets.values()]
    indices = struct.pack("<%dH" % (3 * len(TRIANGLES)), *itertools.chain(*TRIANGLES))
    buffer = b"".join(floats("<", part) for part in [points] + moves) + indices
    size = 12 * len(points)
    views = [{"buffer": 0, "byteOffset": i * size, "byteLength": size} for i in range(1 + len(moves))]
    views.append({"buffer": 0, "byteOffset": (1 + len(moves)) * size, "byteLength": len(indices)})
    vectors = {"componentType": 5126, "count": len(points), "type": "VEC3"}
    accessors = [dict(vectors, bufferView=i) for i in range(1 + len(moves))]
    accessors.append({"bufferView": 1 + len(moves), "componentType": 5123, "count": 3 * len(TRIANGLES),
                      "type": "SCALAR"})
    text = json.dumps({
        "asset": {"version": "2.0"},
        "meshes": [{"extras": {"targetNames": list(targets)},
                    "primitives": [{"attributes": {"POSITION": 0}, "indices": 1 + len(moves),
                                    "targets": [{"POSITION": 1 + i} for i in range(len(moves))]}]}],
        "nodes": [{"mesh": 0}], "scenes": [{"nodes": [0]}], "scene": 0,
        "accessors": accessors, "bufferViews": views, "buffers": [{"byteLength": len(buffer)}]}).encode()
    text += b" " * (-len(text) % 4)
    buffer += b"\0" * (-len(buffer) % 4)
    return (struct.pack("<4sII", b"glTF", 2, 28 + len(text) + len(buffer)) + struct.pack("<I4s", len(text), b"JSON") +
            text + struct.pack("<I4s", len(buffer), b"BIN\0") + buffer)


class Poses(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        pose = [sheared(p) for p in POINTS]
        stretched = [(p[0] * 1.5, p[1], p[2]) for p in POINTS]
        self.write("rest.obj", obj(POINTS))
        self.write("pose.obj", obj(pose))
        self.write("cache.mdd", mdd([POINTS, stretched, pose]))
        self.write("cache.pc2", pc2([POINTS, stretched, pose]))
        self.write("both.glb", glb(POINTS, {"stretched": stretched, "sheared": pose}))

    def tearDown(self):
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, contents):
        with open(self.path(name), "wb") as file:
            file.write(contents)

    def run_scene(self, pose, mesh="rest.obj", frames=240):
        body = {"mesh": {"file": mesh, "longest": 1}, "lattice": {"spacing": 0.08},
                "material": {"mode": "rigid", "hertz": 8, "damping_ratio": 0.7},
                "examples": {"poses": [pose], "weights": [1]}}
        with open(self.path("scene.json"), "w", encoding="utf-8") as file:
            json.dump({"limber": 1, "gravity": [0, 0, 0], "bodies": [body]}, file)
        return subprocess.run([LIMBER, "run", self.path("scene.json"), "--frames", str(frames), "--json", "--out",
                               self.path("out")], capture_output=True, text=True, timeout=120, check=False)

    def hash_of(self, pose, mesh="rest.obj"):
        done = self.run_scene(pose, mesh)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["hash"]

    def refused(self, words, pose, mesh="rest.obj"):
        done = self.run_scene(pose, mesh, frames=1)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(words, done.stderr)

    def test_all_files_make_the_same_body(self):
        """The mesh of the body is an OBJ or the glTF file itself: the vertices are the same."""
        expected = self.hash_of({"file": "pose.obj"})
        others = [{"file": "cache.mdd", "frame": 2}, {"file": "cache.pc2", "frame": 2},
                  {"file": "both.glb", "target": "sheared"}, {"file": "both.glb", "target": "1"}]
        for pose in others:
            self.assertEqual(self.hash_of(pose), expected, pose)
        self.assertEqual(self.hash_of({"target": "sheared"}, "both.glb"), expected)
        # What they are told apart by: other frames and targets make other bodies.
        rest = self.hash_of({"file": "cache.mdd"})
        stretched = self.hash_of({"file": "cache.pc2", "frame": 1})
        self.assertEqual(self.hash_of({"target": "stretched"}, "both.glb"), stretched)
        self.assertEqual(len({expected, rest, stretched}), 3)

    def test_the_body_gets_there(self):
        """Forced into the pose, the corners end as far from each other as they are in it, at the body's size."""
        self.hash_of({"file": "cache.mdd", "frame": 2})
        meshes = [name for name in os.listdir(self.path("out")) if name.endswith(".obj")]
        self.assertEqual(len(meshes), 1)
        with open(os.path.join(self.path("out"), meshes[0]), encoding="utf-8") as file:
            made = [tuple(map(float, line.split()[1:4])) for line in file if line.startswith("v ")]
        self.assertEqual(len(made), 8)
        distances = sorted(math.dist(a, b) for a, b in itertools.combinations(made, 2))
        wanted = sorted(math.dist(sheared(a), sheared(b)) / 4 for a, b in itertools.combinations(CORNERS, 2))
        for a, b in zip(distances, wanted):
            self.assertAlmostEqual(a, b, delta=0.01)

    def test_vertices_that_meet_in_the_pose(self):
        """A pose may press two corners together: which vertices are one follows from the rest shape."""
        self.write("meeting.mdd", mdd([[(p[0], 0.0, p[2]) if p[0] > 0 else p for p in POINTS]]))
        self.hash_of({"file": "meeting.mdd"})

    def test_wrong_files(self):
        self.refused("cache.mdd: there is no frame 3 (it has 3, counted from 0)", {"file": "cache.mdd", "frame": 3})
        self.refused("both.glb: there is no morph target \"bent\" (expected one of: \"stretched\" \"sheared\")",
                     {"file": "both.glb", "target": "bent"})
        self.refused("rest.obj: it has no morph targets (expected a glTF file)", {"target": "sheared"})
        self.refused("pose.obj: it has no frames (expected an MDD or PC2 file)", {"file": "pose.obj", "frame": 0})
        self.refused("frame: is not of an MDD or PC2 file", {"frame": 1})
        self.refused("frame: is not of an MDD or PC2 file", {"file": "both.glb", "target": "sheared", "frame": 1})
        self.write("less.mdd", mdd([POINTS[:-1]]))
        self.refused("less.mdd: has 23 vertices (expected 24, as many as rest.obj)", {"file": "less.mdd"})
        self.write("short.pc2", pc2([POINTS, POINTS])[:-40])
        self.refused("short.pc2: the file ends within frame 1, point 20 (expected 2 frames of 24 points)",
                     {"file": "short.pc2", "frame": 0})
        self.refused("none.mdd: No such file or directory", {"file": "none.mdd"})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
