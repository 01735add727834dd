"""Bodies of every kind, and what can be done with them."""

import unittest

import numpy as np

import limber
from limber import ffi, lib
from support import CUBE, bar, box, grid


def still(**settings):
    return limber.World(gravity=(0, 0, 0), **settings)


class Kinds(unittest.TestCase):
    def test_points(self):
        world = still()
        points = grid(4)
        body = world.add_points(points, clusters=(2, 2, 2), mass=3.0, position=(1, 2, 3), user_data=77)
        info = body.info
        self.assertEqual((info.particles, info.regions, info.user_data), (64, 8, 77))
        self.assertAlmostEqual(info.mass, 3.0, places=5)
        np.testing.assert_allclose(body.positions, points + [1, 2, 3], atol=1e-6)
        np.testing.assert_array_equal(body.rest_positions, points)
        np.testing.assert_allclose(body.masses, 3.0 / 64, rtol=1e-6)
        np.testing.assert_allclose(body.centre, points.mean(axis=0) + [1, 2, 3], atol=1e-6)
        offsets, members = body.regions
        self.assertEqual((len(offsets), offsets[-1], len(members)), (9, info.memberships, info.memberships))
        self.assertLess(members.max(), 64)

    def test_other_clusters(self):
        world, points = still(), grid(4)
        self.assertEqual(world.add_points(points, clusters=5).info.regions, 5)
        self.assertGreater(world.add_points(points, cell_size=0.15).info.regions, 1)
        lists = world.add_points(CUBE, lists=[[0, 1, 2, 3], [2, 3, 4, 5, 6, 7]])
        offsets, members = lists.regions
        np.testing.assert_array_equal(offsets, [0, 4, 10])
        self.assertEqual(sorted(members[4:]), [2, 3, 4, 5, 6, 7])
        edges = np.array([[0, 1], [1, 3], [2, 3]])
        self.assertEqual(world.add_points(CUBE, elements=edges).info.regions, 3)
        self.assertEqual(world.add_points(CUBE, elements=edges, kind="rings").info.regions, 4)  # of the particles that have an edge
        self.assertEqual(world.add_points(CUBE, lists=[]).info.regions, 0)

    def test_masses(self):
        world = still()
        body = world.add_points(CUBE, masses=np.arange(1, 9))
        np.testing.assert_allclose(body.masses, np.arange(1, 9))
        with self.assertRaises(limber.ArgumentError):
            world.add_points(CUBE, masses=[1, 2, 3])
        lattice = world.add_lattice(box(), spacing=0.5)
        count = lattice.info.particles
        heavy = world.add_lattice(box(), spacing=0.5, masses=np.full(count, 2.0))
        self.assertAlmostEqual(heavy.info.mass, 2.0 * count, places=3)
        with self.assertRaises(limber.ArgumentError):
            world.add_lattice(box(), spacing=0.5, masses=np.ones(count - 1))

    def test_lattice(self):
        world = still()
        body = world.add_lattice(box(), spacing=0.25, width=2, mass=2.0)
        info = body.info
        self.assertEqual((info.width, info.spacing, info.regions), (2, 0.25, info.particles))
        self.assertGreater(info.skin_triangles, 10)
        cells = np.ones((2, 3, 4))
        other = world.add_lattice(cells=cells, spacing=0.1, first=(1, 0, 0))
        self.assertEqual(other.info.particles, 3 * 4 * 5)
        np.testing.assert_allclose(other.positions.min(axis=0), [1, 0, 0], atol=1e-6)
        np.testing.assert_allclose(other.positions.max(axis=0), [1.4, 0.3, 0.2], atol=1e-6)
        self.assertEqual(other.info.skin_vertices, 0)
        bare = world.add_lattice(box(), particles=100, skin=False)
        self.assertEqual(bare.info.skin_vertices, 0)
        heavy = world.add_lattice(mesh := box(), spacing=0.25, vertex_masses=1 + 50 * (mesh.vertices[:, 1] > 0))
        self.assertGreater(heavy.centre[1], 0.1)

    def test_tets(self):
        world = still()
        vertices = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]], dtype=np.float32)
        mesh = limber.TetMesh(vertices, [[0, 2, 1, 3], [1, 2, 4, 3]])
        self.assertEqual(len(mesh.faces), 6)
        body = world.add_tets(mesh)
        self.assertEqual((body.info.tets, body.info.particles, body.info.skin_triangles), (2, 5, 6))
        self.assertEqual(body.tets.shape, (2, 4))
        made = world.add_tets(box(), spacing=0.5, material=limber.Material(mode="rigid"))
        self.assertGreater(made.info.tets, 20)

    def test_octree(self):
        world = still()
        body = world.add_octree(box(detail=8), spacing=1 / 16, levels=2)
        info = body.info
        self.assertGreaterEqual(info.octree_nodes, info.particles)
        sizes = body.cell_sizes
        self.assertEqual(len(sizes), info.particles)
        self.assertGreaterEqual(sizes.min(), 0.999 / 16)
        body.widths = np.full(info.particles, 0.5)
        self.assertAlmostEqual(float(body.widths.max()), 0.5, places=2)
        before = info.particles
        self.assertGreater(body.refine((0, 0, 0), 0.3, 1 / 16), 0)
        self.assertGreater(body.info.particles, before)
        body.set_detail(limber.Detail(touch_size=1 / 16, touch_radius=0.2))
        detail, waiting = body.detail
        self.assertAlmostEqual(detail.touch_radius, 0.2, places=6)
        self.assertEqual(waiting, 0)
        body.set_detail(None)

    def test_skin_of_points(self):
        world = still()
        surface = box(0.3, 2)
        body = world.add_points(grid(4) - 0.15, skin=surface, skin_kind="regions", clusters=2)
        self.assertEqual(body.info.skin_vertices, len(surface.vertices))
        with self.assertRaises(limber.ArgumentError):
            world.add_points(CUBE, skin=limber.Mesh(CUBE, np.empty((0, 3), dtype=int)))
        self.assertEqual(len(world.bodies), 1, "a body whose skin is refused is not left behind")


