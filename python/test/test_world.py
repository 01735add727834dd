"""Worlds: life, settings, results, snapshots, threads, and the same hashes as the tool."""

import copy
import json
import os
import pickle
import threading
import time
import unittest

import numpy as np

import limber
from limber import ffi, lib
from support import CUBE, box, grid, tool


class Life(unittest.TestCase):
    def test_hello(self):
        """examples/hello.c in Python comes to the same place."""
        with limber.World() as world:
            world.add_collider("plane")
            body = world.add_points(CUBE, position=(0, 2, 0))
            for _ in range(300):
                world.step(1.0 / 60.0)
            self.assertGreater(body.centre[1], 0.45)
            self.assertLess(body.centre[1], 0.505)
            self.assertAlmostEqual(world.time, 5.0, places=9)
            self.assertEqual(world.stats.steps, 300)
        self.assertTrue(world.closed)

    def test_closed(self):
        world = limber.World()
        body = world.add_points(CUBE)
        collider, mover = world.add_collider("sphere"), world.add_mover()
        pin, drag = world.add_pin(body, [0]), world.add_drag(body, 1, (0, 0, 0))
        world.close()
        world.close()
        uses = [
            world.step,
            world.save,
            lambda: world.hash,
            lambda: world.load(b""),
            lambda: world.bodies,
            lambda: world.add_points(CUBE),
            lambda: world.pick((0, 0, 0), (0, 1, 0)),
            lambda: body.positions,
            lambda: body.live.positions,
            lambda: body.add_force((0, 1, 0)),
            lambda: body.valid,
            body.destroy,
            lambda: collider.pose,
            lambda: mover.move_to((0, 1, 0)),
            pin.destroy,
            lambda: drag.force,
            lambda: pickle.dumps(world),
            lambda: limber.render(world),
        ]
        for n, use in enumerate(uses):
            with self.subTest(n), self.assertRaises(limber.ClosedError):
                use()
        self.assertIn("closed", repr(world))

    def test_destroyed(self):
        world = limber.World()
        body, collider = world.add_points(CUBE), world.add_collider("box")
        pin = world.add_pin(body, [0])
        mover, field = world.add_mover(), world.add_field("wind", vector=(1, 0, 0))
        body.destroy()
        self.assertFalse(body.valid)
        for use in (lambda: body.positions, lambda: body.info, body.destroy, pin.destroy, lambda: body.live.positions):
            with self.assertRaises(limber.IdError) as caught:
                use()
            self.assertIn("there is no", caught.exception.line)
        for thing in (collider, mover, field):
            thing.destroy()
            with self.assertRaises(limber.IdError):
                thing.destroy()
        self.assertFalse(body.awake)

    def test_things_of_other_worlds(self):
        a, b = limber.World(), limber.World()
        body, mover = a.add_points(CUBE), a.add_mover()
        b.add_points(CUBE)
        for use in (
            lambda: b.add_pin(body, [0]),
            lambda: b.add_drag(body, 0, (0, 0, 0)),
            lambda: b.add_collider("box", mover=mover),
            lambda: b.add_skeleton(body, [limber.Bone()]),
        ):
            with self.assertRaises(limber.ArgumentError):
                use()

    def test_settings(self):
        world = limber.World(gravity=(0, -1, 0), substeps=3, workers=2, isa="scalar")
        np.testing.assert_array_equal(world.gravity, [0, -1, 0])
        self.assertEqual((world.substeps, world.workers, world.isa, world.device), (3, 2, "scalar", "cpu"))
        world.gravity, world.substeps = (1, 2, 3), 5
        np.testing.assert_array_equal(world.gravity, [1, 2, 3])
        self.assertEqual(world.substeps, 5)
        world.sleep = limber.Sleep(True, 0.5, 0.25)
        self.assertEqual((world.sleep.enabled, world.sleep.speed, world.sleep.seconds), (True, 0.5, 0.25))
        world.contact_method = "penalty"
        self.assertEqual(world.contact_method, "penalty")
        self.assertIn("scalar", limber.instruction_sets())
        world.set_eye((1, 2, 3))
        world.set_eye(None)

    def test_sleep(self):
        world = limber.World()
        world.add_collider("plane")
        world.sleep = limber.Sleep(True, 0.5, 0.1)
        body = world.add_points(CUBE, position=(0, 0.01, 0))
        world.step(count=120)
        self.assertFalse(body.awake)
        self.assertTrue(body.info.asleep)
        body.wake()
        self.assertTrue(body.awake)
        body.set_may_sleep(False)
        world.step(count=120)
        self.assertTrue(body.awake)


