"""Batches of worlds, and gradients."""

import unittest

import numpy as np

import limber
from support import CUBE, box, grid


def make(**settings):
    world = limber.World(**settings)
    world.add_collider("plane")
    world.add_lattice(box(), spacing=0.25, position=(0, 1, 0))
    world.add_points(grid(3), position=(3, 1, 0), mass=2.0)
    return world


def build(world, at):
    """A lattice that falls on a plane, a cloud that hangs from two particles, and a ball that stops it, all at a place."""
    lattice = world.add_lattice(box(), spacing=0.25, position=at + (0, 1, 0))
    cloud = world.add_points(grid(3), position=at + (3, 1, 0), mass=2.0)
    world.add_pin(cloud, [0, 9])
    world.add_collider("sphere", radius=0.3, position=at + (3.2, 0.5, 0))
    return [lattice, cloud]


def ground(world):
    world.add_collider("plane")


class Shared(unittest.TestCase):
    def run_copies(self, copies, **settings):
        batch = limber.SharedBatch(build, copies, ground=ground, **settings)
        forces = np.zeros((copies, 2, 3))
        forces[:, 1, 0] = np.arange(copies)
        for _ in range(60):
            batch.push(forces)
            batch.step()
        return batch

    def test_agrees_with_single_worlds(self):
        batch = self.run_copies(5)
        seen, bodies, fast = batch.observe(), batch.observe("bodies"), batch.observe("velocities")
        self.assertEqual((seen.shape[0], bodies.shape, fast.shape), (5, (5, 2, 9), seen.shape))
        for n in (0, 3):
            single = limber.World()
            ground(single)
            made = build(single, np.zeros(3))
            for _ in range(60):
                made[1].add_force((n, 0, 0))
                single.step()
            np.testing.assert_allclose(seen[n], np.vstack([b.positions for b in made]), atol=1e-4)
            np.testing.assert_allclose(bodies[n, :, :3], [b.centre for b in made], atol=1e-4)
        self.assertGreater(np.abs(seen[4] - seen[0]).max(), 0.01)  # the forces differ
        before = seen.copy()
        batch.reset()
        self.assertGreater(np.abs(batch.observe() - before).max(), 0.1)
        np.testing.assert_allclose(batch.observe()[0], batch.observe()[4], atol=1e-5)

    def test_wrong_calls(self):
        for bad in (
            lambda: limber.SharedBatch(build, 2, spacing=0.0),
            lambda: limber.SharedBatch(lambda w, at: [w.add_points(CUBE)] * (1 + int(at[0] > 0)), 2),
            lambda: limber.SharedBatch(build, 2).push(np.zeros((2, 1, 3))),
            lambda: limber.SharedBatch(build, 2).observe("colours"),
        ):
            with self.assertRaises(limber.ArgumentError):
                bad()


