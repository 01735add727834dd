"""Joints, wrenches and substep functions."""

import math
import pickle
import unittest
import weakref

import numpy as np

import limber
from support import CUBE, box

RIGID = limber.Material(mode="rigid", alpha=1.0, stiffness="alpha")


def cube(world, position, **more):
    return world.add_points(CUBE - 0.5, position=position, material=RIGID, mass=2.0, **more)


class Joints(unittest.TestCase):
    def test_a_ball_holds_a_weight(self):
        """A cube on a thread: the joint bears its weight, and the anchors stay together."""
        world = limber.World(substeps=4)
        body = cube(world, (0, 0, 0))
        joint = world.add_joint("ball", None, body, at=(0, 0.5, 0))
        world.step(count=120)
        state = joint.state
        np.testing.assert_allclose(state.anchor[0], [0, 0.5, 0], atol=1e-6)
        np.testing.assert_allclose(state.anchor[1], state.anchor[0], atol=1e-4)
        np.testing.assert_allclose(state.force, [0, 2 * 9.81, 0], atol=0.05)
        self.assertLess(state.apart, 1e-4)
        self.assertEqual(world.joints, [joint])
        self.assertEqual(joint.kind, "ball")

    def test_a_hinge_is_a_pendulum(self):
        """A thin bar on a hinge at its end, let go level, is lowest after a quarter of the period of a compound pendulum at 90 degrees."""
        world = limber.World(substeps=16)
        bar = np.array([[0.02 * n, y, z] for n in range(51) for y in (-0.01, 0.01) for z in (-0.01, 0.01)], dtype=np.float32)
        body = world.add_points(bar, material=RIGID, mass=1.0)
        world.add_joint("hinge", None, limber.JointEnd(body, radius=math.inf), at=(0, 0, 0), axis=(0, 0, 1))
        lowest, when = 0.0, 0.0
        for _ in range(120):
            world.step(1 / 240)
            if body.centre[1] < lowest:
                lowest, when = body.centre[1], world.time
        # T = 2 pi sqrt(2 L / 3 g) K(sin 45)/(pi/2), and K(sin 45 degrees) is 1.8540746773
        quarter = math.sqrt(2 / (3 * 9.81)) * 1.8540746773
        self.assertAlmostEqual(when, quarter, delta=0.02 * quarter)
        self.assertAlmostEqual(lowest, -0.5, delta=0.005)

    def test_ends_and_settings(self):
        world = limber.World()
        body, other = world.add_lattice(box(), spacing=0.25), cube(world, (3, 0, 0))
        mover = world.add_mover((0, 2, 0))
        joint = world.add_joint(
            "distance", limber.JointEnd(body, anchor=(0.5, 0, 0), particles=[0, 1, 2, 30, 60]), limber.JointEnd(other, anchor=(2.5, 0, 0)),
            hertz=3.0, damping_ratio=0.5, max_force=100, max_torque=50, user_data=2**63,
        )
        self.assertEqual((joint.kind, joint.spring, joint.strength, joint.user_data), ("distance", (3.0, 0.5), (100.0, 50.0), 2**63))
        self.assertAlmostEqual(joint.length, 2.0, places=5)
        a, b = joint.ends
        self.assertEqual((a.body, b.body, a.mover), (body, other, None))
        np.testing.assert_array_equal(a.particles, [0, 1, 2, 30, 60])
        self.assertEqual(len(b.particles), 8)
        joint.length, joint.spring, joint.strength, joint.user_data = 1.5, (0.0, 1.0), (7.0, 8.0), 5
        self.assertEqual((joint.length, joint.spring, joint.strength, joint.user_data), (1.5, (0.0, 1.0), (7.0, 8.0), 5))
        joint.enabled = False
        self.assertFalse(joint.enabled)
        joint.enabled = True
        hung = world.add_joint("glue", mover, body, at=(0, 0.5, 0))
        self.assertEqual((hung.ends[0].mover, hung.ends[1].body), (mover, body))
        bone = limber.Bone(position=(0, 0, 0), tail=(0, 0.4, 0), radius=0.3)
        skeleton = world.add_skeleton(body, [bone])
        held = world.add_joint("ball", limber.JointEnd(skeleton=skeleton, bone=0), other, at=(1, 0, 0))
        self.assertEqual(held.ends[0].skeleton, skeleton)
        self.assertEqual(world.joints, [joint, hung, held])
        hung.destroy()
        self.assertEqual(world.joints, [joint, held])
        with self.assertRaises(limber.IdError):
            hung.state
        other.destroy()  # with its joints
        self.assertEqual(world.joints, [])

    def test_breaking(self):
        world = limber.World()
        body = cube(world, (0, 0, 0))
        joint = world.add_joint("glue", None, body, at=(0, 0.5, 0), max_force=5.0)  # it weighs 19.6 N
        world.step()
        self.assertEqual(world.broken_joints, [joint])
        self.assertTrue(joint.broken)
        self.assertFalse(joint.enabled)
        world.step()
        self.assertEqual(world.broken_joints, [])
        joint.strength, joint.enabled = (1e6, 1e6), True
        world.step()
        self.assertFalse(joint.broken)

    def test_in_snapshots(self):
        world = limber.World()
        body = cube(world, (0, 0, 0))
        world.add_joint("ball", None, body, at=(0.5, 0.5, 0))
        world.step(count=5)
        other = pickle.loads(pickle.dumps(world))
        self.assertEqual([joint.kind for joint in other.joints], ["ball"])
        for each in (world, other):
            each.step(count=5)
        self.assertEqual(world.hash, other.hash)

    def test_wrong_calls(self):
        world, far = limber.World(), limber.World()
        body, stranger = cube(world, (0, 0, 0)), cube(far, (0, 0, 0))
        mover = world.add_mover()
        at = dict(at=(0, 0, 0))
        for bad in (
            lambda: world.add_joint("weld", None, body, **at),
            lambda: world.add_joint("ball", None, None, **at),
            lambda: world.add_joint("ball", None, mover, **at),
            lambda: world.add_joint("ball", None, body),
            lambda: world.add_joint("ball", None, stranger, **at),
            lambda: world.add_joint("ball", "wall", body, **at),
            lambda: world.add_joint("ball", None, body, at=(0, 0)),
            lambda: world.add_joint("ball", None, body, at=(0, 0, np.nan)),
            lambda: world.add_joint("ball", None, limber.JointEnd(body, mover=mover), **at),
            lambda: world.add_joint("ball", None, limber.JointEnd(body, particles=[0, 800]), **at),
            lambda: world.add_joint("ball", None, limber.JointEnd(body, particles=[0.5]), **at),
            lambda: world.add_joint("hinge", None, body, axis=(0, 0, 0), **at),
            lambda: world.add_joint("ball", None, body, hertz=-1, **at),
            lambda: world.add_joint("ball", None, body, max_force=0, **at),
            lambda: world.add_joint("ball", None, body, user_data=-1, **at),
        ):
            with self.assertRaises(limber.ArgumentError):
                bad()
        self.assertEqual(world.joints, [])
        joint = world.add_joint("ball", None, body, **at)
        for name, value in (("length", -1.0), ("spring", (1.0,)), ("spring", (-1.0, 1.0)), ("strength", (0.0, 1.0)), ("user_data", 0.5)):
            with self.assertRaises(limber.ArgumentError):
                setattr(joint, name, value)