class Results(unittest.TestCase):
    """Every lm_result is an exception of its own, with the line of the log."""

    def setUp(self):
        self.world = limber.World()
        self.body = self.world.add_points(CUBE)

    def check(self, error, result, function, words=""):
        with self.assertRaises(error) as caught:
            function()
        self.assertIs(type(caught.exception), error)
        self.assertEqual(caught.exception.result, result)
        self.assertIn(words, str(caught.exception))
        return caught.exception

    def test_argument(self):
        before = self.world.hash
        e = self.check(limber.ArgumentError, "LM_ERROR_ARGUMENT", lambda: self.world.step(2.0), "seconds")
        self.assertNotEqual(e.line, "")
        self.assertIsInstance(e, ValueError)
        self.assertEqual(self.world.hash, before)

    def test_id(self):
        self.body.destroy()
        e = self.check(limber.IdError, "LM_ERROR_ID", lambda: self.body.info, "there is no body {1, ")
        self.assertIsInstance(e, LookupError)

    def test_memory(self):
        world = limber.World(memory_limit=1 << 20)
        e = self.check(limber.OutOfMemoryError, "LM_ERROR_MEMORY", lambda: world.add_points(grid(40)))
        self.assertIsInstance(e, MemoryError)
        world.add_points(CUBE)
        world.step()
        self.check(limber.OutOfMemoryError, "LM_ERROR_MEMORY", lambda: limber.World(memory_limit=10))

    def test_limit(self):
        for n in range(lib.LM_MAX_CONTACT_RULES):
            self.world.set_contact_rule(n + 1, n + 1, friction=1.0)
        self.check(limber.LimitError, "LM_ERROR_LIMIT", lambda: self.world.set_contact_rule(999, 999, friction=1.0))
        self.world.remove_contact_rule(1, 1)
        self.world.set_contact_rule(999, 999, friction=1.0)

    def test_capacity(self):
        buffer = bytearray(8)
        self.check(
            limber.CapacityError,
            "LM_ERROR_CAPACITY",
            lambda: self.world._do(lib.lm_world_save, ffi.from_buffer(buffer), len(buffer)),
        )

    def test_format(self):
        good = self.world.save()
        before = self.world.hash
        for bad in (b"", b"nonsense", good[:-1], good[:100] + bytes([good[100] ^ 1]) + good[101:]):
            e = self.check(limber.FormatError, "LM_ERROR_FORMAT", lambda: self.world.load(bad))
            self.assertNotEqual(e.line, "")
        self.assertEqual(self.world.hash, before)
        with self.assertRaises(TypeError):
            self.world.load(7)

    def test_version(self):
        good = bytearray(self.world.save())
        found = []
        for at in range(4, 32):
            changed = bytes(good[:at]) + bytes([good[at] ^ 0x40]) + bytes(good[at + 1 :])
            try:
                self.world.load(changed)
            except limber.VersionError as e:
                found.append((at, e.result, e.line))
            except limber.FormatError:
                pass
        self.assertTrue(found)
        self.assertEqual(found[0][1], "LM_ERROR_VERSION")
        self.assertIn("version", found[0][2])

    def test_unsupported(self):
        wrong = "neon" if "neon" not in limber.instruction_sets() else "avx2"
        self.check(limber.UnsupportedError, "LM_ERROR_UNSUPPORTED", lambda: limber.World(isa=wrong))

    def test_all_results_have_an_exception(self):
        from limber._core import ERRORS

        self.assertEqual(sorted(ERRORS), list(range(1, lib.LM_RESULT_COUNT)))

    def test_a_device_that_is_not_there(self):
        world = limber.World(device="no such device")
        self.assertEqual(world.device, "cpu")
        self.assertIn("no such device", world.log_line)
        self.assertEqual(world.log_line, "")

    def test_bodies_inside_each_other(self):
        for may in (False, True):
            world = limber.World(may_overlap=may)
            for x in (0.0, 0.5):
                world.add_lattice(cells=np.ones((4, 4, 4), np.uint8), spacing=0.25, position=(x, 0, 0), material=limber.Material(hertz=3))
            world.step(1 / 60)
            self.assertEqual("begin inside each other" in world.log_line, not may)