class State(unittest.TestCase):
    def test_set_and_get(self):
        world = still()
        body = world.add_points(CUBE)
        velocities = np.arange(24).reshape(8, 3)
        body.set_state(CUBE * 2, velocities)
        np.testing.assert_allclose(body.positions, CUBE * 2, atol=1e-6)
        np.testing.assert_allclose(body.velocities, velocities, rtol=1e-6)
        body.set_state(CUBE, base=(10, 0, 0))
        np.testing.assert_allclose(body.get_positions(base=(10, 0, 0)), CUBE, atol=1e-6)
        np.testing.assert_allclose(body.velocities, velocities, rtol=1e-6)
        out = np.zeros((8, 3), dtype=np.float32)
        self.assertIs(body.get_positions(out), out)
        np.testing.assert_allclose(out, CUBE + [10, 0, 0], atol=1e-6)

    def test_goals_and_contact_points(self):
        world = still()
        body = world.add_points(CUBE)
        with self.assertRaises(limber.ArgumentError):
            body.get_goals()
        world.step()
        np.testing.assert_allclose(body.get_goals(), CUBE, atol=1e-5)
        np.testing.assert_allclose(body.get_contact_points(), CUBE, atol=1e-5)

    def test_material(self):
        body = still().add_points(CUBE, material=limber.Material(hertz=3.0, yield_=0.2))
        self.assertEqual((body.material.hertz, body.material.mode), (3.0, "linear"))
        self.assertAlmostEqual(body.material.yield_, 0.2, places=6)
        body.material = body.material.replace(mode="quadratic", friction=0.25)
        self.assertEqual((body.material.mode, body.material.friction), ("quadratic", 0.25))
        with self.assertRaises(limber.ArgumentError):
            body.material = limber.Material(mode="liquid")
        with self.assertRaises(limber.ArgumentError):
            body.material = limber.Material(hertz=float("nan"))
        for wrong, says in (({"young": 1e4, "poisson": 0.5}, "poisson must be 0 to 0.46"), ({"young": 1e4, "poisson": -0.1}, "poisson"),
                            ({"young": float("nan")}, "young must be"), ({"young": 1e4, "hertz": 8.0}, "hertz and young are both given"),
                            ({"young": 1e4, "sag": 0.1}, "young and sag are both given")):
            with self.assertRaisesRegex(limber.ArgumentError, says):
                body.material = limber.Material(**wrong)
        self.assertEqual(body.material.friction, 0.25)

    def test_stiffness(self):
        body = still().add_points(grid(4), clusters=(2, 1, 1))
        body.region_stiffness = [0.25, 1.0]
        np.testing.assert_allclose(body.region_stiffness, [0.25, 1.0])
        body.set_particle_stiffness(np.full(64, 0.5))
        np.testing.assert_allclose(body.region_stiffness, 0.5, atol=1e-6)
        body.region_stiffness = None
        np.testing.assert_allclose(body.region_stiffness, 1.0)
        rigid = body.world.add_points(CUBE, material=limber.Material(mode="rigid"))
        self.assertAlmostEqual(rigid.slowest_mode, 1.0, places=3)

    def test_plastic(self):
        world = still()
        body = world.add_points(grid(4), material=limber.Material(mode="rigid", yield_=0.05, creep=50.0))
        body.set_state(grid(4) * [1.5, 0.8, 0.8])
        world.step(count=3)
        plastic = body.plastic
        self.assertEqual(plastic.shape, (1, 3, 3))
        self.assertGreater(plastic[0, 0, 0], 1.05)
        self.assertAlmostEqual(float(np.linalg.det(plastic[0])), 1.0, places=3)
        body.reset_plastic()
        np.testing.assert_allclose(body.plastic[0], np.eye(3), atol=1e-6)

    def test_examples(self):
        world = still()
        body = world.add_points(grid(3), clusters=(2, 1, 1), material=limber.Material(mode="rigid", hertz=5))
        twice = grid(3) * [2, 1, 1]
        body.set_examples([twice], beta=0.9)
        self.assertAlmostEqual(body.example_beta, 0.9, places=6)
        self.assertEqual(body.example_weights.shape, (1, 1))
        body.set_state(twice)
        world.step()
        self.assertGreater(body.example_weights[0, 0], 0.8)
        body.example_weights = [[0.5]]
        np.testing.assert_allclose(body.example_weights, [[0.5]])
        self.assertTrue(body.info.examples_forced)
        body.example_weights = None
        body.example_beta = 0.5
        body.set_examples([twice], scope="groups", groups=[0, limber.NO_GROUP], group_count=1)
        self.assertEqual(body.info.example_groups, 1)
        body.set_examples(None)
        self.assertEqual(body.info.examples, 0)
        with self.assertRaises(limber.ArgumentError):
            body.set_examples([CUBE])

    def test_carry(self):
        body = still().add_lattice(box(), spacing=0.5)
        pose = body.skin_rest * 2
        np.testing.assert_allclose(body.carry_pose(pose), body.rest_positions * 2, atol=1e-4)
        np.testing.assert_allclose(body.carry_pose(CUBE * 3, CUBE), body.rest_positions * 3, atol=1e-3)
        values = body.carry_values(np.full(len(pose), 4.0))
        self.assertEqual(values.shape, (body.info.particles,))
        np.testing.assert_allclose(values, 4.0, rtol=1e-5)
        self.assertEqual(body.carry_values(np.ones((8, 2)), CUBE).shape, (body.info.particles, 2))