class Batches(unittest.TestCase):
    def test_same_as_single_worlds(self):
        start = make()
        batch = limber.WorldBatch(start, 5, threads=3)
        forces = np.zeros((5, 2, 3))
        forces[:, 1, 0] = np.arange(5)
        singles = [start.copy(workers=1) for _ in range(5)]
        for _ in range(20):
            batch.push(forces)
            batch.step()
            for n, world in enumerate(singles):
                for body, force in zip(world.bodies, forces[n]):
                    body.add_force(force)
                world.step()
        self.assertEqual([world.hash for world in batch], [world.hash for world in singles])
        self.assertEqual(len({world.hash for world in batch}), 5)
        seen = batch.observe()
        self.assertEqual(seen.shape, (5, start.stats.particles, 3))
        for n, world in enumerate(singles):
            np.testing.assert_array_equal(seen[n], np.vstack([body.positions for body in world.bodies]))
        np.testing.assert_array_equal(batch.observe("velocities")[2], np.vstack([b.velocities for b in singles[2].bodies]))
        bodies = batch.observe("bodies")
        info = singles[4].bodies[1].info
        np.testing.assert_allclose(bodies[4, 1], np.concatenate([info.centre, info.velocity, info.spin]), rtol=1e-6)

    def test_reset(self):
        batch = limber.WorldBatch(make(), 4)
        start = batch[0].hash
        batch.step(count=10)
        later = batch[0].hash
        batch.reset([True, False, True, False])
        self.assertEqual([world.hash for world in batch], [start, later, start, later])
        batch.step(count=10, which=np.array([True, False, True, False]))
        self.assertEqual({world.hash for world in batch}, {later})
        batch.mark()
        batch.step()
        batch.reset()
        self.assertEqual({world.hash for world in batch}, {later})

    def test_one_array(self):
        batch = limber.WorldBatch(make(), 3)
        out = np.zeros((3, 2, 9), dtype=np.float32)
        self.assertIs(batch.observe("bodies", out), out)
        self.assertGreater(np.abs(out).sum(), 0)

    def test_wrong_use(self):
        batch = limber.WorldBatch(make(), 3)
        world = make()
        odd = limber.WorldBatch([make(workers=1), limber.World(workers=1)])
        for use in (
            lambda: batch.observe("smells"),
            lambda: batch.observe("bodies", np.zeros((3, 2, 9))),
            lambda: batch.observe("bodies", np.zeros((2, 2, 9), dtype=np.float32)),
            lambda: batch.push(np.zeros((3, 2))),
            lambda: batch.push(np.zeros((2, 2, 3))),
            lambda: batch.push(np.zeros((3, 1, 3))),
            lambda: batch.push(np.full((3, 2, 3), np.nan)),
            lambda: batch.reset([True]),
            lambda: batch.reset([1, 0, 1]),
            lambda: batch.step(2.0),
            lambda: batch.step(count=-1),
            lambda: limber.WorldBatch([world, world]),
            lambda: limber.WorldBatch([world], 3),
            lambda: odd.observe(),
        ):
            with self.assertRaises(limber.LimberError):
                use()
        with self.assertRaises(limber.ArgumentError) as caught:
            batch.step(2.0)
        self.assertIn("world 0", str(caught.exception))
        batch[1].close()
        with self.assertRaises(limber.ClosedError):
            batch.step()
        batch.close()
        with self.assertRaises(limber.ClosedError):
            batch.reset()
        empty = limber.WorldBatch([])
        empty.step()
        self.assertEqual(empty.observe().shape[0], 0)

    def test_worlds_of_a_list_are_taken_as_they_are(self):
        worlds = [make(workers=1) for _ in range(2)]
        batch = limber.WorldBatch(worlds)
        batch.step()
        self.assertIs(batch[0], worlds[0])
        self.assertEqual(worlds[0].stats.steps, 1)


class Gradients(unittest.TestCase):
    def test_polynomial(self):
        self.assertAlmostEqual(float(limber.gradient(lambda x: x[0] ** 2 + 3 * x[1], [2.0, 1.0])[0]), 4.0, places=6)
        jacobian = limber.gradient(lambda x: np.array([x[0] * x[1], x[1]]), np.array([2.0, 5.0]))
        np.testing.assert_allclose(jacobian, [[5, 2], [0, 1]], atol=1e-6)
        with self.assertRaises(limber.ArgumentError):
            limber.gradient(lambda x: x, [1.0], step=0.0)

    def test_of_a_throw(self):
        """Where a body lands depends on its velocity as Newton says."""

        def throw(velocity):
            with limber.World(workers=1) as world:
                body = world.add_points(CUBE, velocity=velocity)
                world.step(0.01, count=50)
                return body.centre

        np.testing.assert_allclose(limber.gradient(throw, [1.0, 2.0, 0.0], step=0.1), 0.5 * np.eye(3), atol=1e-4)


if __name__ == "__main__":
    unittest.main()
