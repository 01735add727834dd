#!/usr/bin/env python3
"""The command line as scripts see it: exit codes, what goes to standard output and standard error, files written.

    test_cli.py LIMBER SOURCE_DIR [CommandLine|Scenes]

Runs the built program. Every failure must be one line on standard error; wrong arguments exit with 2, everything else
with 1.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

LIMBER = sys.argv[1]
SOURCE = sys.argv[2]
LONG = "LIMBER_TEST_LONG" in os.environ  # in `make test-long`

SUMMARY_KEYS = ["scene", "frames", "bodies", "particles", "regions", "regions_per_particle", "threads", "isa",
                "ms_per_step", "stages", "max_speed", "finite", "momentum_error", "hash"]
STAGES = ["predict", "gather", "fit", "scatter", "sweep", "integrate", "contact", "find", "solve"]


def limber(*arguments, **options):
    return subprocess.run([LIMBER, *arguments], capture_output=True, text=True, timeout=600, **options)


class Tool(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        with open(self.path(name), "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        return self.path(name)

    def succeed(self, *arguments):
        done = limber(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        return done.stdout

    def refuse(self, code, *arguments, **options):
        """Runs, expects the exit code and exactly one line on standard error, and returns that line."""
        done = limber(*arguments, **options)
        self.assertEqual(done.returncode, code, (arguments, done.stdout, done.stderr))
        self.assertRegex(done.stderr, r"\Alimber: [^\n]+\n\Z")
        return done.stderr[len("limber: "):-1]

    def summary(self, *arguments):
        return json.loads(self.succeed("run", *arguments, "--json"))


class Scenes(Tool):
    """What simulates at length."""

    def test_every_scene_states_something(self):
        """That it shows it is for test/golden/check, which runs them all."""
        for line in self.succeed("list").splitlines():
            name = line.split()[0]
            with open(os.path.join(SOURCE, "scenes", name + ".json"), encoding="utf-8") as file:
                self.assertTrue(json.load(file)["expect"], name)
        out = self.succeed("run", "modes", "--check")
        self.assertNotIn("FAILED", out)
        self.assertIn("\nok expect[0]", out)

    def test_expectations_can_fail(self):
        swaps = [("modes", "bodies[0].material.mode=linear", "bodies[1].material.mode=rigid"),
                 ("modes", "bodies[1].material.mode=quadratic", "bodies[2].material.mode=linear"),
                 ("sticks", "bodies[0].clusters.counts=[2,1,1]", "bodies[1].clusters.counts=[1,1,1]"),
                 ("sticks", "bodies[1].clusters.counts=[5,1,1]", "bodies[2].clusters.counts=[2,1,1]"),
                 ("plastic-cube", "bodies[0].material.yield=0", "frames=240"),
                 ("plastic-cube", "bodies[1].material.yield=0.01", "frames=240"),
                 ("widths", "bodies[0].lattice.width=2", "bodies[1].lattice.width=1")]
        dear = [("squeeze-duck", "bodies[0].material.hertz=0", "frames=330"),
                ("mode-gallery", "bodies[26].material.mode=linear", "frames=110"),
                ("mode-gallery", "bodies[0].material.mode=rigid", "frames=110"),
                ("head-and-balls", "bodies[0].surface.detail=8", "frames=286"),
                ("teaser", "bodies[1].clusters.kmeans=12", "frames=220"),
                ("few-regions", "bodies[2].lattice.width=1", "frames=180"),
                ("widths", "bodies[2].lattice.width=8", "bodies[3].lattice.width=4"),
                ("statue-shell", "bodies[0].material.damping_ratio=0.02", "frames=96")]
        for scene, first, second in swaps + (dear if LONG else []):
            error = self.refuse(1, "run", scene, "--check", "--set", first, "--set", second)
            self.assertRegex(error, r"^%s: \d+ of \d+ expectations failed, first expect\[" % scene)

    def test_saving_and_loading_changes_nothing(self):
        runs = [("modes", 150, [0, 1, 17, 149]), ("pile", 40, [17]), ("liver-cut", 90, [17, 70])] # by the blade of the last it has more particles
        dear = [("crowd", 40, [17]), ("penguins", 80, [17])]
        for scene, frames, cuts in runs + (dear if LONG else []):
            whole = self.summary(scene, "--frames", str(frames))["hash"]
            for cut in cuts:
                self.assertEqual(self.summary(scene, "--frames", str(frames), "--resave", str(cut))["hash"], whole)
            out = self.path(scene)
            self.summary(scene, "--frames", str(frames - 25), "--out", out)
            rest = self.summary(scene, "--frames", str(frames), "--load", os.path.join(out, "state.limber"))
            self.assertEqual((rest["hash"], rest["frames"]), (whole, 25))


class CommandLine(Tool):
    # ---- what works ----

    def test_help_and_version(self):
        self.assertIn("usage:", self.succeed("--help"))
        self.assertRegex(self.succeed("--version"), r"^limber \d+\.\d+\.\d+\n$")
        for command in ["list", "devices", "run", "render", "export", "bench", "validate", "shape", "info", "schema"]:
            self.assertIn("usage: limber " + command, self.succeed(command, "--help"))

    def test_list_names_every_scene(self):
        lines = self.succeed("list").splitlines()
        names = [line.split()[0] for line in lines]
        files = [name[:-5] for name in os.listdir(os.path.join(SOURCE, "scenes")) if name.endswith(".json")]
        self.assertEqual(sorted(names), sorted(files))
        for line in lines:
            with open(os.path.join(SOURCE, "scenes", line.split()[0] + ".json")) as file:
                figure = json.load(file).get("figure")
            self.assertRegex(line, r"^\S+ +\S")
            self.assertEqual(line.endswith("[%s]" % figure), figure is not None, line)

    def test_summary_has_exactly_its_keys(self):
        done = self.summary("sticks", "--frames", "10", "--threads", "1", "--isa", "scalar")
        self.assertEqual(list(done), SUMMARY_KEYS)
        self.assertEqual(list(done["stages"]), STAGES)
        self.assertRegex(done["hash"], r"^[0-9a-f]{16}$")
        self.assertEqual([done[key] for key in ("scene", "frames", "bodies", "particles", "regions", "threads", "isa")],
                         ["sticks", 10, 3, 180, 8, 1, "scalar"])
        self.assertIs(done["finite"], True)
        self.assertGreater(done["regions_per_particle"], 1.0)

    def test_json_is_alone_even_when_a_check_fails(self):
        done = limber("run", "modes", "--frames", "3", "--check", "--json")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(list(json.loads(done.stdout)), SUMMARY_KEYS)

    def test_out_writes_surfaces_snapshot_and_summary(self):
        out = self.path("a/b")
        done = self.summary("modes", "--frames", "5", "--out", out)
        self.assertEqual(sorted(os.listdir(out)), ["state.limber", "summary.json", "surfaces.obj"])
        with open(os.path.join(out, "summary.json")) as file:
            self.assertEqual(json.load(file), done)
        told = self.succeed("info", os.path.join(out, "surfaces.obj"))
        self.assertIn("vertices    %d, with colours\n" % (3 * (6 * 24 * 24 + 2)), told)
        self.assertIn("parts       3\n", told)
        self.assertIn("closed", told)
        self.assertNotIn("problem", told)
        with open(os.path.join(out, "surfaces.obj")) as file:
            colours = {tuple(line.split()[4:]) for line in file if line.startswith("v ")}
        self.assertEqual(len(colours), 3, "each cube in the colour that the scene gives it")

    def test_set_reaches_the_scene(self):
        still = self.summary("crowd", "--frames", "2", "--set", "gravity=[0,0,0]")
        self.assertNotEqual(still["hash"], self.summary("crowd", "--frames", "2")["hash"])
        self.assertEqual(self.summary("modes", "--set", "frames=4")["frames"], 4)

    def test_shape_and_info(self):
        file = self.path("box.obj")
        self.succeed("shape", "box", "--out", file, "--size", "2,1,0.5", "--detail", "4")
        told = self.succeed("info", file)
        self.assertIn("bounds      [-1, -0.5, -0.25] to [1, 0.5, 0.25] m", told)
        self.assertIn("volume      1 m3, closed", told)
        self.assertRegex(self.succeed("info", "crowd"), r"bodies      384, 55200 particles, 2448 regions")
        open_mesh = self.write("open.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 9 9 9\nf 1 2 3\nf 1 2 3\nf 1 1 2\n")
        told = self.succeed("info", open_mesh)
        self.assertIn("1 triangles are there twice", told)
        self.assertIn("1 triangles have no area", told)
        self.assertIn("1 vertices are in no triangle", told)

    def test_models(self):
        for name in ["duck", "head"]:
            for detail, least, most in [("7", 60, 100), ("40", 2500, 4000)]:
                file = self.path(name + ".obj")
                self.succeed("shape", name, "--out", file, "--detail", detail)
                told = self.succeed("info", file)
                self.assertIn("closed", told)
                self.assertNotIn("problem", told)
                vertices = int(re.search(r"vertices +(\d+)", told)[1])
                self.assertTrue(least < vertices < most, vertices)

    # ---- the format ----

    def test_schema_describes_every_scene(self):
        schema = json.loads(self.succeed("schema"))
        self.assertEqual(schema["$schema"], "https://json-schema.org/draft/2020-12/schema")
        try:
            import jsonschema
        except ImportError:
            self.skipTest("python3-jsonschema is not installed")
        jsonschema.Draft202012Validator.check_schema(schema)
        validator = jsonschema.Draft202012Validator(schema)
        folder = os.path.join(SOURCE, "scenes")
        for name in os.listdir(folder):
            with open(os.path.join(folder, name)) as file:
                self.assertEqual([error.message for error in validator.iter_errors(json.load(file))], [], name)
        for wrong in [{}, {"limber": 2}, {"limber": 1, "x": 0}, {"limber": 1, "bodies": [{}]},
                      {"limber": 1, "bodies": [{"points": [[0, 0, 0]], "mass": 0}]},
                      {"limber": 1, "bodies": [{"points": [[0, 0, 0]], "material": {"hertz": 1, "alpha": 1}}]},
                      {"limber": 1, "expect": [{"measure": "finite", "equals": 1, "less_than": 2}]}]:
            self.assertFalse(validator.is_valid(wrong), wrong)

    def test_examples_of_the_manual_run(self):
        with open(os.path.join(SOURCE, "docs", "scene-format.md")) as file:
            examples = re.findall(r"```json\n(.*?)```", file.read(), re.S)
        self.assertGreaterEqual(len(examples), 3)
        for example in examples:
            self.succeed("run", self.write("example.json", example), "--check")

    # ---- what is wrong with arguments: 2 ----

    def test_wrong_arguments(self):
        wrong = [((), "a command is missing (see limber --help)"),
                 (("rum",), 'unknown command "rum" (did you mean "run"?)'),
                 (("run",), "run: SCENE is missing (see limber run --help)"),
                 (("run", "crowd", "extra"), 'run: unexpected argument "extra"'),
                 (("run", "crowd", "--frame", "3"), "run: unknown option --frame (did you mean --frames?)"),
                 (("run", "crowd", "--frames"), "run: --frames needs a value (N)"),
                 (("run", "crowd", "--frames", "x"), "run: --frames x: expected a whole number from 0 to 100000000"),
                 (("run", "crowd", "--frames=-1"), "run: --frames -1: expected a whole number from 0 to 100000000"),
                 (("run", "crowd", "--threads", "0"), "run: --threads 0: expected a whole number from 1 to 64"),
                 (("run", "crowd", "--threads", "99999999999999999999"),
                  "run: --threads 99999999999999999999: expected a whole number from 1 to 64"),
                 (("run", "crowd", "--isa", "avx51"), "--isa avx51: no such instruction set (did you mean avx512?)"),
                 (("run", "crowd", "--set", "frames"), "--set frames: expected PATH=VALUE, as in bodies[0].mass=2"),
                 (("run", "crowd", "--json=1"), "run: --json takes no value"),
                 (("shape", "box"), "shape: --out FILE.obj or --out FILE.png is missing"),
                 (("shape", "box", "--out", "x.obj", "--size", "1,2"),
                  "shape: --size 1,2: expected three numbers above 0, as 1,0.5,2"),
                 (("list", "x"), 'list: unexpected argument "x"')]
        for arguments, expected in wrong:
            self.assertEqual(self.refuse(2, *arguments), expected)

    # ---- everything else: 1 ----

    def test_unknown_names(self):
        self.assertIn('did you mean "crowd"?', self.refuse(1, "run", "crwod"))
        self.assertIn('did you mean "torus"?', self.refuse(1, "shape", "tours", "--out", self.path("x.obj")))
        names = re.search(r"\(expected (.*)\)", self.refuse(1, "bench", "no-such-bench"))[1]
        self.assertEqual(names, "clusters, contacts, lattice, examples, fracture, octree, skeleton, snapshot, calls, polar, gpu, or all")
        self.assertIn(names, self.succeed("bench", "--help"))
        self.assertIn("only 3 frames", self.refuse(1, "run", "modes", "--frames", "3", "--resave", "3"))
        self.assertIn("No such file", self.refuse(1, "run", self.path("missing.json")))
        self.assertIn("No such file", self.refuse(1, "info", self.path("missing.obj")))

    def test_wrong_scenes_say_where(self):
        scene = '{\n  "limber": 1,\n  "bodies": [\n    {"shape": {"name": "box"},\n     %s}\n  ]\n}\n'
        wrong = [('"densty": 3', '5:6: bodies[0].densty: unknown field (expected a field of body; did you mean "density"?)'),
                 ('"mass": "heavy"', '5:14: bodies[0].mass: is "heavy" (expected a number above 0 and at most 1e+12 in kg)'),
                 ('"mass": -1', "5:14: bodies[0].mass: is -1 (expected a number above 0 and at most 1e+12 in kg)"),
                 ('"mass": NaN', "5:14: JSON: expected a value, found 'N'"),
                 ('"mass": 1e999', "5:14: JSON: the number is too large (expected at most 1.8e308)"),
                 ('"particles": 1e10', "5:19: bodies[0].particles: is 1e+10 (expected a whole number from 1 to 1048576)"),
                 ('"material": {"mode": "soft"}', '5:27: bodies[0].material.mode: is "soft" (expected one of "rigid", "linear", "quadratic")')]
        for field, expected in wrong:
            file = self.write("wrong.json", scene % field)
            self.assertEqual(self.refuse(1, "run", file), "%s:%s" % (file, expected))
            self.assertEqual(self.refuse(1, "info", file), "%s:%s" % (file, expected))

    def test_files_that_are_no_scenes(self):
        self.assertRegex(self.refuse(1, "run", self.write("empty.json", "")), r"empty.json:1:1: JSON: ")
        self.assertRegex(self.refuse(1, "run", self.write("bytes.json", bytes(range(256)))), r"bytes.json:1:1: JSON: ")
        self.assertRegex(self.refuse(1, "run", self.write("deep.json", "[" * 100000)), r"deep.json:1:65: JSON: nested too")
        self.assertRegex(self.refuse(1, "run", self.folder.name), r"cannot be read: Is a directory")
        with open(os.path.join(SOURCE, "scenes", "crowd.json"), "rb") as file:
            whole = file.read()
        self.assertRegex(self.refuse(1, "run", self.write("cut.json", whole[:len(whole) // 2])), r"cut.json:\d+:\d+: JSON: ")

    def test_wrong_sets(self):
        self.assertEqual(self.refuse(1, "run", "modes", "--set", "bodies[0].mass=-1"),
                         "--set bodies[0].mass=-1: bodies[0].mass: is -1 (expected a number above 0 and at most 1e+12 in kg)")
        self.assertEqual(self.refuse(1, "run", "modes", "--set", "bodies[9].mass=1"),
                         "--set bodies[9].mass=1: bodies: has 3 elements (expected an index below that)")
        self.assertIn('did you mean "gravity"?', self.refuse(1, "run", "modes", "--set", "gravty=[0,0,0]"))

    def test_outputs_that_cannot_be_written(self):
        self.write("file", "x")
        self.refuse(1, "run", "modes", "--frames", "1", "--out", self.path("file/below"))
        self.refuse(1, "shape", "box", "--out", self.path("no/folder/x.obj"))
        with open("/dev/full", "w") as full:
            for arguments in [("schema",), ("list",), ("run", "modes", "--frames", "1", "--json"), ("--help",)]:
                done = subprocess.run([LIMBER, *arguments], stdout=full, stderr=subprocess.PIPE, text=True)
                self.assertEqual(done.returncode, 1)
                self.assertEqual(done.stderr, "limber: cannot write to standard output: No space left on device\n")

    def test_reader_that_went_away(self):
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run([LIMBER, "schema"], stdout=write, stderr=subprocess.PIPE, text=True)
        os.close(write)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, "limber: cannot write to standard output: Broken pipe\n")

    def test_snapshots_that_are_none(self):
        out = self.path("out")
        self.summary("modes", "--frames", "2", "--out", out)
        state = os.path.join(out, "state.limber")
        with open(state, "rb") as file:
            good = file.read()
        self.refuse(1, "run", "modes", "--load", self.path("missing.limber"))
        cut = self.write("cut.limber", good[:-7])
        self.assertEqual(self.refuse(1, "run", "modes", "--load", cut),
                         f"--load {cut}: lm_world_load: the snapshot is truncated, or has something behind it")
        self.refuse(1, "run", "modes", "--load", self.write("flip.limber", good[:100] + b"\xff\xfe" + good[102:]))
        self.assertIn("other bodies", self.refuse(1, "run", "crowd", "--frames", "3", "--load", state))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