class Actions(unittest.TestCase):
    def test_forces(self):
        world = still()
        body = world.add_points(CUBE, mass=2.0)
        body.add_force((4, 0, 0))
        world.step(0.5)
        np.testing.assert_allclose(body.info.velocity, [1, 0, 0], atol=1e-4)
        world.step(0.5)
        np.testing.assert_allclose(body.info.velocity, [1, 0, 0], atol=1e-4)
        body.add_impulse((0, 2, 0))
        np.testing.assert_allclose(body.info.velocity, [1, 1, 0], atol=1e-4)
        body.add_impulse((0, 0, 2), point=body.centre + [1, 0, 0])
        self.assertGreater(abs(body.info.spin[1]), 0.1)
        body.add_impulse((0.25, 0, 0), particle=3)
        np.testing.assert_allclose(body.info.velocity, [1.125, 1, 1], atol=1e-4)
        body.add_force((0, 0, 1), particle=0)
        with self.assertRaises(limber.ArgumentError):
            body.add_force((0, 0, 1), particle=8)

    def test_pins_and_movers(self):
        world = limber.World()
        body = world.add_points(CUBE)
        mover = world.add_mover((0, 0, 0))
        pin = world.add_pin(body, [0, 1], mover=mover)
        mover.move_to((0, 0.5, 0))
        world.step()
        np.testing.assert_allclose(body.positions[:2], CUBE[:2] + [0, 0.5, 0], atol=1e-5)
        np.testing.assert_allclose(mover.pose.position, [0, 0.5, 0], atol=1e-9)
        mover.set_velocity((1, 0, 0), (0, 0, 0))
        world.step(0.25)
        np.testing.assert_allclose(mover.pose.position, [0.25, 0.5, 0], atol=1e-6)
        pin.destroy()
        other = world.add_pin(body, np.array([5]), targets=[[9, 9, 9]])
        world.step()
        np.testing.assert_allclose(body.positions[5], [9, 9, 9], atol=1e-5)
        with self.assertRaises(limber.ArgumentError):
            world.add_pin(body, [5])
        other.destroy()

    def test_drag(self):
        world = still()
        body = world.add_points(CUBE)
        drag = world.add_drag(body, 0, (5, 0, 0), hertz=4, max_force=100.0)
        world.step(count=60)
        self.assertGreater(body.centre[0], 2.0)
        drag.set_target((-5, 0, 0))
        world.step()
        self.assertLess(drag.force[0], 0.0)
        self.assertLessEqual(np.linalg.norm(drag.force), 100.001)
        drag.destroy()

    def test_fields(self):
        world = still()
        body = world.add_points(CUBE)
        field = world.add_field("uniform", vector=(2, 0, 0))
        world.step(0.5)
        np.testing.assert_allclose(body.info.velocity, [1, 0, 0], atol=1e-4)
        field.set("uniform", vector=(0, 2, 0))
        world.step(0.5)
        np.testing.assert_allclose(body.info.velocity, [1, 1, 0], atol=1e-4)
        field.destroy()
        world.step(0.5)
        np.testing.assert_allclose(body.info.velocity, [1, 1, 0], atol=1e-4)

    def test_colliders(self):
        world = limber.World()
        cube = limber.Mesh.shape("box", detail=1)
        heights = np.zeros((4, 5)) + 0.5
        made = {
            "plane": world.add_collider("plane"),
            "sphere": world.add_collider("sphere", radius=0.25),
            "capsule": world.add_collider("capsule", radius=0.25, half_length=2.0),
            "box": world.add_collider("box", half_extents=(1, 2, 3), position=(5, 0, 0), friction=0.75, restitution=0.5),
            "heights": world.add_collider("heights", heights=heights, spacing=2.0, position=(0, -3, 0)),
            "mesh": world.add_collider("mesh", mesh=cube, solid=True, position=(50, 0, 0)),
        }
        for name, collider in made.items():
            self.assertEqual(collider.shape, name)
        self.assertEqual(made["sphere"].size, {"radius": 0.25})
        self.assertEqual(made["capsule"].size, {"radius": 0.25, "half_length": 2.0})
        np.testing.assert_array_equal(made["box"].size["half_extents"], [1, 2, 3])
        self.assertEqual((made["box"].friction, made["box"].restitution), (0.75, 0.5))
        np.testing.assert_array_equal(made["heights"].size["heights"], heights)
        np.testing.assert_array_equal(made["mesh"].size["faces"], cube.faces)
        np.testing.assert_array_equal(made["box"].pose.position, [5, 0, 0])
        self.assertEqual(world.colliders, list(made.values()))
        made["sphere"].destroy()
        self.assertEqual(len(world.colliders), 5)

    def test_a_turned_plane(self):
        world = limber.World()
        pose = limber.Pose.turned((0, 0, 1), 90)
        world.add_collider("plane", rotation=pose.rotation)  # solid where x is above 0
        body = world.add_points(CUBE, position=(-1.5, 0, 0), velocity=(5, 0, 0))
        world.step(count=30)
        self.assertLess(body.positions[:, 0].max(), 1e-3)

    def test_rules_and_events(self):
        world = limber.World()
        floor = world.add_collider("plane", group=2)
        world.set_contact_rule(1, 2, friction=0.0)
        world.contact_events_on = True
        self.assertTrue(world.contact_events_on)
        body = world.add_points(CUBE, position=(0, 0.01, 0), velocity=(1, 0, 0))
        phases = []
        for _ in range(30):
            world.step()
            phases += [event.phase for event in world.contact_events]
        self.assertEqual(phases[0], "began")
        self.assertIn("persists", phases)
        event = world.contact_events[0]
        self.assertEqual((event.body, event.collider, event.other), (body, floor, None))
        self.assertGreater(event.impulse[1], 0.0)
        self.assertAlmostEqual(body.info.velocity[0], 1.0, places=3)  # no friction
        world.remove_contact_rule(2, 1)
        world.step(count=60)
        self.assertLess(body.info.velocity[0], 0.5)

    def test_queries(self):
        world = still()
        body = world.add_lattice(box(), spacing=0.25)
        ball = world.add_collider("sphere", radius=0.5, position=(3, 0, 0))
        hit = world.pick((-5, 0.1, 0.1), (1, 0, 0))
        self.assertEqual(hit.body, body)
        self.assertAlmostEqual(hit.distance, 4.5, places=4)
        np.testing.assert_allclose(hit.normal, [-1, 0, 0], atol=1e-4)
        self.assertIsNone(world.pick((-5, 3, 0), (1, 0, 0)))
        self.assertIsNone(world.pick((-5, 0, 0), (1, 0, 0), 2.0))
        self.assertIsNone(world.pick((float("nan"), 0, 0), (1, 0, 0)))
        hit = world.cast_ray((10, 0, 0), (-1, 0, 0))
        self.assertEqual((hit.body, hit.collider), (None, ball))
        self.assertAlmostEqual(hit.distance, 6.5, places=4)
        self.assertEqual(world.overlap_sphere((0, 0, 0), 0.1), [body])
        self.assertEqual(world.overlap_box((1.5, 0, 0), (2, 1, 1)), [body, ball])
        self.assertEqual(world.overlap_sphere((0, 9, 0), 0.1), [])

    def test_statistics(self):
        world = limber.World()
        body = world.add_points(CUBE, mass=2.0)
        world.step(0.5)
        stats, totals = world.stats, world.totals
        self.assertEqual((stats.bodies, stats.particles, stats.steps), (1, 8, 1))
        self.assertIn("integrate", stats.stage_seconds)
        self.assertGreater(stats.memory, 1000)
        self.assertEqual(stats.mutual.soft, 0)
        np.testing.assert_allclose(totals.momentum, [0, -2 * 9.81 * 0.5, 0], rtol=1e-4)
        np.testing.assert_allclose(stats.outside_impulse, totals.momentum, rtol=1e-4)
        self.assertTrue(totals.finite)
        self.assertAlmostEqual(totals.kinetic_energy, 0.5 * 2 * 4.905**2, places=2)
        del body


