"""Meshes, shapes, scenes, exporters and pictures."""

import json
import os
import subprocess
import tempfile
import types
import unittest
import zlib
from pathlib import Path

import numpy as np

import limber
from support import CUBE, SOURCE, box, tool


class Folder(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = Path(held.name)


class Meshes(Folder):
    def test_from_many_things(self):
        mesh = box()
        like = types.SimpleNamespace(vertices=mesh.vertices.astype(np.float64), faces=mesh.faces.astype(np.int64))
        path = self.folder / "box.obj"
        mesh.write(path)
        for source in (mesh, (mesh.vertices, mesh.faces), [mesh.vertices.tolist(), mesh.faces.tolist()], like, path, str(path)):
            made = limber.Mesh.of(source)
            np.testing.assert_array_equal(made.vertices, mesh.vertices)
            np.testing.assert_array_equal(made.faces, mesh.faces)
        world = limber.World()
        self.assertEqual(world.add_lattice(like, spacing=0.25).info.shape_hash, world.add_lattice(path, spacing=0.25).info.shape_hash)

    def test_files(self):
        duck = limber.Mesh.shape("duck", detail=8)
        path = self.folder / "duck.obj"
        duck.write(path, "a duck")
        read = limber.Mesh.read(path)
        np.testing.assert_array_equal(read.vertices, duck.vertices)
        np.testing.assert_array_equal(read.colours, duck.colours)
        self.assertIn("OBJ", read.format)
        turned = limber.Mesh.read(path, z_up=True)
        np.testing.assert_allclose(turned.vertices[:, 1], duck.vertices[:, 2], atol=1e-6)
        (self.folder / "bad.obj").write_text("v 0 0 0\nf 1 2 3\n")
        with self.assertRaises(limber.FormatError) as caught:
            limber.Mesh.read(self.folder / "bad.obj")
        self.assertIn("bad.obj:2", str(caught.exception))
        with self.assertRaises(limber.FormatError):
            duck.write(self.folder / "no" / "where.obj")
        loose = limber.Mesh(np.vstack([CUBE, CUBE]), [[0, 1, 2], [8, 9, 11]])
        loose.write(path)
        self.assertEqual(len(limber.Mesh.read(path).vertices), 8)
        self.assertEqual(len(limber.Mesh.read(path, weld=-1).vertices), 16)

    def test_tets(self):
        found = sorted(Path(SOURCE, "test/data/tets").iterdir())
        read = 0
        for path in found:
            if path.suffix in (".mesh", ".msh", ".node", ".vol"):
                mesh = limber.TetMesh.read(path)
                self.assertEqual((mesh.vertices.shape[1], mesh.tets.shape[1], mesh.faces.shape[1]), (3, 4, 3))
                read += 1
        self.assertGreater(read, 2, found)
        self.assertGreater(limber.World().add_tets(mesh).info.tets, 0)

    def test_shapes(self):
        self.assertIn("duck", limber.shapes())
        infant = limber.Mesh.shape("infant", size=0.8)
        self.assertAlmostEqual(float(np.ptp(infant.vertices, axis=0).max()), 0.8, delta=0.02)
        self.assertGreater(len(infant.bones), 5)
        self.assertEqual(infant.bones[0].parent, -1)
        for bone in infant.bones:
            self.assertEqual(infant.groups[bone.name].shape, (len(infant.vertices),))
        points, mesh = limber.shape_points("sphere", points=300, detail=4)
        self.assertEqual(points.shape, (300, 3))
        np.testing.assert_array_equal(points[: len(mesh.vertices)], mesh.vertices)


class Scenes(Folder):
    def test_list_and_schema(self):
        self.assertEqual(sorted(limber.scenes()), sorted(p.stem for p in Path(SOURCE, "scenes").glob("*.json")))
        self.assertEqual(json.loads(limber.schema()), json.loads(tool("schema").stdout))

    def test_what_a_scene_says(self):
        with limber.Scene("sticks") as scene:
            self.assertIn("sticks", scene.title)
            self.assertIn("fig", scene.figure)
            self.assertEqual(len(scene.bodies), len(scene.world.bodies))
            eye, middle, angle = scene.camera
            self.assertTrue(0 < angle < 180 and np.linalg.norm(eye - middle) > 0)
            self.assertLess(scene.momentum_error, 1e-3)
        with self.assertRaises(limber.ClosedError):
            scene.step()
        with self.assertRaises(limber.ClosedError):
            scene.world

    def test_a_world_outlives_its_scene(self):
        world = limber.Scene("sticks").world
        world.step()
        self.assertGreater(world.stats.particles, 0)

    def test_expectations(self):
        scene = limber.Scene("modes")
        scene.run()
        self.assertEqual(scene.frame, scene.frames)
        lines = scene.check()
        self.assertGreater(len(lines), 2)
        self.assertEqual([line for line in lines if not line.startswith("ok ")], [])

    def test_own_text_and_file(self):
        text = Path(SOURCE, "scenes/sticks.json").read_text()
        path = self.folder / "mine.json"
        path.write_text(text)
        hashes = {
            limber.Scene("sticks").run(10).hash,
            limber.Scene(path).run(10).hash,
            limber.Scene("mine", text=text, workers=1).run(10).hash,
        }
        self.assertEqual(len(hashes), 1)

    def test_a_mesh(self):
        path = self.folder / "duck.obj"
        limber.Mesh.shape("duck", detail=8).write(path)
        scene = limber.Scene(path)
        scene.step(60)
        self.assertEqual(len(scene.bodies), 1)
        self.assertGreater(next(iter(scene.bodies.values())).centre[1], 0.0)

    def test_wrong_scenes(self):
        for name, options, words in (
            ("stick", {}, 'did you mean "sticks"'),
            ("x", {"text": "{"}, "x:1:"),
            ("sticks", {"sets": {"bodies[0].nonsense": 1}}, "nonsense"),
            ("sticks", {"sets": {"bodies[0].material.hertz": -1}}, "hertz"),
            ("/nonexistent.json", {}, "nonexistent"),
        ):
            with self.assertRaises(limber.FormatError) as caught:
                limber.Scene(name, **options)
            self.assertIn(words, str(caught.exception))
        with self.assertRaises(limber.ArgumentError):
            limber.Scene("sticks", wrkers=1)
        with self.assertRaises(limber.UnsupportedError):
            limber.Scene("sticks", isa="neon" if "neon" not in limber.instruction_sets() else "avx2")
        scene = limber.Scene("sticks")
        with self.assertRaises(limber.FormatError):
            scene.load(b"nothing")
        with self.assertRaises(limber.LimberError):
            scene.load(limber.World().save())


class Exporters(Folder):
    def world(self):
        world = limber.World()
        world.add_collider("plane")
        world.add_lattice(box(), spacing=0.25, position=(0, 0.7, 0))
        return world

    def test_every_format(self):
        for name in limber.formats():
            with self.subTest(name):
                world = self.world()
                path = self.folder / f"out.{name}"
                with limber.Exporter(path, world, frames=4, format=name) as out:
                    for _ in range(4):
                        out.add()
                        world.step()
                written = list(self.folder.iterdir())
                self.assertTrue(written and all(p.stat().st_size > 0 for p in written))
                for p in written:
                    p.unlink()

    def test_what_is_in_it(self):
        """PC2 is plain enough to be read here: a header of 32 bytes, then positions."""
        world = self.world()
        body = world.bodies[0]
        shown = []
        with limber.Exporter(self.folder / "out.pc2", world, frames=5, bodies={"cube": body}) as out:
            for _ in range(5):
                out.add()
                shown.append(body.skin.vertices)
                world.step()
        data = (self.folder / "out.pc2").read_bytes()
        read = np.frombuffer(data[32:], dtype="<f4").reshape(5, -1, 3)
        np.testing.assert_array_equal(read, np.array(shown))
        self.assertIn("g cube", (self.folder / "out.obj").read_text())

    def test_colours_and_loss(self):
        world = self.world()
        body = world.bodies[0]
        out = limber.Exporter(self.folder / "out.glb", world, frames=2, colours={body: [[255, 0, 0]]}, joints=4)
        out.add()
        world.step(count=5)
        out.add()
        loss = out.finish()
        self.assertGreater(loss.size, 1.0)
        self.assertLess(loss.largest, 0.2)
        with self.assertRaises(limber.ClosedError):
            out.add()

    def test_same_as_the_tool(self):
        limber.export("sticks", self.folder / "a.pc2", frames=12)
        tool("export", "sticks", "--frames", "12", "--out", str(self.folder / "b.pc2"))
        self.assertEqual((self.folder / "a.pc2").read_bytes(), (self.folder / "b.pc2").read_bytes())
        self.assertEqual((self.folder / "a.obj").read_text(), (self.folder / "b.obj").read_text())

    def test_failures_leave_nothing(self):
        world = self.world()
        with self.assertRaises(RuntimeError):
            with limber.Exporter(self.folder / "out.glb", world, frames=3) as out:
                out.add()
                raise RuntimeError
        with self.assertRaises(limber.FormatError):  # frames are missing
            with limber.Exporter(self.folder / "out.glb", world, frames=3) as out:
                out.add()
        with self.assertRaises(limber.FormatError) as caught:  # another topology than a point cache can have
            with limber.Exporter(self.folder / "out.pc2", world, frames=2) as out:
                out.add()
                world.bodies[0].cut(limber.Mesh([[0, -2, -2], [0, 2, -2], [0, 0, 3]], [[0, 1, 2]]))
                out.add()
        self.assertIn("out.pc2", str(caught.exception))
        self.assertEqual(os.listdir(self.folder), [])
        for use in (
            lambda: limber.Exporter(self.folder / "none" / "out.glb", world, frames=1),
            lambda: limber.Exporter(self.folder / "out.xyz", world, frames=1),
            lambda: limber.Exporter(self.folder / "out.glb", world, frames=0),
            lambda: limber.Exporter(self.folder / "out.glb", limber.World(), frames=1),
            lambda: limber.Exporter(self.folder / "out.glb", world, frames=1, motion="dance"),
            lambda: limber.Exporter(self.folder / "out.glb", limber.World(), frames=1, bodies=world.bodies),
        ):
            with self.assertRaises(limber.LimberError):
                use()
        self.assertEqual(os.listdir(self.folder), [])


class Pictures(Folder):
    def test_render(self):
        world = limber.World()
        world.add_collider("plane")
        body = world.add_lattice(box(), spacing=0.25, position=(0, 0.5, 0))
        camera = ((0, 1, 4), (0, 0.5, 0), 40)
        red = limber.render(world, (160, 90), camera=camera, colours={body: [[255, 0, 0]]}).pixels
        self.assertEqual((red.shape, red.dtype), ((90, 160, 3), np.uint8))
        middle = red[40:50, 75:85].reshape(-1, 3).mean(axis=0)
        self.assertGreater(middle[0], 2 * middle[1])
        blue = limber.render(world, (160, 90), camera=camera, colours={body: [[0, 0, 255]]})
        middle = np.asarray(blue)[40:50, 75:85].reshape(-1, 3).mean(axis=0)
        self.assertGreater(middle[2], 1.5 * middle[0])
        blue.save(self.folder / "blue.png")
        data = (self.folder / "blue.png").read_bytes()
        self.assertEqual(data, blue._repr_png_())
        rows = zlib.decompress(data[data.index(b"IDAT") + 4 : data.index(b"IEND") - 8])
        np.testing.assert_array_equal(np.frombuffer(rows, np.uint8).reshape(90, -1)[:, 1:].reshape(90, 160, 3), blue.pixels)

    def test_same_as_the_tool(self):
        scene = limber.Scene("sticks", fine_surfaces=True)
        scene.step(60)
        tool("render", "sticks", "--frames", "60", "--size", "320x180", "--out", str(self.folder / "tool.png"))
        read = ["ffmpeg", "-v", "error", "-i", str(self.folder / "tool.png"), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
        theirs = np.frombuffer(subprocess.run(read, capture_output=True, check=True).stdout, np.uint8).reshape(180, 320, 3)
        ours = limber.render(scene, (320, 180)).pixels.astype(int)
        alike = np.abs(ours - theirs).max(axis=2) <= 4
        self.assertGreater(alike.mean(), 0.85, "all but the labels that the tool writes")
        with limber.Renderer(320, 180) as renderer:
            ours = renderer.draw(scene, views="surface").pixels.astype(int)
            self.assertNotEqual(np.abs(renderer.draw(scene, views=["wireframe"]).pixels - ours).max(), 0)
            with self.assertRaises(limber.ArgumentError):
                renderer.draw(scene, views="x-ray")
            with self.assertRaises(limber.ArgumentError):
                renderer.draw(scene, colours={scene.world.bodies[0]: [[1, 2, 3], [4, 5, 6]]})
        with self.assertRaises(limber.ArgumentError):
            renderer.draw(scene)
        self.assertIn("surface", limber.views())
        self.assertGreater(len(np.unique(ours.reshape(-1, 3), axis=0)), 50)

    def test_wrong_sizes(self):
        for size in ((0, 0), (5, 5), (100000, 10)):
            with self.assertRaises(limber.LimberError):
                limber.render(limber.World(), size)

    def test_view_needs_the_tool(self):
        import limber.picture as picture

        before = os.environ["LIMBER_TOOL"]
        os.environ["LIMBER_TOOL"] = "/nonexistent"
        try:
            with self.assertRaises(limber.UnsupportedError):
                limber.view("sticks")
        finally:
            os.environ["LIMBER_TOOL"] = before
        self.assertEqual(picture.find_tool(), before)
        process = limber.view("sticks", "--help")
        self.assertEqual(process.wait(timeout=60), 0)


if __name__ == "__main__":
    unittest.main()
