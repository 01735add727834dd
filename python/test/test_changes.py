"""What definitions set can be read and changed later; colliders that deform, and caches that move them."""

import os
import struct
import tempfile
import unittest

import numpy as np

import limber
from support import CUBE, box, grid, tool

TURNED = (0.0, np.sin(0.4), 0.0, np.cos(0.4))


def still(**settings):
    return limber.World(gravity=(0, 0, 0), **settings)


class Bodies(unittest.TestCase):
    def test_pose(self):
        world = still()
        body = world.add_points(CUBE, position=(1, 2, 3))
        np.testing.assert_allclose(body.pose.position, (1, 2, 3), atol=1e-6)
        body.pose = ((5, 0, 0), TURNED)
        np.testing.assert_allclose(body.pose.position, (5, 0, 0), atol=1e-5)
        np.testing.assert_allclose(np.abs(body.pose.rotation), np.abs(TURNED), atol=1e-5)
        body.set_state(2.0 * body.positions)
        before = body.positions
        body.set_pose((0, 0, 0), keep_shape=False)
        np.testing.assert_allclose(body.positions, CUBE, atol=1e-5)
        self.assertGreater(np.ptp(before), np.ptp(body.positions))
        with self.assertRaises(limber.ArgumentError):
            body.pose = ((np.nan, 0, 0), TURNED)

    def test_velocity(self):
        world = still()
        body = world.add_points(grid(3))
        body.set_velocity((1, 2, 3), (0, 4, 0))
        info = body.info
        np.testing.assert_allclose(info.velocity, (1, 2, 3), atol=1e-5)
        np.testing.assert_allclose(info.spin, (0, 4, 0), atol=1e-4)

    def test_filter(self):
        world = limber.World()
        floor = world.add_collider("plane")
        body = world.add_points(CUBE, position=(0, 0.01, 0))
        self.assertEqual(body.filter, limber.BodyFilter())
        body.filter = limber.BodyFilter(collider_mask=0)
        world.step(count=30)
        self.assertLess(body.centre[1], 0.0)  # it fell through the floor
        body.filter = limber.BodyFilter(group=6)
        self.assertEqual(body.filter.group, 6)
        self.assertTrue(floor.enabled)

    def test_numbers(self):
        world = still()
        body = world.add_points(CUBE, contact_radius=0.1, user_data=5)
        self.assertAlmostEqual(body.contact_radius, 0.1, places=6)
        body.contact_radius = 0.2
        self.assertAlmostEqual(body.info.contact_radius, 0.2, places=6)
        body.penalty = 30.0
        self.assertAlmostEqual(body.penalty, 30.0)
        body.mass = 4.0
        self.assertAlmostEqual(body.mass, 4.0, places=5)
        body.masses = np.arange(1, 9)
        np.testing.assert_allclose(body.masses, np.arange(1, 9))
        self.assertAlmostEqual(body.mass, 36.0, places=4)
        body.user_data = 2**64 - 1
        self.assertEqual(body.user_data, 2**64 - 1)
        for bad in ({"mass": -1.0}, {"penalty": np.nan}, {"contact_radius": -1}, {"masses": [1]}, {"user_data": -1}, {"mass": "x"}):
            for name, value in bad.items():
                with self.subTest(name), self.assertRaises(limber.ArgumentError):
                    setattr(body, name, value)

    def test_enabled(self):
        world = limber.World()
        body = world.add_points(CUBE)
        body.enabled = False
        self.assertFalse(body.enabled or body.info.enabled)
        before = body.positions
        world.step(count=10)
        np.testing.assert_array_equal(body.positions, before)
        body.enabled = True
        world.step(count=10)
        self.assertLess(body.centre[1], before.mean(axis=0)[1])

    def test_clone(self):
        world = still()
        body = world.add_lattice(box(), spacing=0.5, position=(1, 0, 0))
        body.set_velocity((0, 1, 0))
        twin = body.clone()
        self.assertNotEqual(twin, body)
        np.testing.assert_array_equal(twin.positions, body.positions)
        np.testing.assert_array_equal(twin.velocities, body.velocities)

    def test_may_sleep(self):
        world = still()
        body = world.add_points(CUBE)
        self.assertTrue(body.may_sleep)
        body.may_sleep = False
        self.assertFalse(body.may_sleep)

    def test_sockets(self):
        world = still()
        body = world.add_points(grid(4))
        socket = body.socket((0.3, 0.3, 0.3))
        state = socket.read()
        np.testing.assert_allclose(state.pose.position, (0.3, 0.3, 0.3), atol=1e-5)
        body.pose = ((2, 0, 0), (0, 0, 0, 1))
        body.set_velocity((0, 3, 0))
        state = socket.read()
        np.testing.assert_allclose(state.pose.position, (2.3, 0.3, 0.3), atol=1e-4)
        np.testing.assert_allclose(state.velocity, (0, 3, 0), atol=1e-4)
        np.testing.assert_allclose(socket.read(body.clone()).pose.position, state.pose.position, atol=1e-5)
        body.destroy()
        with self.assertRaises(limber.IdError):
            socket.read()