class Skeletons(unittest.TestCase):
    def test_bones_carry_flesh(self):
        world = still()
        body = world.add_lattice(bar(), spacing=0.125, material=limber.Material(damping_kind="regional", damping_ratio=1.0))
        bones = [limber.Bone((-0.5, 0, 0), tail=(0.3, 0, 0), radius=0.1, fade=0.05), limber.Bone((0.2, 0, 0), tail=(0.3, 0, 0), radius=0.1)]
        skeleton = world.add_skeleton(body, bones)
        self.assertEqual(body.skeleton, skeleton)
        self.assertEqual(skeleton.body, body)
        info = skeleton.info
        self.assertEqual((info.bones, len(skeleton.attachments)), (2, info.attachments))
        self.assertGreater(info.held, 4)
        np.testing.assert_allclose(skeleton.bones[0].tail, [0.3, 0, 0], atol=1e-6)
        for _ in range(30):
            skeleton.move_to([((-0.5, 1, 0),), ((0.2, 1, 0), (0, 0, 0, 1))])
            world.step()
        self.assertAlmostEqual(body.centre[1], 1.0, delta=0.03)
        np.testing.assert_allclose(skeleton.poses[0].position, [-0.5, 1, 0], atol=1e-6)
        positions, weights = skeleton.get_targets()
        held = weights == 1
        np.testing.assert_allclose(body.positions[held], positions[held], atol=1e-4)
        skeleton.set_poses([((-0.5, 0, 0),), ((0.2, 0, 0),)])
        with self.assertRaises(limber.ArgumentError):
            skeleton.move_to([((0, 0, 0),)])
        with self.assertRaises(limber.ArgumentError):
            skeleton.move_to([((0, float("nan"), 0),), ((0, 0, 0),)])
        skeleton.destroy()
        self.assertIsNone(body.skeleton)

    def test_bones_ride_on_movers(self):
        world = still()
        body = world.add_lattice(bar(), spacing=0.125)
        skeleton = world.add_skeleton(body, [limber.Bone((-0.5, 0, 0), tail=(0.3, 0, 0), radius=0.1)])
        mover = world.add_mover((0, 0.5, 0), mass=1.0, inertia=(0.1, 0.1, 0.1))
        self.assertIsNone(skeleton.get_mover(0))
        skeleton.set_mover(0, mover)
        self.assertEqual(skeleton.get_mover(0), mover)
        mover.apply_impulse((0, 0, 1), (0, 0.5, 0))
        for _ in range(60):
            world.step()
        self.assertGreater(body.centre[2], 0.1)  # the mover has taken the flesh along
        with self.assertRaises(limber.ArgumentError):
            skeleton.set_mover(1, mover)
        skeleton.set_mover(0, None)
        self.assertIsNone(skeleton.get_mover(0))

    def test_given_attachments(self):
        world = still()
        body = world.add_points(CUBE)
        skeleton = world.add_skeleton(body, [limber.Bone()], attachments=[(0, 0, 1.0), (3, 0, 0.5)])
        np.testing.assert_array_equal(skeleton.attachments["particle"], [0, 3])
        np.testing.assert_allclose(skeleton.attachments["weight"], [1.0, 0.5])
        for bad in ([(9, 0, 1.0)], [(0, 4, 1.0)], [(0, 0, 2.0)], [(-1, 0, 1.0)]):
            other = world.add_points(CUBE)
            with self.assertRaises(limber.ArgumentError):
                world.add_skeleton(other, [limber.Bone()], attachments=bad)


