#!/usr/bin/env python3
"""The viewer, driven by scripts: the events that a person at the window would cause, and no real display.

    test_viewer.py LIMBER SOURCE_DIR

Each test writes a script, runs `limber view` with it under SDL's offscreen driver (one of them under Xvfb), and looks at the
reports that the script asks for. The worlds are small, so that drawing in software does not take long.
"""

import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zlib

LIMBER = os.path.abspath(sys.argv[1])
SOURCE = sys.argv[2]

# Three cubes on a floor, too far from each other to touch.
CUBES = {
    "limber": 1, "title": "three cubes on a floor", "frames": 60,
    "camera": {"at": [0, 3, 9], "look_at": [0, 0.4, 0], "field_of_view": 35},
    "colliders": [{"shape": "plane"}],
    "bodies": [
        {"name": name, "shape": {"name": "box", "size": [1, 1, 1], "detail": 2}, "surface": {"detail": 2},
         "clusters": {"counts": [1, 1, 1]}, "material": {"mode": "linear", "hertz": 6, "damping_ratio": 0.3},
         "at": [x, 0.6, 0]}
        for name, x in (("left", -2), ("middle", 0), ("right", 2))],
}

# A bar that can break, held at its left end.
BAR = {
    "limber": 1, "title": "a bar to tear", "frames": 60, "gravity": [0, 0, 0],
    "camera": {"at": [0, 0, 6], "look_at": [0, 0, 0], "field_of_view": 35},
    "bodies": [
        {"name": "bar", "shape": {"name": "box", "size": [2, 0.5, 0.5], "detail": 4}, "surface": {"detail": 4},
         "lattice": {"spacing": 0.1, "width": 1}, "density": 100,
         "material": {"mode": "rigid", "hertz": 9.5, "damping_ratio": 0.5}, "fracture": {"limit": 0.25}}],
    "pins": [{"body": "bar", "where": {"min": [-2, -1, -1], "max": [-0.85, 1, 1]}}],
}

# An octree that is finer the nearer it is looked at.
SEEN = {
    "limber": 1, "title": "a box that is looked at", "frames": 60, "gravity": [0, 0, 0],
    "camera": {"at": [0, 0, 12], "look_at": [0, 0, 0], "field_of_view": 35},
    "bodies": [
        {"name": "box", "shape": {"name": "box"}, "octree": {"spacing": 0.0625, "levels": 2, "detail": 0},
         "detail": {"eye_angle": 2, "per_step": 2000, "hold": 0}}],
}

# What every slider of a material is called, in the order of the panel, and a value to set.
SLIDERS = [("Stiffness", "hertz", 3.5), ("Damping ratio", "damping_ratio", 0.75), ("Beta", "beta", 0.25),
           ("Yield", "yield", 0.125), ("Creep", "creep", 2.5), ("Plastic limit", "max_plastic", 0.25),
           ("Friction", "friction", 0.875), ("Bounce", "restitution", 0.5)]
ALPHA_SLIDERS = [("Alpha", "alpha", 0.25), ("Damping", "damping", 4.0)]

VIEWS = ["Surface", "Wireframe", "Particles", "Regions", "Goals", "Links", "Contacts", "Speed", "Strain", "Stress"]


