"""What takes longer: 10,000 worlds, the wheel in an environment of its own, types, devices, examples, speed."""

import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import numpy as np

import limber
from support import SOURCE, box
from test_arrays import Leaks as ShortLeaks


class Leaks(ShortLeaks):
    def test_no_leak(self):
        self.check(10000, 4 << 20)

    def test_scenes_meshes_and_batches(self):
        def rounds(count):
            for _ in range(count):
                limber.Scene("sticks").step()
                limber.Mesh.shape("duck", detail=6)
                with limber.World(workers=1) as world:
                    world.add_lattice(box(), spacing=0.3)
                    limber.WorldBatch(world, 3).step()

        def rss():
            return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")

        rounds(30)
        before = rss()
        rounds(300)
        self.assertLess(rss() - before, 6 << 20)


class Wheel(unittest.TestCase):
    def test_in_an_environment_of_its_own(self):
        wheels = subprocess.run([f"{SOURCE}/tools/wheel"], capture_output=True, text=True, check=True).stdout.split()
        self.assertEqual(len(wheels), 1)
        with tempfile.TemporaryDirectory() as folder:
            # numpy and cffi are Debian's; nothing comes from the network.
            subprocess.run(["/usr/bin/python3", "-m", "venv", "--system-site-packages", folder], check=True)
            install = [f"{folder}/bin/pip", "install", "--quiet", "--no-index", f"{SOURCE}/{wheels[0]}"]
            subprocess.run(install, check=True)
            code = "import limber; print(limber.__file__, hex(limber.Scene('sticks').run(20).hash))"
            environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
            done = subprocess.run([f"{folder}/bin/python", "-c", code], capture_output=True, text=True, check=True, cwd=folder, env=environment)
        where, told = done.stdout.split()
        self.assertTrue(where.startswith(folder), where)
        self.assertEqual(told, hex(limber.Scene("sticks").run(20).hash))