class Cutting(unittest.TestCase):
    BLADE = limber.Mesh([[0.01, -2, -2], [0.01, 2, -2], [0.01, 0, 3]], [[0, 1, 2]])

    def test_every_kind_is_cut(self):
        for name, add in {
            "lattice": lambda w: w.add_lattice(box(), spacing=0.25),
            "octree": lambda w: w.add_octree(box(), spacing=1 / 8, levels=1),
            "tets": lambda w: w.add_tets(box(), spacing=0.25),
            "points": lambda w: w.add_points(grid(5, 0.2) - 0.4, clusters=(2, 2, 2), skin=box(0.8)),
        }.items():
            with self.subTest(name):
                world = still()
                body = add(world)
                if name == "octree":
                    body.prepare_cut()
                info = body.cut(self.BLADE)
                self.assertGreater(info.links, 0)
                self.assertEqual(info.parts, 2)
                self.assertEqual(body.info.pieces, 2)
                self.assertEqual(sorted(set(body.pieces)), [0, 1])
                self.assertTrue((body.skin_sources == limber.INNER).any())
                world.step(count=5)
                self.assertTrue(world.totals.finite)

    def test_sweep(self):
        body = still().add_octree(box(), spacing=1 / 8, levels=1)
        edge = np.array([[0.01, -2, -2], [0.01, -2, 2]])
        self.assertEqual(body.cut_sweep(edge, edge + [0, 4, 0]).parts, 2)
        with self.assertRaises(limber.ArgumentError):
            body.cut_sweep(edge, edge[:1])

    def test_slices(self):
        body = still().add_octree(box(), spacing=1 / 8, levels=1)
        self.assertEqual(body.slice((-0.26, 0, 0), (1, 0, 0), 2, 0.52).parts, 3)
        blade = limber.Mesh([[-2, 0.01, -2], [2, 0.01, -2], [0, 0.01, 4]], [[0, 1, 2]])
        with self.assertRaises(limber.ArgumentError):
            body.cut(blade, pieces=[True])
        self.assertEqual(body.cut(blade, pieces=[False, False, True]).parts, 4)
        with self.assertRaises(limber.ArgumentError):
            body.slice((0, 0, 0), (0, 0, 0))

    def test_split(self):
        world = still()
        body = world.add_octree(box(), spacing=1 / 8, levels=1, skin=box())
        mass = body.info.mass
        body.slice((-0.26, 0, 0), (1, 0, 0), 2, 0.52)
        infos = body.piece_infos
        self.assertEqual([i.together for i in infos], [0, 1, 2])
        self.assertAlmostEqual(sum(i.mass for i in infos), mass, places=5)
        with self.assertRaises(limber.ArgumentError):
            body.split([0, 1])
        with self.assertRaises(limber.ArgumentError):
            body.split([1, 1, 1])
        groups = [int(i.centre[0] > 0.3) for i in infos]
        (right,) = body.split(groups)
        self.assertEqual(right.info.pieces, 1)
        self.assertEqual(body.info.pieces, 2)
        self.assertEqual(world.splits[0].made, right)
        self.assertEqual(world.splits[0].body, body)
        self.assertAlmostEqual(world.splits[0].mass, right.info.mass, places=6)
        dropped = body.drop_pieces(most=1)
        self.assertEqual(dropped.pieces, 1)
        self.assertIsNone(world.splits[1].made)
        self.assertAlmostEqual(dropped.mass + body.info.mass + right.info.mass, mass, places=5)
        self.assertEqual(body.split(), [])
        world.step()
        self.assertEqual(world.splits, [])

    def test_fracture(self):
        world = still()
        body = world.add_lattice(bar(), spacing=0.125)
        self.assertIsNone(body.fracture)
        body.set_fracture(limber.Fracture(limit=0.2), factors=np.ones(body.info.particles))
        self.assertAlmostEqual(body.fracture.limit, 0.2, places=6)
        broken = body.break_links((0, 0, 0), 0.2)
        self.assertGreater(broken, 0)
        self.assertEqual(body.info.broken_links, broken)
        breaks = world.breaks
        self.assertEqual(len(breaks), broken)
        self.assertEqual(breaks[0].body, body)
        self.assertNotEqual(*breaks[0].particles)
        body.set_fracture(None)
        self.assertIsNone(body.fracture)


