"""Arrays: views without a copy, memory that outlives its world, and input that is wrong."""

import gc
import resource
import unittest
import warnings

import numpy as np

import limber
from limber import ffi, lib
from support import CUBE, box, grid


def address(array):
    return array.__array_interface__["data"][0]


class ZeroCopy(unittest.TestCase):
    def make(self):
        world = limber.World()
        return world, [
            world.add_points(grid(4), clusters=(2, 2, 2)),
            world.add_lattice(box(), spacing=0.25, position=(3, 0, 0)),
            world.add_octree(box(), spacing=1 / 8, levels=1, position=(6, 0, 0)),
            world.add_tets(box(), spacing=0.5, position=(9, 0, 0)),
        ]

    def test_arrays_are_the_memory_of_the_library(self):
        world, bodies = self.make()
        world.step()
        for body in bodies:
            view = ffi.new("lm_state_view *")
            self.assertEqual(lib.lm_body_view_state(world._world, body.id, view), lib.LM_OK)
            live = body.live
            for array, start in (
                (live.positions, view.positions),
                (live.velocities, view.velocities),
                (live.places, view.places),
                (live.particles, view.particles),
            ):
                self.assertEqual(address(array), int(ffi.cast("uintptr_t", start)))
                self.assertFalse(array.flags.owndata)
                self.assertFalse(array.flags.writeable)
                with self.assertRaises(ValueError):
                    array.flags.writeable = True
            self.assertEqual(live.positions.strides, (16, 4))
            self.assertEqual(len(live.positions), view.place_count)
            self.assertIs(live.positions, live.positions)

    def test_values(self):
        world, bodies = self.make()
        world.step(count=7)
        for body in bodies:
            live = body.live
            np.testing.assert_allclose(live.positions[live.places] + live.origin, body.positions, atol=1e-5)
            np.testing.assert_array_equal(live.velocities[live.places], body.velocities)
            np.testing.assert_array_equal(live.particles[live.places], np.arange(body.info.particles))

    def test_an_array_follows_the_steps(self):
        world, bodies = self.make()
        world.step()
        seen = [body.live.velocities for body in bodies]
        before = [array.copy() for array in seen]
        world.step(count=3)
        for body, array, old in zip(bodies, seen, before):
            self.assertFalse(np.array_equal(array, old))
            np.testing.assert_array_equal(array[body.live.places], body.velocities)

    def test_an_array_outlives_what_it_shows(self):
        def look():
            memory = lib.host_get_memory()
            return memory.blocks, memory.bytes, memory.hosts

        gc.collect()
        start = look()
        world, bodies = self.make()
        world.step()
        seen = [(body.live.positions, body.live.velocities) for body in bodies]
        kept = [[array.copy() for array in pair] for pair in seen]
        bodies[0].destroy()
        bodies[1].cut(limber.Mesh([[3, -2, -2], [3, 2, -2], [3, 0, 3]], [[0, 1, 2]]))
        world.step()
        for pair in seen:
            for array in pair:
                self.assertTrue(np.isfinite(array).all())
        world.close()
        for pair, old in zip(seen[:1], kept):
            for array, values in zip(pair, old):
                np.testing.assert_array_equal(array, values)
        self.assertGreater(look()[1], start[1])
        del world, bodies, pair, array, seen
        gc.collect()
        self.assertEqual(look(), start)

    def test_live_skin_is_one_array(self):
        world = limber.World()
        body = world.add_lattice(box(), spacing=0.25)
        skin, normals = body.live.skin, body.live.normals
        world.step(count=5)
        self.assertIs(body.live.skin, skin)
        self.assertIs(body.live.normals, normals)
        np.testing.assert_array_equal(skin, body.skin.vertices)
        body.cut(limber.Mesh([[0, -2, -2], [0, 2, -2], [0, 0, 3]], [[0, 1, 2]]))
        self.assertGreater(len(body.live.skin), len(skin))

    def test_live_regions_are_one_array(self):
        world = limber.World()
        body = world.add_lattice(box(), spacing=0.25, width=2, velocity=(1, 0, 0))
        regions = body.live.regions
        before = regions["constant"].copy()
        world.step(count=6)
        self.assertIs(body.live.regions, regions)
        np.testing.assert_array_equal(regions, body.get_region_transforms())
        fallen = 9.81 / 3600 * sum(range(1, 7))  # of symplectic steps of a frame; substeps fall a little less
        moved = (regions["constant"] - before).mean(axis=0)
        np.testing.assert_allclose(moved[[0, 2]], [0.1, 0.0], atol=1e-3)
        self.assertTrue(-fallen <= moved[1] <= -0.5 * 9.81 * 0.1**2)
        body.cut(limber.Mesh([[0, -2, -2], [0, 2, -2], [0, 0, 3]], [[0, 1, 2]]))
        self.assertEqual(len(body.live.regions), body.info.regions)

    def test_positions_are_new_arrays(self):
        body = limber.World().add_points(CUBE)
        self.assertIsNot(body.positions, body.positions)
        self.assertTrue(body.positions.flags.owndata)