class Wrenches(unittest.TestCase):
    def test_a_table_bears_what_lies_on_it(self):
        """A cube at rest on a collider that rides on a mover: in a step it gives both its weight times a sixtieth of a second."""
        world = limber.World(substeps=4)
        world.sleep = limber.Sleep(enabled=False)
        mover = world.add_mover((0, 0, 0))
        table = world.add_collider("box", half_extents=(2, 0.5, 2), position=(0, -0.5, 0), mover=mover)
        world.add_lattice(box(), spacing=0.25, position=(0.25, 0.5, 0), mass=3.0, material=limber.Material(hertz=12))
        world.step(count=240)
        np.testing.assert_allclose(mover.wrench.impulse, [0, -3 * 9.81 / 60, 0], atol=0.02)
        np.testing.assert_allclose(mover.wrench.angular[2], -3 * 9.81 / 60 * 0.25, atol=0.01)
        np.testing.assert_allclose(table.wrench.impulse, mover.wrench.impulse)
        np.testing.assert_allclose(table.substep_wrench.impulse[1], -3 * 9.81 / 240, atol=0.01)

    def test_bones_bear_their_flesh(self):
        world = limber.World(substeps=4)
        body = world.add_lattice(box(), spacing=0.25, mass=3.0)
        skeleton = world.add_skeleton(body, [limber.Bone(tail=(0, 0.4, 0), radius=0.4)])
        world.step(count=300)
        (wrench,) = skeleton.wrenches
        np.testing.assert_allclose(wrench.impulse, [0, -3 * 9.81 / 60, 0], atol=0.05)