class Skins(unittest.TestCase):
    def test_skin(self):
        world = still()
        mesh = box()
        body = world.add_lattice(mesh, spacing=0.25, position=(1, 0, 0))
        skin = body.skin
        np.testing.assert_allclose(skin.vertices, mesh.vertices + [1, 0, 0], atol=1e-5)
        np.testing.assert_array_equal(skin.faces, mesh.faces)
        np.testing.assert_allclose(np.linalg.norm(skin.normals, axis=1), 1.0, atol=1e-4)
        np.testing.assert_array_equal(body.skin_rest, mesh.vertices)
        self.assertEqual(body.skin_rest_normals.shape, mesh.vertices.shape)
        np.testing.assert_array_equal(body.skin_sources, np.arange(len(mesh.vertices)))
        offsets, riders, weights = body.skin_riders
        np.testing.assert_array_equal(np.diff(offsets), 8)
        sums = (weights.reshape(-1, 8)[:, :, None] * body.positions[riders.reshape(-1, 8)]).sum(axis=1)
        np.testing.assert_allclose(sums, skin.vertices, atol=1e-5)
        transforms = body.get_region_transforms()
        self.assertEqual(len(transforms), body.info.regions)
        np.testing.assert_allclose(transforms["linear"][0], np.eye(3), atol=1e-4)
        np.testing.assert_allclose(transforms["constant"], transforms["centre"] + np.float32([1, 0, 0]), atol=1e-4)
        self.assertEqual(ffi.sizeof("lm_region_transform"), transforms.itemsize)
        self.assertEqual(ffi.sizeof("lm_attachment"), 12)

    def test_no_skin(self):
        body = still().add_points(CUBE)
        for use in (lambda: body.skin, lambda: body.skin_faces, lambda: body.skin_rest, lambda: body.skin_riders, lambda: body.live.skin):
            with self.assertRaises(limber.ArgumentError):
                use()


if __name__ == "__main__":
    unittest.main()