def decode_png(path):
    """Width, height, and all bytes of the pixels (three each)."""
    with open(path, "rb") as file:
        data = file.read()
    place, packed = 8, b""
    while place < len(data):
        length, kind = struct.unpack(">I4s", data[place:place + 8])
        body = data[place + 8:place + 8 + length]
        if kind == b"IHDR":
            width, height = struct.unpack(">II", body[:8])
        packed += body if kind == b"IDAT" else b""
        place += 12 + length
    raw, stride, rows, before = zlib.decompress(packed), 3 * width, [], bytearray(3 * width)
    for y in range(height):
        line = bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        kind = raw[y * (stride + 1)]
        for i in range(stride):
            a = line[i - 3] if i >= 3 else 0
            b, c = before[i], before[i - 3] if i >= 3 else 0
            if kind == 1:
                line[i] = (line[i] + a) & 255
            elif kind == 2:
                line[i] = (line[i] + b) & 255
            elif kind == 3:
                line[i] = (line[i] + (a + b) // 2) & 255
            elif kind == 4:
                p = a + b - c
                near = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
                line[i] = (line[i] + near) & 255
        rows.append(bytes(line))
        before = line
    return width, height, b"".join(rows)


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="limber-viewer-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.cubes = self.path("cubes.json")
        with open(self.cubes, "w") as file:
            json.dump(CUBES, file)

    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self, script, *arguments, scene=None, environment=None, scale=0.5):
        """Half a pixel for each point, where the pixels are not looked at: drawing them in software is what takes long."""
        with open(self.path("script.txt"), "w") as file:
            file.write("\n".join(script) + "\n")
        place = {**os.environ, "SDL_VIDEODRIVER": "offscreen", **(environment or {})}
        place = {key: value for key, value in place.items() if value is not None}
        arguments = arguments or ("--size", "640x600")
        return subprocess.run(
            [LIMBER, "view", scene or self.cubes, "--script", self.path("script.txt"), "--layout", self.path("layout.txt"),
             "--scale", str(scale), *arguments], capture_output=True, text=True, timeout=280, cwd=self.folder, env=place)

    def view(self, script, *arguments, **options):
        """The reports of a script that runs to its end, by their names."""
        done = self.start(script, *arguments, **options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        reports = [json.loads(line) for line in done.stdout.splitlines()]
        return {report["report"]: report for report in reports}

    def run_hash(self, scene, frames):
        done = subprocess.run([LIMBER, "run", scene, "--frames", str(frames), "--json"], capture_output=True, text=True,
                              timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["hash"].replace("0x", "")


class Time(Case):
    def test_it_simulates_what_limber_run_does(self):
        seen = self.view(["key P", "key R", "report start", *["key O"] * 12, "report later"])
        self.assertEqual(seen["start"]["frame"], 0)
        self.assertEqual(seen["later"]["frame"], 12)
        self.assertEqual(seen["later"]["hash"], self.run_hash(self.cubes, 12))

    def test_pause_stops_and_restart_restores(self):
        seen = self.view(["key P", "key R", "report start", "key P", "frames 30", "key P", "report paused", "frames 10",
                          "report still", "key P", "frames 5", "report moved", "key R", "key P", "frames 2", "key R",
                          "report again"])
        self.assertFalse(seen["moved"]["paused"])
        self.assertTrue(seen["paused"]["paused"])
        self.assertGreater(seen["paused"]["frame"], 25)
        self.assertEqual(seen["paused"]["hash"], seen["still"]["hash"])
        self.assertEqual(seen["paused"]["frame"], seen["still"]["frame"])
        self.assertNotEqual(seen["still"]["hash"], seen["moved"]["hash"])
        self.assertEqual((seen["again"]["frame"], seen["again"]["hash"]), (0, seen["start"]["hash"]))

    def back_and_forth(self, script, scene=None):
        """Reports every frame, goes back over all of them and forth again: each has the hash it had."""
        lines = ["key P", "key R"]
        for frame in range(24):
            lines += script.get(frame, []) + ["key O", "report %d" % (frame + 1)]
        lines += [line for frame in range(23, 0, -1) for line in ("key Left", "report back %d" % frame)]
        lines += [line for frame in range(2, 25) for line in ("key Right", "report forth %d" % frame)]
        lines += ["click-at 0.5 Timeline", "report middle", "key Left", "key Left", "report end"]
        seen = self.view(lines, scene=scene)
        for way in ("back", "forth"):
            frames = range(1, 24) if way == "back" else range(2, 25)
            for frame in frames:
                report = seen["%s %d" % (way, frame)]
                self.assertEqual((way, frame, report["hash"]), (way, report["frame"], seen[str(frame)]["hash"]))
        middle = seen["middle"]
        self.assertIn(middle["frame"], range(8, 17))
        self.assertEqual(middle["hash"], seen[str(middle["frame"])]["hash"])
        self.assertEqual(seen["end"]["frame"], middle["frame"] - 2)
        self.assertEqual(seen["end"]["mismatches"], 0)
        return seen

    def test_back_and_forth(self):
        self.back_and_forth({})

    def test_back_and_forth_in_a_scene_that_drags(self):
        self.back_and_forth({}, scene="sticks")

    def test_back_and_forth_over_what_was_done(self):
        seen = self.back_and_forth({
            2: ["point 1", "press left", "move-by 40 -60 3"], 6: ["move-by 30 0"], 9: ["release left"],
            11: ["click Body", "click Squash flat"], 13: ["set 9 Stiffness"], 15: ["click Inside out"], 17: ["key B"],
            19: ["click Add another"], 21: ["click World", "set 3 Substeps", "set -4 Gravity, up"]})
        self.assertEqual(len(seen["19"]["bodies"]), 3)
        self.assertEqual(len(seen["20"]["bodies"]), 4)
        self.assertEqual(len(seen["back 19"]["bodies"]), 3)
        self.assertEqual(seen["18"]["balls"], 1)
        self.assertEqual(seen["back 12"]["balls"], 0)
        self.assertEqual(seen["forth 23"]["substeps"], 3)
        self.assertTrue(seen["back 5"]["holding"])

    def test_what_is_done_in_the_past_begins_another_future(self):
        seen = self.view(["key P", "key R", *["key O"] * 10, *["key Left"] * 6, "report past", "click Body",
                          "click Squash flat", "report branched", "key O", "report on"])
        self.assertEqual((seen["past"]["frame"], seen["past"]["last"]), (4, 10))
        self.assertEqual((seen["branched"]["frame"], seen["branched"]["last"]), (4, 4))
        self.assertEqual((seen["on"]["frame"], seen["on"]["last"]), (5, 5))

    def test_ten_seconds_are_kept(self):
        seen = self.view(["frames 700", "key P", "report end", "click-at 0 Timeline", "report oldest", "key Right",
                          "report next"], "--size", "480x480")
        self.assertGreaterEqual(seen["end"]["last"] - seen["end"]["first"], 600)
        self.assertLess(seen["end"]["last"] - seen["end"]["first"], 661)
        self.assertEqual(seen["oldest"]["frame"], seen["end"]["first"])
        self.assertEqual(seen["next"]["frame"], seen["oldest"]["frame"] + 1)
        self.assertEqual(seen["next"]["mismatches"], 0)

    def test_speed(self):
        seen = self.view(["click 0.25x", "report slow", "click 1x", "report full"], "--size", "1200x600")
        self.assertEqual((seen["slow"]["speed"], seen["full"]["speed"]), (0.25, 1))


class Hand(Case):
    def test_a_drag_moves_the_grabbed_body_and_nothing_else(self):
        settle = ["key P", "key R", *["key O"] * 5]
        drag = ["point 1", "press left", "move-by 0 -80"]
        steps = ["key O"] * 20
        pulled = self.view(settle + drag + steps + ["report held", "release left", "report free"])
        alone = self.view(settle + steps + ["report end"])
        held, end = pulled["held"], alone["end"]
        self.assertEqual(held["frame"], end["frame"])
        for other in (0, 2):
            self.assertEqual(held["bodies"][other], end["bodies"][other])
        self.assertGreater(held["bodies"][1]["centre"][1], end["bodies"][1]["centre"][1] + 0.1)
        self.assertEqual(held["selected"], 1)
        self.assertTrue(held["holding"])
        self.assertGreater(held["force"][1], 0.1)
        self.assertFalse(pulled["free"]["holding"])

    def tear(self, far):
        """The right end of the bar, pulled to the right by so many points within 20 frames: the reports of all frames."""
        with open(self.path("bar.json"), "w") as file:
            json.dump(BAR, file)
        script = ["key P", "key R", "point 0", "move-by 90 0", "press left"]
        for frame in range(40):
            script += ["move-by %g 0" % (far / 20) if frame < 20 else "move-by 0 0", "key O", "report %d" % frame]
        return self.view(script + ["click Body", "release left", *["key O"] * 20, "report free", *["key Left"] * 21,
                                   "report back", *["key O"] * 21, "report forth"], "--size", "1000x600",
                         scene=self.path("bar.json"))

    def test_a_hard_pull_tears_what_can_break(self):
        seen = self.tear(400)
        held, free = seen["39"]["bodies"][0], seen["free"]["bodies"][0]
        self.assertEqual((seen["0"]["bodies"][0]["pieces"], seen["0"]["bodies"][0]["broken_links"]), (1, 0))
        self.assertGreater(held["pieces"], 1)
        self.assertGreater(held["broken_links"], 9)
        # What was torn off stays in the hand, a good way from the rest, and flies on when it is let go.
        self.assertTrue(seen["39"]["holding"])
        self.assertGreater(held["upper"][0] - held["lower"][0], 2.6)
        self.assertGreater(free["upper"][0], held["upper"][0])
        # The time bar goes back over the tear and on again.
        self.assertEqual(seen["back"]["hash"], seen["38"]["hash"])
        self.assertEqual(seen["forth"]["hash"], seen["free"]["hash"])
        self.assertEqual(seen["forth"]["mismatches"], 0)

    def test_a_gentle_pull_does_not(self):
        seen = self.tear(4)
        self.assertEqual((seen["39"]["bodies"][0]["pieces"], seen["39"]["bodies"][0]["broken_links"]), (1, 0))
        self.assertGreater(seen["39"]["bodies"][0]["centre"][0], 1e-3)  # it gave way a little
        self.assertGreater(seen["39"]["force"][0], 0.1)

    def test_detail_follows_the_camera(self):
        """Nearer is finer; where the scene says where it is looked at from, the camera does not matter."""
        script = ["frames 6", "report far", "point 0", "wheel 12", "frames 6", "report near", "quit"]
        counts = {}
        for name, more in (("camera", {}), ("own", {"eye": [0, 0, 12]})):
            with open(self.path("seen.json"), "w") as file:
                json.dump({**SEEN, **more}, file)
            seen = self.view(script, scene=self.path("seen.json"))
            counts[name] = [seen[when]["bodies"][0]["particles"] for when in ("far", "near")]
        self.assertGreater(counts["camera"][1], 2 * counts["camera"][0])
        self.assertEqual(counts["own"], [counts["camera"][0]] * 2)

    def test_the_camera(self):
        seen = self.view(["key P", "report start", "move 560 40", "press left", "move-by 50 20 2", "release left", "report orbit",
                          "press right", "move-by 40 0 2", "release right", "report pan", "wheel 3", "report zoom", "key Home",
                          "report home"])
        start = seen["start"]
        for name in ("orbit", "pan", "zoom", "home"):
            self.assertEqual(seen[name]["hash"], start["hash"])

        def distance(report):
            return sum((a - b) ** 2 for a, b in zip(report["camera"], report["look_at"])) ** 0.5

        self.assertNotEqual(seen["orbit"]["camera"], start["camera"])
        self.assertEqual(seen["orbit"]["look_at"], start["look_at"])
        self.assertAlmostEqual(distance(seen["orbit"]), distance(start), 6)
        self.assertNotEqual(seen["pan"]["look_at"], start["look_at"])
        self.assertLess(distance(seen["zoom"]), 0.8 * distance(start))
        self.assertEqual(seen["home"]["camera"], start["camera"])

    def test_a_knife_cuts_octrees(self):
        seen = self.view(["key P", "key R", "report whole", "key C", "move 500 60", "press left", "move-by 0 420 3",
                          "release left", "report cut", "key O", "key O", "report later", "key Left", "key Left", "report back",
                          "key C", "point 0", "press left", "report held"], scene="liver-cut")
        self.assertEqual(seen["whole"]["bodies"][0]["particles"], 500)
        self.assertGreater(seen["cut"]["bodies"][0]["particles"], 520)
        self.assertEqual(seen["later"]["bodies"][0]["particles"], seen["cut"]["bodies"][0]["particles"])
        self.assertEqual(seen["back"]["frame"], 0)
        self.assertTrue(seen["held"]["holding"])

    def test_brushes_paint_octrees(self):
        stroke = ["press left", "move-by 30 0 3", "release left", "move-by -30 0 1"]
        seen = self.view(["key P", "key R", "point 0", "key W", "report start", *stroke, "report harder", "key W", *stroke, *stroke,
                          "report softer", "key W", "key D", *stroke, "report finer", "key D", *["key ."] * 4, *stroke,
                          "report coarser", "key D", "point 0", "press left", "report held", "key O"], scene="liver-cut")
        bodies = {name: report["bodies"][0] for name, report in seen.items()}
        self.assertFalse(seen["harder"]["holding"])
        self.assertGreater(bodies["harder"]["memberships"], bodies["start"]["memberships"])
        self.assertLess(bodies["softer"]["memberships"], bodies["harder"]["memberships"])
        self.assertEqual(bodies["softer"]["particles"], bodies["start"]["particles"])
        self.assertGreater(bodies["finer"]["particles"], bodies["start"]["particles"])
        self.assertLess(bodies["coarser"]["particles"], bodies["finer"]["particles"])
        self.assertTrue(seen["held"]["holding"])

    def test_a_knife_cuts_clusters(self):
        seen = self.view(["key P", "key R", "report whole", "key C", "move 500 60", "press left", "move-by 0 520 3",
                          "release left", "report cut", "key O", "report later"], scene="squeeze-duck")
        self.assertEqual(seen["whole"]["bodies"][0]["pieces"], 1)
        self.assertEqual(seen["cut"]["bodies"][0]["particles"], seen["whole"]["bodies"][0]["particles"])
        self.assertEqual(seen["cut"]["bodies"][0]["memberships"], seen["whole"]["bodies"][0]["memberships"])
        self.assertGreater(seen["cut"]["bodies"][0]["pieces"], 1)

    def test_a_ball_pushes_what_it_hits(self):
        seen = self.view(["key P", "key R", *["key O"] * 3, "point 2", "key B", "report thrown", *["key O"] * 40, "report hit"])
        self.assertEqual((seen["thrown"]["balls"], seen["thrown"]["colliders"]), (1, 2))
        self.assertLess(seen["hit"]["bodies"][2]["centre"][2], -0.1)
        self.assertLess(abs(seen["hit"]["bodies"][0]["centre"][2]), 0.01)


class Panel(Case):
    def test_every_slider_changes_what_it_says(self):
        lines = ["key P", "click Body", "report start"]
        for label, key, value in SLIDERS:
            lines += ["set %g %s" % (value, label), "report %s" % key]
        lines += ["click alpha", "report by alpha"]
        for label, key, value in ALPHA_SLIDERS:
            lines += ["set %g %s" % (value, label), "report %s" % key]
        lines += ["click Rigid", "report rigid", "click Quadratic", "report quadratic", "click-at 0.9 Alpha", "report dragged"]
        backwards = ALPHA_SLIDERS + SLIDERS[:1:-1]  # without a yield, creep has no effect and rests
        for label, key, value in backwards:
            lines += ["click Reset %s" % label, "report reset %s" % key]
        seen = self.view(lines, "--size", "760x1200")
        expected = dict(seen["start"]["material"])
        first = dict(expected)
        self.assertEqual((expected["mode"], expected["stiffness"]), (1, 1))  # linear, in hertz
        for label, key, value in SLIDERS + [(None, "by alpha", None)] + ALPHA_SLIDERS:
            if label is None:
                expected["stiffness"] = 4
            else:
                self.assertNotEqual(expected[key], value)
                expected[key] = value
            self.assertEqual(seen[key]["material"], expected, key)
        self.assertEqual(seen["rigid"]["material"]["mode"], 0)
        self.assertEqual(seen["quadratic"]["material"]["mode"], 2)
        self.assertGreater(seen["dragged"]["material"]["alpha"], 0.8)
        for label, key, value in backwards:
            self.assertEqual(seen["reset %s" % key]["material"][key], first[key], label)

    def test_sliders_that_lattices_have(self):
        seen = self.view(["key P", "click Body", "report start", "click each region", "report regional", "set 3 Damping every",
                          "report every", "key O", "report stepped", "click Reset Damping every", "report reset"],
                         "--size", "760x1000", scene="widths")
        self.assertEqual((seen["start"]["material"]["damping_kind"], seen["regional"]["material"]["damping_kind"]), (0, 1))
        self.assertEqual((seen["start"]["material"]["damping_every"], seen["every"]["material"]["damping_every"]), (1, 3))
        self.assertEqual(seen["reset"]["material"]["damping_every"], 1)
        self.assertEqual(seen["stepped"]["frame"], seen["every"]["frame"] + 1)

    def test_weights_of_examples(self):
        """They are shown as they are found, forced by their sliders, and found again; the timeline knows of it."""
        bar = {"limber": 1, "frames": 60, "gravity": [0, 0, 0], "bodies": [{
            "shape": {"name": "box", "size": [1.2, 0.4, 0.4], "detail": 2}, "surface": {"detail": 2}, "lattice": {"spacing": 0.2},
            "material": {"mode": "rigid", "hertz": 6, "damping_ratio": 0.3}, "state": {"scale": [1.3, 1, 1]},
            "examples": {"beta": 0.5, "poses": [{"deform": [{"scale": [1.5, 1, 1]}]}, {"deform": [{"shear": [0.5, 0, 0]}]}]}}]}
        with open(self.path("bar.json"), "w") as file:
            json.dump(bar, file)
        seen = self.view(["key P", "key R", "click Body", "report start", "key O", "report found", "set 0.75 Example 2",
                          "report forced", *["key O"] * 90, "report led", "set 0.5 Example 1", "report shared",
                          *["key Left"] * 60, "report before", *["key O"] * 60, "report again",
                          "click Force the mix", "set 0.25 Example beta", "report freed", *["key O"] * 60, "report back"],
                         "--size", "760x1000", scene=self.path("bar.json"))
        mix = {name: report["examples"] for name, report in seen.items()}
        self.assertEqual(mix["start"], {"beta": 0.5, "forced": False, "weights": [0, 0]})
        self.assertFalse(mix["found"]["forced"])
        self.assertAlmostEqual(mix["found"]["weights"][0], 0.6, 1)
        self.assertLess(mix["found"]["weights"][1], 0.05)
        self.assertEqual((mix["forced"]["forced"], mix["forced"]["weights"][1]), (True, 0.75))
        self.assertAlmostEqual(sum(mix["forced"]["weights"]), 1, 6)
        self.assertEqual(mix["led"], mix["forced"])
        size = {name: [b - a for a, b in zip(report["bodies"][0]["lower"], report["bodies"][0]["upper"])]
                for name, report in seen.items()}
        self.assertGreater(size["led"][0], size["start"][0] / 1.3 + 0.05)  # neither at rest nor as it started
        self.assertEqual((mix["shared"]["weights"], mix["shared"]["forced"]), ([0.5, 0.5], True))
        self.assertEqual((seen["again"]["frame"], seen["again"]["mismatches"]), (seen["shared"]["frame"], 0))
        self.assertEqual(mix["before"], mix["forced"])
        self.assertEqual((mix["freed"]["forced"], mix["freed"]["beta"]), (False, 0.25))
        self.assertLess(max(mix["back"]["weights"]), 0.05)

    def test_the_world(self):
        seen = self.view(["key P", "click World", "report start", "set -1.5 Gravity, up", "set 2 Gravity, right",
                          "set 3 Gravity, front", "report gravity", "click Reset Gravity, up", "report reset", "set 5 Substeps",
                          "report substeps", "set 1 Threads", "report threads", "click Scalar", "report scalar", *["key O"] * 3,
                          "report end"], "--threads", "2", "--size", "640x700")
        self.assertEqual(seen["gravity"]["gravity"], [2, -1.5, 3])
        self.assertEqual(seen["reset"]["gravity"], [2, seen["start"]["gravity"][1], 3])
        self.assertEqual(seen["substeps"]["substeps"], 5)
        self.assertEqual((seen["start"]["threads"], seen["threads"]["threads"]), (2, 1))
        self.assertEqual(seen["scalar"]["isa"], "scalar")
        self.assertEqual(seen["scalar"]["hash"], seen["start"]["hash"])
        wide = self.view(["key P", "click World", "set -1.5 Gravity, up", "set 2 Gravity, right", "set 3 Gravity, front",
                          "click Reset Gravity, up", "set 5 Substeps", *["key O"] * 3, "report end"],
                         "--threads", "2", "--size", "640x700")
        self.assertEqual(wide["end"]["hash"], seen["end"]["hash"])

    def test_bodies(self):
        seen = self.view(["key P", "key R", "click Body", "report start", "click Squash flat", "report flat",
                          *["key O"] * 60, "report back", "click Inside out", "report inverted", "click Add another",
                          "report added", "key R", "report again"])
        flat, start = seen["flat"]["bodies"], seen["start"]["bodies"]
        self.assertAlmostEqual(flat[0]["upper"][1], flat[0]["lower"][1], 6)
        self.assertEqual(flat[1:], start[1:])
        back = seen["back"]["bodies"][0]
        self.assertAlmostEqual(back["upper"][1] - back["lower"][1], 1.0, delta=0.1)
        self.assertNotEqual(seen["inverted"]["hash"], seen["back"]["hash"])
        self.assertEqual(len(seen["added"]["bodies"]), 4)
        self.assertEqual(seen["added"]["selected"], 3)
        self.assertEqual(seen["added"]["bodies"][3]["particles"], start[0]["particles"])
        self.assertEqual((len(seen["again"]["bodies"]), seen["again"]["hash"]), (3, seen["start"]["hash"]))

    def test_materials_by_name(self):
        seen = self.view(["key P", "click Body", "report start", "click jelly", "report jelly", "click clay", "report clay",
                          "click Reset material", "report reset"], "--size", "640x1200")
        self.assertEqual((seen["jelly"]["material"]["young"], seen["jelly"]["material"]["yield"]), (20000, 0))
        self.assertEqual(seen["clay"]["material"]["young"], 1000000)
        self.assertAlmostEqual(seen["clay"]["material"]["yield"], 0.02, 6)
        self.assertEqual(seen["reset"]["material"], seen["start"]["material"])
        self.assertEqual(seen["jelly"]["bodies"][0]["particles"], seen["start"]["bodies"][0]["particles"])

    def test_restart_with_shift_keeps_the_settings(self):
        seen = self.view(["key P", "click Body", "set 12 Stiffness", "key Shift+R", "report kept", "key R", "report reset"])
        self.assertEqual((seen["kept"]["frame"], seen["kept"]["material"]["hertz"]), (0, 12))
        self.assertEqual((seen["reset"]["frame"], seen["reset"]["material"]["hertz"]), (0, 6))

    def test_every_view(self):
        lines = ["frames 20", "key P", "click View", "screenshot plain.png"]
        for view in VIEWS[1:]:
            lines += ["click %s" % view, "report %s" % view, "screenshot %s.png" % view, "click %s" % view]
        lines += ["click Speed", "click Strain", "report one colour"]
        seen = self.view(lines, "--size", "560x600", scale=1)
        width, height, plain = decode_png(self.path("plain.png"))
        self.assertEqual((width, height), (560, 600))
        left, top, across, down = seen["Wireframe"]["picture"]
        for view in VIEWS[1:]:
            self.assertEqual(seen[view]["views"], ["surface", view.lower()])
            _, _, pixels = decode_png(self.path(view + ".png"))
            # Only within the picture: that a toggle looks switched on is not enough.
            rows = [range(3 * (y * width + left), 3 * (y * width + left + across)) for y in range(0, down, 3)]
            changed = sum(pixels[r.start:r.stop] != plain[r.start:r.stop] for r in rows)
            self.assertGreater(changed, 3, view)
        self.assertEqual(seen["one colour"]["views"], ["surface", "strain"])

    def test_keys_of_the_window(self):
        seen = self.view(["key P", "key F1", "report help", "click Close", "report closed", "key Shift+/", "report again",
                          "key Escape", "key Tab", "report hidden", "key Tab", "report shown", "key Ctrl+O", "report picker",
                          "click cubes.json", "report picked"])
        self.assertTrue(seen["help"]["help"] and seen["again"]["help"])
        self.assertFalse(seen["closed"]["help"] or seen["hidden"]["help"])
        self.assertEqual((seen["hidden"]["panel"], seen["hidden"]["picture"]), (False, [0, 0, 640, 600]))
        self.assertTrue(seen["shown"]["panel"])
        self.assertTrue(seen["picker"]["picker"])
        self.assertFalse(seen["picked"]["picker"])
        self.assertEqual(os.path.basename(seen["picked"]["scene"]), "cubes.json")

    def test_typing_is_no_command(self):
        seen = self.view(["key P", "click Scenes", "click Search", "text probe", "key P", "key R", "report typed"])
        self.assertTrue(seen["typed"]["paused"])
        self.assertNotEqual(seen["typed"]["frame"], 0)


class Scenes(Case):
    def test_search_and_open(self):
        seen = self.view(["key P", "click Scenes", "click Search", "text STICKS held", "click sticks", "report opened",
                          "key Escape", "key ]", "report next", "key [", "key [", "report before"])
        names = [line.split()[0] for line in subprocess.run([LIMBER, "list"], capture_output=True,
                                                            text=True).stdout.splitlines()]
        at = names.index("sticks")
        self.assertEqual(seen["opened"]["scene"], "sticks")
        self.assertEqual(seen["next"]["scene"], names[(at + 1) % len(names)])
        self.assertEqual(seen["before"]["scene"], names[at - 1])

    def test_drop(self):
        shutil.copy(self.cubes, self.path("other.json"))
        with open(self.path("bad.json"), "w") as file:
            file.write("{\"limber\": 1, \"bodies\": 3}")
        seen = self.view(["drop %s" % self.path("other.json"), "report dropped", "drop %s" % self.path("bad.json"),
                          "report bad", "drop %s" % self.path("absent.obj"), "frames 2", "report absent"])
        self.assertEqual(seen["dropped"]["scene"], self.path("other.json"))
        for name in ("bad", "absent"):
            self.assertEqual(seen[name]["scene"], self.path("other.json"))
            self.assertIn(name, seen[name]["message"])
        self.assertGreater(seen["absent"]["frame"], seen["bad"]["frame"])

    def test_a_mesh_it_has_never_seen(self):
        """An L of two boxes with open ends, in no file of the project: falls, lies, can be grabbed, all within two seconds."""
        corners, faces = [], []
        for low, high in (((0, 0, 0), (0.4, 1.2, 0.4)), ((0.4, 0, 0), (1.1, 0.4, 0.4))):
            first = len(corners) + 1
            corners += [tuple((low, high)[n >> k & 1][k] for k in range(3)) for n in range(8)]
            faces += [tuple(first + i for i in face) for face in ((0, 1, 5, 4), (2, 6, 7, 3), (0, 2, 3, 1), (4, 5, 7, 6))]
        with open(self.path("never-seen.obj"), "w") as file:
            file.writelines("v %g %g %g\n" % corner for corner in corners)
            file.writelines("f %d %d %d %d\n" % face for face in faces)
        seen = self.view(["report start", "frames 74", "report lies", "point 0", "press left", "move-by 0 -120 4", "frames 36",
                          "report held"], scene=self.path("never-seen.obj"))
        start, lies, held = (seen[name]["bodies"][0] for name in ("start", "lies", "held"))
        self.assertGreater(start["lower"][1], 0.1)
        self.assertLess(abs(lies["lower"][1]), 0.02)
        self.assertLess(lies["speed"], 1.0)
        self.assertTrue(seen["held"]["holding"])
        self.assertGreater(held["centre"][1], lies["centre"][1] + 0.2)
        self.assertLessEqual(seen["held"]["frame"], 120)

    def test_nothing_matches(self):
        done = self.start(["click Scenes", "click Search", "text xyzzy", "click crowd"])
        self.assertEqual(done.returncode, 1)
        self.assertIn("script.txt:4: nothing that can be seen is called \"crowd\"", done.stderr)


class Files(Case):
    def test_snapshot(self):
        seen = self.view(["frames 20", "key P", "click Body", "click Add another", "point 0", "key B", "key O", "key F5",
                          "report saved", *["key O"] * 10, "report later", "drop %s" % self.path("cubes-1.limber"),
                          "report loaded", *["key O"] * 10, "report again"])
        saved, loaded = seen["saved"], seen["loaded"]
        self.assertIn("cubes-1.limber", saved["message"])
        self.assertEqual((loaded["frame"], loaded["hash"]), (saved["frame"], saved["hash"]))
        self.assertEqual((len(loaded["bodies"]), loaded["balls"], loaded["colliders"]), (4, 0, 1))
        self.assertEqual(saved["balls"], 1)
        self.assertEqual(seen["again"]["frame"], seen["later"]["frame"])
        other = self.view(["key P", "drop %s" % self.path("cubes-1.limber"), "report refused"], scene="sticks")
        self.assertIn("other bodies", other["refused"]["message"])
        self.assertEqual(other["refused"]["mismatches"], 0)

    def test_a_snapshot_of_limber_run_can_be_loaded(self):
        subprocess.run([LIMBER, "run", "sticks", "--frames", "30", "--out", self.path("out")], check=True, capture_output=True)
        seen = self.view(["key P", "drop %s" % self.path("out/state.limber"), "report loaded", *["key O"] * 30, "report on"],
                         scene="sticks")
        self.assertEqual(seen["loaded"]["frame"], 30)
        self.assertEqual(seen["on"]["hash"], self.run_hash("sticks", 60))

    @unittest.skipUnless(shutil.which("ffmpeg") and shutil.which("ffprobe"), "needs ffmpeg")
    def test_recording(self):
        """The video keeps the size in which it began; pictures and snapshots may be taken meanwhile."""
        seen = self.view(["key P", "report before", "key F9", *["key O"] * 4, "report recording", "key F12", "frames 1",
                          "report picture", "key F5", "report snapshot", "resize 560 500", "frames 1", "key O", "key Tab", "key O",
                          "report resized", *["key O"] * 2, "key F9", "report done"], "--size", "641x601", scale=1)
        self.assertTrue(seen["recording"]["recording"] and seen["resized"]["recording"])
        self.assertEqual(decode_png(self.path("cubes-1.png"))[:2], (641, 601))
        self.assertIn("cubes-1.limber", seen["snapshot"]["message"])
        self.assertEqual(seen["snapshot"]["hash"], seen["picture"]["hash"])
        self.assertEqual(seen["resized"]["picture"], [0, 0, 560, 500])
        self.assertFalse(seen["done"]["recording"])
        self.assertEqual([name for name in os.listdir(self.folder) if name.endswith(".tmp")], [])
        said = subprocess.run(["ffprobe", "-v", "error", "-count_frames", "-select_streams", "v", "-show_entries",
                               "stream=width,height,nb_read_frames,r_frame_rate", "-of", "json", self.path("cubes-1.mp4")],
                              capture_output=True, text=True, check=True)
        stream = json.loads(said.stdout)["streams"][0]
        _, _, across, down = seen["before"]["picture"]
        self.assertEqual((stream["width"], stream["height"]), (int(across) // 2 * 2, int(down) // 2 * 2))
        self.assertEqual((stream["nb_read_frames"], stream["r_frame_rate"]), ("8", "60/1"))

    def test_screenshots_get_names_of_their_own(self):
        self.view(["key P", "key F12", "frames 2", "click Screenshot", "frames 2"], scale=1)
        for name in ("cubes-1.png", "cubes-2.png"):
            self.assertEqual(decode_png(self.path(name))[:2], (640, 600))


class Window(Case):
    def test_the_layout_is_remembered(self):
        self.view(["key P", "click Numbers", "move 340 300", "press left", "move-by 60 0", "release left", "resize 800 500",
                   "report end"], scale=1)
        seen = self.view(["report wide", "key Tab", "report bare"], "--threads", "1", scale=1)
        self.assertEqual(seen["wide"]["window"], [800, 500])
        self.assertEqual(seen["wide"]["picture"][0], 400)
        self.assertFalse(self.view(["report third"], "--threads", "1", scale=1)["third"]["panel"])
        with open(self.path("layout.txt"), "w") as file:
            file.write("width 7\nheight -3\nnonsense\nviews 9999\npage 99\n")
        self.assertEqual(self.view(["report x"], "--threads", "1", scale=1)["x"]["window"], [1280, 800])

    def test_density(self):
        seen = self.view(["key P", "click Body", "click Squash flat", "screenshot dense.png", "report end"], "--size", "640x600",
                         "--scale", "2")
        self.assertEqual(decode_png(self.path("dense.png"))[:2], (1280, 1200))
        self.assertEqual(seen["end"]["window"], [640, 600])
        body = seen["end"]["bodies"][0]
        self.assertAlmostEqual(body["upper"][1], body["lower"][1], 6)

    def test_no_display(self):
        done = self.start(["report x"], environment={"SDL_VIDEODRIVER": None, "DISPLAY": None, "WAYLAND_DISPLAY": None})
        self.told_in_one_line(done)
        self.assertIn("display", done.stderr)
        done = self.start(["report x"], environment={"SDL_VIDEODRIVER": None, "DISPLAY": ":99999", "WAYLAND_DISPLAY": None})
        self.told_in_one_line(done)

    def test_no_opengl(self):
        self.told_in_one_line(self.start(["report x"], environment={"MESA_GL_VERSION_OVERRIDE": "2.1",
                                                                    "LIBGL_ALWAYS_SOFTWARE": "1"}))

    def told_in_one_line(self, done):
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn("limber render", done.stderr)

    @unittest.skipUnless(shutil.which("Xvfb"), "needs Xvfb")
    def test_on_a_display(self):
        read, write = os.pipe()
        server = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", "800x700x24", "-nolisten", "tcp"],
                                  pass_fds=[write], stderr=subprocess.DEVNULL)
        try:
            os.close(write)
            display = ":" + os.read(read, 16).decode().strip()
            script = ["key P", "key R", *["key O"] * 8, "point 1", "press left", "move-by 20 -60 2", *["key O"] * 8,
                      "release left", "screenshot shown.png", "report end"]
            there = self.view(script, environment={"SDL_VIDEODRIVER": "x11", "DISPLAY": display}, scale=1)
            here = self.view(script, scale=1)
            self.assertEqual(there["end"]["hash"], here["end"]["hash"])
            self.assertEqual(decode_png(self.path("shown.png"))[:2], (640, 600))
        finally:
            os.close(read)
            server.terminate()
            server.wait()

    def test_wrong_arguments(self):
        for arguments in (("--size", "10x10"), ("--size", "big"), ("--scale", "9"), ("--scale", "x"), ("--isa", "mmx")):
            self.assertIn(self.start([], *arguments).returncode, (1, 2), arguments)
        done = self.start(["dance"])
        self.assertEqual(done.returncode, 1)
        self.assertIn("script.txt:1: no command \"dance\"", done.stderr)
        self.assertIn("no such scene", self.start(["report x"], scene="nothing").stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