class Types(unittest.TestCase):
    def test_mypy(self):
        with tempfile.TemporaryDirectory() as cache:
            done = subprocess.run(["mypy", "--strict", "--cache-dir", cache, "limber"], cwd=Path(limber.__file__).parent.parent, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_everything_public_has_a_docstring(self):
        import inspect

        missing = []
        for name in limber.__all__:
            thing = getattr(limber, name)
            if inspect.isclass(thing):
                missing += [f"{name}.{m}" for m, v in vars(thing).items() if not m.startswith("_") and (inspect.isfunction(v) or isinstance(v, property)) and not inspect.getdoc(v)]
            if (inspect.isclass(thing) or inspect.isfunction(thing)) and not inspect.getdoc(thing):
                missing.append(name)
        self.assertEqual(missing, [])


class Devices(unittest.TestCase):
    """OpenCL; PoCL makes a device of the CPU, which `tools/setup test` installs."""

    def test_a_device_steps_a_world(self):
        usable = [n for n, device in enumerate(limber.devices()) if device.usable]
        self.assertTrue(usable, limber.devices())

        def run(device):
            world = limber.World(device=device)
            world.add_collider("plane")
            body = world.add_lattice(box(), spacing=0.25, position=(0, 0.6, 0))
            world.step(count=20)
            return world, body

        (there, far), (here, near) = run(str(usable[0])), run(None)
        self.assertNotEqual(there.device, "cpu")
        np.testing.assert_allclose(far.positions, near.positions, atol=1e-3)
        live = far.live
        np.testing.assert_allclose(live.positions[live.places] + live.origin, far.positions, atol=1e-6)
        there.step()
        batch = limber.WorldBatch([there, here])
        batch.step(count=3)
        seen = batch.observe()
        np.testing.assert_allclose(seen[0], seen[1], atol=0.05)


    def test_colliders_that_deform_are_left_to_the_cpu(self):
        usable = [n for n, device in enumerate(limber.devices()) if device.usable]
        found = []
        for device in (str(usable[0]), None):
            world = limber.World(device=device)
            sheet = np.array([[-1, 0, -1], [-1, 0, 1], [1, 0, 1], [1, 0, -1]], dtype=np.float32)
            collider = world.add_collider("mesh", mesh=(sheet, [[0, 1, 2], [0, 2, 3]]), deforms=True)
            world.add_lattice(box(0.5), spacing=0.125, position=(0, 0.3, 0))
            for frame in range(10):
                collider.move_vertices(sheet + [0, 0.01 * frame, 0])
                world.step()
            found.append((world.hash, world.log_line))
        self.assertEqual(found[0][0], found[1][0])
        self.assertIn("colliders that deform", found[0][1])

    def test_copies_share_a_launch(self):
        usable = [n for n, device in enumerate(limber.devices()) if device.usable]

        def run(device):
            def build(world, at):
                return world.add_lattice(box(), spacing=0.25, position=at + (0, 0.6, 0))

            batch = limber.SharedBatch(build, 9, device=device, ground=lambda world: world.add_collider("plane"))
            batch.step(count=20)
            return batch

        there, here = run(str(usable[0])), run(None)
        self.assertNotEqual(there.world.device, "cpu")
        seen = there.observe()
        np.testing.assert_allclose(seen, here.observe(), atol=1e-3)
        np.testing.assert_allclose(seen, np.broadcast_to(seen[:1], seen.shape), atol=1e-3)


class Examples(unittest.TestCase):
    def test_every_example_runs(self):
        found = sorted(Path(SOURCE, "python/examples").glob("*.py"))
        self.assertGreaterEqual(len(found), 6)
        for path in found:
            with self.subTest(path.name), tempfile.TemporaryDirectory() as folder:
                environment = {**os.environ, "LIMBER_EXAMPLE_QUICK": "1", "MPLBACKEND": "Agg", "MPLCONFIGDIR": folder}
                done = subprocess.run([sys.executable, str(path), folder], capture_output=True, text=True, env=environment)
                self.assertEqual(done.returncode, 0, done.stderr)
                pictures = list(Path(folder).glob("*.png"))
                self.assertTrue(pictures, "it leaves a picture")
                for picture in pictures:
                    self.assertGreater(picture.stat().st_size, 5000)


class Speed(unittest.TestCase):
    """What a loop of ``world.step()`` adds to one in C, by processor time. A call costs the same whatever the world is, so that it is measured
    where steps are short, in turns, the fastest of each; and compared with a step of `crowd`."""

    def crowd(self, turns=41, steps=2):
        """The same steps of `crowd` in a loop of Python and in one of C, one after the other: the median of their ratios, and seconds
        for a step in C. (On a busy machine the ratio is that of the noise; it is told, and not asserted.)"""
        with limber.Scene("crowd") as scene:
            python = scene.world.copy(workers=1)
            batch = limber.WorldBatch(python, 1, threads=1)
        seconds = {"C": [], "Python": []}
        for turn in range(turns):
            for way in ("C", "Python") if turn % 2 else ("Python", "C"):
                start = time.process_time()
                if way == "C":
                    batch.step(count=steps)
                else:
                    for _ in range(steps):
                        python.step()
                seconds[way].append((time.process_time() - start) / steps)
        self.assertEqual(python.hash, batch[0].hash)
        return float(np.median(np.divide(seconds["Python"], seconds["C"]))), min(seconds["C"])

    def test_crowd(self):
        world = limber.World(workers=1)
        world.add_points(np.zeros((1, 3)))
        batch = limber.WorldBatch([world], threads=1)  # its steps are a loop in C (python/host.c)
        steps, best = 4000, {"C": np.inf, "Python": np.inf}
        for _ in range(7):
            for way in best:
                start = time.process_time()
                if way == "C":
                    batch.step(count=steps)
                else:
                    for _ in range(steps):
                        world.step()
                best[way] = min(best[way], (time.process_time() - start) / steps)
        added = best["Python"] - best["C"]
        ratio, step = self.crowd()
        print(f"crowd, the same steps in turns: {100 * (ratio - 1):+.2f} % in Python")
        print(f"a call adds {1e6 * added:.2f} us to a step; a step of crowd takes {1000 * step:.1f} ms: {100 * added / step:+.4f} %")
        self.assertLess(added, 0.03 * step)
        self.assertGreater(added, -0.2 * best["C"])


if __name__ == "__main__":
    unittest.main()