class Snapshots(unittest.TestCase):
    def make(self, **settings):
        world = limber.World(**settings)
        world.add_collider("plane")
        world.add_lattice(box(), spacing=0.25, position=(0, 1, 0), spin=(0, 0, 3))
        world.add_points(grid(4), clusters=4, position=(3, 1, 0))
        return world

    def test_save_and_load(self):
        world = self.make()
        world.step(count=20)
        saved, before = world.save(), world.hash
        world.step(count=20)
        after = world.hash
        self.assertNotEqual(before, after)
        world.load(saved)
        self.assertEqual(world.hash, before)
        world.step(count=20)
        self.assertEqual(world.hash, after)
        world.load(bytearray(saved))
        world.load(memoryview(saved))
        self.assertEqual(world.hash, before)

    def test_state_alone(self):
        world = self.make()
        world.step(count=20)
        state, before, structure = world.save_state(), world.hash, world.structure
        self.assertLess(len(state), len(world.save()))
        world.step(count=20)
        after = world.hash
        world.load_state(state)
        self.assertEqual(world.hash, before)
        world.step(count=20)
        self.assertEqual(world.hash, after)
        self.assertEqual(world.structure, structure)
        world.add_points(grid(3), position=(6, 1, 0))
        self.assertNotEqual(world.structure, structure)
        with self.assertRaises(limber.ArgumentError):
            world.load_state(state)

    def test_pickle_and_copies(self):
        world = self.make(workers=1, isa="scalar")
        world.step(count=10)
        for other in (pickle.loads(pickle.dumps(world)), copy.copy(world), copy.deepcopy(world), world.copy(workers=2)):
            self.assertEqual(other.hash, world.hash)
            self.assertEqual(other.isa, "scalar")
        self.assertEqual(other.workers, 2)
        body = pickle.loads(pickle.dumps(world.bodies[1]))
        np.testing.assert_array_equal(body.positions, world.bodies[1].positions)
        self.assertIsNot(body.world, world)
        world.step(count=10)
        other.step(count=10)
        self.assertEqual(other.hash, world.hash)

    def test_scene_pickle(self):
        scene = limber.Scene("sticks", sets={"bodies[0].material.hertz": 5})
        scene.step(20)
        other = pickle.loads(pickle.dumps(scene))
        self.assertEqual((other.frame, other.world.hash), (20, scene.world.hash))
        scene.step(40)
        other.step(40)
        self.assertEqual(other.world.hash, scene.world.hash)

    def test_results_do_not_depend_on_workers_and_instruction_sets(self):
        hashes = set()
        for settings in [{"workers": 1}, {"workers": 3}] + [{"isa": isa} for isa in limber.instruction_sets()]:
            world = self.make(**settings)
            world.step(count=30)
            hashes.add(world.hash)
        self.assertEqual(len(hashes), 1)


class SameAsTheTool(unittest.TestCase):
    def test_hashes_of_three_scenes(self):
        for name, frames in (("sticks", 60), ("squeeze-duck", 40), ("liver-cut", 45)):
            with self.subTest(name):
                told = json.loads(tool("run", name, "--frames", str(frames), "--json").stdout)
                with limber.Scene(name) as scene:
                    scene.step(frames)
                    self.assertEqual(f"{scene.world.hash:016x}", told["hash"])
                    self.assertEqual(scene.world.stats.particles, told["particles"])

    def test_a_set(self):
        told = json.loads(tool("run", "sticks", "--frames", "20", "--json", "--set", "bodies[0].material.hertz=3").stdout)
        scene = limber.Scene("sticks", sets={"bodies[0].material.hertz": 3})
        self.assertEqual(f"{scene.run(20).hash:016x}", told["hash"])


class Threads(unittest.TestCase):
    def test_worlds_on_several_threads(self):
        def run(out, n):
            world = limber.World(workers=1)
            world.add_collider("plane")
            world.add_lattice(box(), spacing=0.2, position=(0, 1 + 0.01 * n, 0))
            world.step(count=60)
            out[n] = world.hash

        alone, together = {}, {}
        for n in range(4):
            run(alone, n)
        threads = [threading.Thread(target=run, args=(together, n)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(alone, together)
        self.assertEqual(len(set(alone.values())), 4)

    def test_the_step_releases_the_lock(self):
        """While one thread is in a single long step, this one goes on."""
        world = limber.World(workers=1, substeps=512)
        world.add_lattice(box(), spacing=0.07)
        world.step(1e-3)
        inside, done = threading.Event(), threading.Event()

        def step():
            inside.set()
            world.step(0.5)
            done.set()

        thread = threading.Thread(target=step)
        thread.start()
        inside.wait()
        turns = 0
        while not done.is_set():
            turns += 1
            time.sleep(0.0005)
        thread.join()
        self.assertGreater(turns, 20)

    def test_a_fork_leaves_the_world_to_its_parent(self):
        world = limber.World(workers=2)
        world.add_lattice(box(), spacing=0.2)
        world.step()
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            told = b"nothing"
            try:
                try:
                    world.step()
                except limber.ClosedError as error:
                    world.close()
                    other = limber.World(workers=2)
                    other.add_points(CUBE)
                    other.step()
                    told = str(error).encode()
            finally:
                os.write(write, told)
                os._exit(0)
        os.close(write)
        self.assertIn(b"before a fork", os.read(read, 1000))
        os.close(read)
        os.waitpid(child, 0)
        world.step()

    def test_one_world_shared_by_threads(self):
        """Calls wait for each other, closing it too."""
        world = limber.World(workers=1)
        body = world.add_lattice(box(), spacing=0.2)
        failures = []

        def use(n):
            try:
                for _ in range(50):
                    world.step() if n % 2 else body.positions
                    if n == 3 and world.time > 0.5:
                        world.close()
            except limber.ClosedError:
                pass
            except Exception as error:
                failures.append(error)

        threads = [threading.Thread(target=use, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.assertTrue(world.closed)


if __name__ == "__main__":
    unittest.main()