class WrongInput(unittest.TestCase):
    def setUp(self):
        self.world = limber.World()
        self.body = self.world.add_points(CUBE)

    def refused(self, *uses):
        before, bodies = self.world.hash, len(self.world.bodies)
        for n, use in enumerate(uses):
            with self.subTest(n), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                with self.assertRaises((limber.LimberError, TypeError, ValueError, OverflowError)):
                    use()
        self.assertEqual((self.world.hash, len(self.world.bodies)), (before, bodies))

    def test_points(self):
        bad = CUBE.copy()
        bad[3, 1] = np.nan
        inf = CUBE.copy()
        inf[3, 1] = np.inf
        self.refused(
            lambda: self.world.add_points(bad),
            lambda: self.world.add_points(inf),
            lambda: self.world.add_points(CUBE.astype(np.float64) * 1e300),
            lambda: self.world.add_points([]),
            lambda: self.world.add_points(np.empty((0, 3))),
            lambda: self.world.add_points(CUBE[:, :2]),
            lambda: self.world.add_points(CUBE.reshape(-1)),
            lambda: self.world.add_points(CUBE.astype(complex)),
            lambda: self.world.add_points(CUBE.astype(str)),
            lambda: self.world.add_points(CUBE.astype(object)),
            lambda: self.world.add_points(CUBE > 0),
            lambda: self.world.add_points(None),
            lambda: self.world.add_points("points"),
            lambda: self.world.add_points(CUBE, mass=-1),
            lambda: self.world.add_points(CUBE, mass="heavy"),
            lambda: self.world.add_points(CUBE, masses=np.full(8, np.nan)),
            lambda: self.world.add_points(CUBE, clusters=(1, 2)),
            lambda: self.world.add_points(CUBE, clusters=(0, 1, 1)),
            lambda: self.world.add_points(CUBE, clusters=(-1, 1, 1)),
            lambda: self.world.add_points(CUBE, clusters=-4),
            lambda: self.world.add_points(CUBE, lists=[[0, 8]]),
            lambda: self.world.add_points(CUBE, lists=[[0, 0]]),
            lambda: self.world.add_points(CUBE, lists=[[]]),
            lambda: self.world.add_points(CUBE, elements=[[0, 99]]),
            lambda: self.world.add_points(CUBE, elements=[0, 1]),
            lambda: self.world.add_points(CUBE, position=(0, 0)),
            lambda: self.world.add_points(CUBE, rotation=(0, 0, 0, 0)),
            lambda: self.world.add_points(CUBE, rotation=(0, 0, 0)),
            lambda: self.world.add_points(CUBE, velocity=(np.inf, 0, 0)),
            lambda: self.world.add_points(CUBE, group=-1),
            lambda: self.world.add_points(CUBE, group=2**32),
            lambda: self.world.add_points(CUBE, nonsense=1),
            lambda: self.world.add_points(CUBE, material="jelly"),
            lambda: self.world.add_points(CUBE, contact_points="teeth"),
        )

    def test_meshes(self):
        mesh = box()
        far = mesh.faces.copy()
        far[0, 0] = len(mesh.vertices)
        nan = mesh.vertices.copy()
        nan[0] = np.nan
        self.refused(
            lambda: limber.Mesh(mesh.vertices, far),
            lambda: limber.Mesh(mesh.vertices, mesh.faces.astype(np.float32)),
            lambda: limber.Mesh(mesh.vertices, -mesh.faces.astype(np.int64)),
            lambda: limber.Mesh(mesh.vertices, mesh.faces[:, :2]),
            lambda: limber.Mesh(mesh.vertices, mesh.faces, colours=np.zeros((2, 3))),
            lambda: limber.Mesh(mesh.vertices, mesh.faces, normals=np.zeros((2, 3))),
            lambda: limber.Mesh.of(7),
            lambda: limber.Mesh.of((mesh.vertices,)),
            lambda: limber.Mesh.read("/nonexistent.obj"),
            lambda: limber.Mesh.shape("dragon"),
            lambda: limber.Mesh.shape("box", size=-1),
            lambda: limber.Mesh.shape("box", size=(1, 2)),
            lambda: limber.Mesh.shape("box", detail=0),
            lambda: limber.TetMesh(CUBE, [[0, 1, 2, 9]]),
            lambda: self.world.add_lattice((nan, mesh.faces), spacing=0.25),
            lambda: self.world.add_lattice(mesh, spacing=-1),
            lambda: self.world.add_lattice(mesh),
            lambda: self.world.add_lattice(),
            lambda: self.world.add_lattice(mesh, cells=np.ones((2, 2, 2)), spacing=1),
            lambda: self.world.add_lattice(cells=np.ones((2, 2)), spacing=1),
            lambda: self.world.add_lattice(mesh, spacing=0.25, vertex_masses=[1, 2]),
            lambda: self.world.add_lattice(mesh, spacing=0.25, width=99),
            lambda: self.world.add_octree(mesh, vertex_sizes=np.ones(3)),
            lambda: self.world.add_octree(mesh, levels=20),
            lambda: self.world.add_tets(limber.TetMesh(CUBE[:4] * 0, [[0, 1, 2, 3]])),
            lambda: self.body.set_skin((mesh.vertices, mesh.faces[:0])),
            lambda: self.world.add_collider("mesh"),
            lambda: self.world.add_collider("heights"),
            lambda: self.world.add_collider("heights", heights=np.zeros(5)),
            lambda: self.world.add_collider("heights", heights=np.full((3, 3), np.nan)),
            lambda: self.world.add_collider("sphere", radius=-1),
            lambda: self.world.add_collider("dodecahedron"),
            lambda: limber.Mesh(nan, mesh.faces).write("/tmp/never.obj"),
        )

    def test_state(self):
        self.refused(
            lambda: self.body.set_state(CUBE[:7]),
            lambda: self.body.set_state(CUBE, CUBE[:7]),
            lambda: self.body.set_state(CUBE * np.nan),
            lambda: self.body.set_state(CUBE, CUBE * np.inf),
            lambda: self.body.set_state(CUBE, base=(np.nan, 0, 0)),
            lambda: self.body.get_positions(out=np.zeros((8, 3))),
            lambda: self.body.get_positions(out=np.zeros((7, 3), dtype=np.float32)),
            lambda: self.body.get_positions(out=np.zeros((8, 6), dtype=np.float32)[:, ::2]),
            lambda: self.body.get_positions(out=np.zeros((3, 8), dtype=np.float32).T),
            lambda: self.body.get_positions(out=np.zeros((8, 3), dtype=">f4")),
            lambda: self.body.get_positions(out=np.broadcast_to(np.float32(0), (8, 3))),
            lambda: self.body.get_positions(out=[0.0] * 24),
            lambda: self.body.get_positions(base="origin"),
            lambda: setattr(self.body, "region_stiffness", [1, 2]),
            lambda: setattr(self.body, "region_stiffness", [2.0]),
            lambda: self.body.set_particle_stiffness(np.ones(9)),
            lambda: self.body.set_particle_stiffness(np.ones((8, 1))),
            lambda: self.body.carry_pose(CUBE),
            lambda: self.body.carry_pose(CUBE[:3], CUBE),
            lambda: self.body.carry_values(np.ones(3), CUBE),
            lambda: self.body.cut((CUBE, [[0, 1, 99]])),
            lambda: self.body.cut(limber.Mesh(CUBE * np.float32(np.nan), [[0, 1, 2]])),
            lambda: self.body.cut_sweep([[0, 0, 0]], [[1, 1, 1]]),
            lambda: self.body.set_examples([CUBE] * 9),
            lambda: self.body.set_examples([CUBE], scope="groups", groups=[0, 0], group_count=1),
            lambda: self.body.set_examples([CUBE], scope="groups"),
            lambda: self.body.set_fracture(limber.Fracture()),
            lambda: self.body.widths,
            lambda: self.body.refine((0, 0, 0), 1, 1),
            lambda: self.world.add_pin(self.body, []),
            lambda: self.world.add_pin(self.body, [8]),
            lambda: self.world.add_pin(self.body, [0.5]),
            lambda: self.world.add_pin(self.body, [0], targets=CUBE),
            lambda: self.world.add_pin(self.body, [0], targets=[[np.nan] * 3]),
            lambda: self.world.add_drag(self.body, 99, (0, 0, 0)),
            lambda: self.world.add_drag(self.body, 0, (0, 0, np.nan)),
            lambda: self.world.add_field("magnetism"),
            lambda: self.world.add_skeleton(self.body, []),
            lambda: self.world.step(0),
            lambda: self.world.step(float("nan")),
            lambda: self.world.step("fast"),
            lambda: self.world.step(None),
            lambda: setattr(self.world, "gravity", (0, np.nan, 0)),
            lambda: setattr(self.world, "substeps", 1025),
            lambda: setattr(self.world, "substeps", 1.5),
            lambda: limber.World(workers=1000),
            lambda: limber.World(isa="mmx"),
            lambda: self.world.overlap_sphere("here", 1),
        )

    def test_arrays_of_other_kinds_are_converted(self):
        wide = np.zeros((8, 6))
        wide[:, ::2] = CUBE
        for points in (CUBE.tolist(), CUBE.astype(np.float64), CUBE.astype(np.int16), CUBE.astype(">f8"), wide[:, ::2], np.asfortranarray(CUBE)):
            np.testing.assert_array_equal(self.world.add_points(points).rest_positions, CUBE)
        frozen = CUBE.copy()
        frozen.flags.writeable = False
        np.testing.assert_array_equal(self.world.add_points(frozen).rest_positions, CUBE)

    def test_random_calls_never_crash(self):
        """Every method with every kind of wrong value."""
        values = [None, -1, 0, 2**40, float("nan"), "x", b"x", [], [[]], {}, object(), CUBE, CUBE[:, :1], np.array(3), [1, 2, 3], np.nan * CUBE]
        rng = np.random.default_rng(1)
        methods = [
            (thing, name)
            for thing in (self.world, self.body, self.world.add_mover(), self.world.add_collider("box"), self.world.add_drag(self.body, 0, (0, 0, 0)))
            for name in dir(thing)
            if not name.startswith("_") and callable(getattr(type(thing), name, None)) and name not in ("close", "destroy", "copy")
        ]
        calls = 0
        for _ in range(12):
            for thing, name in methods:
                arguments = [values[rng.integers(len(values))] for _ in range(rng.integers(0, 4))]
                try:
                    getattr(thing, name)(*arguments)
                except (limber.LimberError, TypeError, ValueError, OverflowError, AttributeError, IndexError):
                    pass
                calls += 1
        self.assertGreater(calls, 400)
        self.assertTrue(self.world.totals.finite)


class Leaks(unittest.TestCase):
    def rounds(self, count):
        points = grid(3)
        for n in range(count):
            with limber.World(workers=1) as world:
                body = world.add_points(points, clusters=(2, 1, 1))
                world.add_collider("plane")
                world.step()
                body.live.positions
                if n % 3 == 0:
                    body.destroy()

    def check(self, count, slack):
        def rss():
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * resource.getpagesize()

        gc.collect()
        self.rounds(200)
        gc.collect()
        before, memory = rss(), lib.host_get_memory()
        start = memory.blocks, memory.bytes, memory.hosts
        self.rounds(count)
        gc.collect()
        memory = lib.host_get_memory()
        self.assertEqual((memory.blocks, memory.bytes, memory.hosts), start)
        self.assertLess(rss() - before, slack)

    def test_no_leak(self):
        self.check(1000, 4 << 20)


if __name__ == "__main__":
    unittest.main()