class Texture(unittest.TestCase):
    def test_after_a_cut(self):
        world = still()
        mesh = box(detail=6)
        uvs = np.stack([mesh.vertices[mesh.faces][:, :, 0], mesh.vertices[mesh.faces][:, :, 1]], axis=-1)  # from where corners are
        body = world.add_octree(mesh, spacing=0.1)
        np.testing.assert_array_equal(body.skin_uvs(mesh.faces, uvs), uvs)
        blade = ([[0.03, -2, -2], [0.03, 2, -2], [0.03, 2, 2], [0.03, -2, 2]], [[0, 1, 2], [0, 2, 3]])
        body.cut(blade)
        after, faces = body.skin_uvs(mesh.faces, uvs), body.skin_faces
        self.assertEqual(after.shape, (len(faces), 3, 2))
        outer = (body.skin_sources[faces] != limber.INNER).all(axis=1)
        self.assertTrue(outer.any() and not outer.all())
        rest = body.skin_rest[faces][outer]
        # New vertices on divided edges have the coordinates of the nearer end: at most half an edge off.
        self.assertLess(np.abs(after[outer] - rest[:, :, :2]).max(), 0.5 * np.sqrt(2) / 6 + 1e-3)
        np.testing.assert_array_equal(after[~outer], 0.0)
        with self.assertRaises(limber.ArgumentError):
            body.skin_uvs(mesh.faces, uvs[:-1])


class Things(unittest.TestCase):
    def test_colliders(self):
        world = still()
        collider = world.add_collider("sphere", radius=1.0, user_data=9)
        self.assertEqual(collider.user_data, 9)
        collider.user_data = 10
        collider.pose = ((1, 2, 3), TURNED)
        np.testing.assert_allclose(collider.pose.position, (1, 2, 3))
        collider.friction, collider.restitution = 0.25, 0.75
        self.assertEqual((collider.friction, collider.restitution, collider.user_data), (0.25, 0.75, 10))
        collider.filter = (4, 2)
        self.assertEqual(collider.filter, (4, 2))
        self.assertIsNotNone(world.cast_ray((1, 9, 3), (0, -1, 0)))
        collider.enabled = False
        self.assertFalse(collider.enabled)
        self.assertIsNone(world.cast_ray((1, 9, 3), (0, -1, 0)))
        collider.enabled = True
        collider.set("box", half_extents=(1, 5, 1))
        self.assertEqual(collider.shape, "box")
        self.assertAlmostEqual(world.cast_ray((0, 9, 0), (0, -1, 0)).distance, 4.0, places=5)
        for bad in (lambda: collider.set("cube"), lambda: setattr(collider, "friction", -1), lambda: collider.vertices):
            with self.assertRaises(limber.ArgumentError):
                bad()

    def test_movers_with_mass(self):
        world = limber.World()
        mover = world.add_mover((0, 5, 0), mass=2.0)
        world.add_collider("box", mover=mover)
        mover.apply_impulse((4, 0, 0), (0, 5, 0))
        np.testing.assert_allclose(mover.velocity, (2, 0, 0), atol=1e-6)
        world.step()
        self.assertLess(mover.pose.position[1], 5)
        mover.set_mass(3.0, (1, 2, 2))
        self.assertEqual(mover.mass, 3.0)
        np.testing.assert_allclose(mover.inertia, (1, 2, 2))
        mover.may_sleep = False
        mover.wake()
        self.assertTrue(mover.is_awake and not mover.may_sleep)
        with self.assertRaises(limber.ArgumentError):
            mover.move_to((0, 0, 0))

    def test_movers(self):
        world = still()
        mover = world.add_mover((1, 0, 0), velocity=(0, 2, 0), spin=(0, 0, 3), user_data=4)
        np.testing.assert_allclose(mover.velocity, (0, 2, 0))
        np.testing.assert_allclose(mover.spin, (0, 0, 3))
        self.assertEqual(mover.user_data, 4)
        mover.user_data = 5
        mover.pose = ((7, 7, 7), (0, 0, 0, 1))
        np.testing.assert_allclose(mover.pose.position, (7, 7, 7))
        self.assertEqual(mover.user_data, 5)

    def test_pins(self):
        world = limber.World()
        body = world.add_points(CUBE)
        pin = world.add_pin(body, [0, 5])
        self.assertEqual(pin.body, body)
        self.assertIsNone(pin.mover)
        np.testing.assert_array_equal(pin.particles, [0, 5])
        np.testing.assert_allclose(pin.targets, CUBE[[0, 5]])
        pin.targets = pin.targets + [0, 1, 0]
        world.step()
        np.testing.assert_allclose(body.positions[[0, 5]], CUBE[[0, 5]] + [0, 1, 0], atol=1e-5)
        with self.assertRaises(limber.ArgumentError):
            pin.targets = [[0, 0, 0]]
        mover = world.add_mover()
        self.assertEqual(world.add_pin(body, [1], mover=mover).mover, mover)

    def test_drags_and_fields(self):
        world = still()
        body = world.add_points(CUBE)
        drag = world.add_drag(body, 3, (0, 5, 0), hertz=3.0)
        drag.set(target=(1, 2, 3), particle=4)
        self.assertEqual((drag.values["particle"], drag.values["hertz"]), (4, 3.0))
        np.testing.assert_allclose(drag.values["target"], (1, 2, 3))
        with self.assertRaises(limber.ArgumentError):
            drag.set(colour=1)
        field = world.add_field("wind", vector=(1, 2, 3), strength=0.5)
        self.assertEqual((field.values["kind"], field.values["strength"]), ("wind", 0.5))
        field.set("uniform", vector=(0, 1, 0))
        self.assertEqual(field.values["kind"], "uniform")