class SubstepFunctions(unittest.TestCase):
    def make(self):
        world = limber.World(substeps=4)
        world.sleep = limber.Sleep(enabled=False)
        mover = world.add_mover((0, 0, 0))
        world.add_collider("box", half_extents=(2, 0.5, 2), position=(0, -0.5, 0), mover=mover)
        body = world.add_lattice(box(), spacing=0.25, position=(0, 0.5, 0), mass=3.0)
        return world, mover, body

    def test_a_table_of_its_own_mass_falls_with_what_lies_on_it(self):
        """The mover is a rigid body of the program: it falls freely, and so does the cube on it, as if nothing touched it."""
        world, mover, body = self.make()
        speed, height, calls = [0.0], [0.0], []

        def substep(h):
            calls.append(h)
            speed[0] += h * (-9.81 + mover.substep_wrench.impulse[1] / h / 10.0)
            mover.steer((0, height[0], 0), (0, 0, 0, 1), (0, speed[0], 0))
            height[0] += h * speed[0]

        world.substep_function = substep
        self.assertIs(world.substep_function, substep)
        world.step(count=30)
        self.assertEqual(len(calls), 120)
        np.testing.assert_allclose(calls, 1 / 240)
        self.assertAlmostEqual(mover.pose.position[1], height[0], delta=1e-6)
        free = -0.5 * 9.81 * 0.25
        self.assertAlmostEqual(height[0], free, delta=0.02)
        self.assertAlmostEqual(body.centre[1] - 0.5, free, delta=0.03)
        world.substep_function = None
        world.step()
        self.assertEqual(len(calls), 120)

    def test_what_it_raises(self):
        world, mover, body = self.make()
        calls = []

        def fails(h):
            calls.append(h)
            raise KeyError("mine")

        world.substep_function = fails
        with self.assertRaisesRegex(KeyError, "mine"):
            world.step()
        self.assertEqual(len(calls), 1)
        with self.assertRaises(KeyError):
            world.step(count=3)
        self.assertEqual(len(calls), 2)
        with self.assertRaises(limber.ArgumentError):
            world.substep_function = 7

    def test_what_it_may_not_do(self):
        world, mover, body = self.make()
        told = []

        def wrong(h):
            for use in (world.step, world.close, world.save, lambda: body.positions, lambda: world.add_points(CUBE), body.destroy,
                        lambda: mover.move_to((0, 1, 0)), lambda: setattr(world, "substep_function", None), lambda: world.hash):
                try:
                    use()
                    told.append("allowed")
                except limber.ArgumentError:
                    told.append("refused")
            mover.pose, mover.wrench, mover.substep_wrench, world.colliders_seen.pose, world.colliders_seen.wrench

        world.colliders_seen = world.colliders[0]
        world.substep_function = wrong
        world.step()
        self.assertEqual(set(told), {"refused"})
        self.assertEqual(len(told), 4 * 9)
        with self.assertRaises(limber.ArgumentError):
            limber.WorldBatch([world]).step()
        limber.WorldBatch(world, 2).step()  # copies have none

    def test_scenes_call_it(self):
        calls = []
        with limber.Scene("sticks") as scene:
            scene.world.substep_function = calls.append
            scene.step(2)
            self.assertEqual(len(calls), 2 * scene.world.stats.substeps)
            scene.world.substep_function = lambda h: 1 / 0
            with self.assertRaises(ZeroDivisionError):
                scene.step()

    def test_it_is_let_go_with_the_world(self):
        class Function:
            def __call__(self, h):
                pass

        world, function = limber.World(), Function()
        gone = weakref.ref(function)
        world.substep_function = function
        world.step()
        world.close()
        del world, function
        import gc

        gc.collect()
        self.assertIsNone(gone())


if __name__ == "__main__":
    unittest.main()