SHEET = np.array([[x, 0, z] for x in (-1, 1) for z in (-1, 1)], dtype=np.float32)
SHEET_FACES = [[0, 1, 3], [0, 3, 2]]


class Deforming(unittest.TestCase):
    def test_vertices_move_and_lift_a_body(self):
        world = limber.World()
        sheet = world.add_collider("mesh", mesh=(SHEET, SHEET_FACES), deforms=True)
        body = world.add_points(grid(3), position=(0, 0.01, 0))
        for frame in range(30):
            sheet.move_vertices(SHEET + [0, 0.02 * (frame + 1), 0])
            world.step()
        np.testing.assert_allclose(sheet.vertices[:, 1], 0.6, atol=1e-6)
        self.assertGreater(body.positions[:, 1].min(), 0.59)
        self.assertAlmostEqual(body.info.velocity[1], 1.2, delta=0.2)
        copy = world.copy()
        np.testing.assert_array_equal(copy.colliders[0].vertices, sheet.vertices)
        sheet.vertices = SHEET
        np.testing.assert_array_equal(sheet.vertices, SHEET)
        self.assertTrue(sheet.size["deforms"])
        stiff = world.add_collider("mesh", mesh=(SHEET, SHEET_FACES))
        for bad in (lambda: stiff.move_vertices(SHEET), lambda: sheet.move_vertices(SHEET[:3]), lambda: sheet.move_vertices([[1, 2]])):
            with self.assertRaises(limber.ArgumentError):
                bad()

    def test_caches(self):
        frames = np.stack([SHEET + [0, 0.1 * k, 0] for k in range(7)])
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "sheet.pc2")
            with open(path, "wb") as file:
                file.write(struct.pack("<12siiffi", b"POINTCACHE2", 1, 4, 0.0, 1.0, 7) + frames.astype("<f4").tobytes())
            with limber.Cache(path, rate=30.0) as cache:
                self.assertEqual((len(cache), cache.begin), (4, 0.0))
                self.assertAlmostEqual(cache.end, 0.2)
                np.testing.assert_allclose(cache.sample(0.05), SHEET + [0, 0.15, 0], atol=1e-6)
                out = np.empty((4, 3), dtype=np.float32)
                self.assertIs(cache.sample(9.0, out), out)
                np.testing.assert_allclose(out, frames[-1], atol=1e-6)
            with self.assertRaises(limber.ClosedError):
                cache.sample(0.0)
            with open(path, "r+b") as file:
                file.truncate(100)
            with self.assertRaisesRegex(limber.FormatError, "ends within frame 1"):
                limber.Cache(path)
            glb = os.path.join(folder, "twist.glb")
            tool("export", "twist", "--frames", "12", "--motion", "morphs", "--out", glb)
            moving = limber.Cache(glb)
            mesh = limber.Mesh.read(glb, weld=-1)
            self.assertEqual(len(moving), len(mesh.vertices))
            np.testing.assert_allclose(moving.sample(0.0), mesh.vertices, atol=1e-5)
            self.assertGreater(np.abs(moving.sample(0.2) - mesh.vertices).max(), 1e-3)


if __name__ == "__main__":
    unittest.main()
