#!/usr/bin/env python3
"""Pictures and videos from the command line, without a display.

    test_render.py LIMBER SOURCE_DIR

Pictures are decoded here (zlib is all that it takes), videos by ffprobe. Small sizes and few frames: what is tested is that
the right thing is in the file, not how it looks.
"""

import json
import os
import pty
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zlib

LIMBER = sys.argv[1]
SOURCE = sys.argv[2]
SMALL = ("--size", "160x90")

# Seconds after which a scene looks otherwise than at the start, where half a second is not enough.
MOMENTS = {"local": 1.5, "modes": 2.0, "squeeze-duck": 1.5}


def signals_as_usual():
    """For a child: where these tests run, SIGINT may be ignored (as after & in a script), and children inherit that."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def limber(*arguments, **options):
    return subprocess.run([LIMBER, *arguments], capture_output=True, text=True, timeout=300, **options)


def decode_png(path):
    """Width, height and rows of bytes (three a pixel); fails on anything that is no such PNG."""
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", "no PNG"
    place, packed, header = 8, b"", None
    while place < len(data):
        length, kind = struct.unpack(">I4s", data[place:place + 8])
        body = data[place + 8:place + 8 + length]
        assert struct.unpack(">I", data[place + 8 + length:place + 12 + length])[0] == zlib.crc32(kind + body), "crc"
        header = struct.unpack(">IIBBBBB", body) if kind == b"IHDR" else header
        packed += body if kind == b"IDAT" else b""
        place += 12 + length
    assert kind == b"IEND"
    width, height = header[:2]
    assert header[2:] == (8, 2, 0, 0, 0), header
    raw = zlib.decompress(packed)
    stride = 3 * width
    assert len(raw) == height * (stride + 1)
    rows, above = [], bytearray(stride)
    for y in range(height):
        method = raw[y * (stride + 1)]
        row = bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for i in range(stride):
            left = row[i - 3] if i >= 3 else 0
            corner = above[i - 3] if i >= 3 else 0
            if method == 1:
                guess = left
            elif method == 2:
                guess = above[i]
            elif method == 3:
                guess = (left + above[i]) // 2
            elif method == 4:
                p = left + above[i] - corner
                a, b, c = abs(p - left), abs(p - above[i]), abs(p - corner)
                guess = left if a <= b and a <= c else above[i] if b <= c else corner
            else:
                guess = 0
            row[i] = (row[i] + guess) & 255
        rows.append(bytes(row))
        above = row
    return width, height, rows


def difference(a, b):
    """The share of pixels that differ by more than noise would."""
    assert a[:2] == b[:2]
    count = 0
    for row_a, row_b in zip(a[2], b[2]):
        for i in range(0, len(row_a), 3):
            count += max(abs(row_a[i + k] - row_b[i + k]) for k in range(3)) > 12
    return count / (a[0] * a[1])


def part(picture, left, top, width, height):
    return width, height, [row[3 * left:3 * (left + width)] for row in picture[2][top:top + height]]


def read_font():
    """The dots (x, y) of each letter, from the source, where letters are drawn as they look."""
    with open(os.path.join(SOURCE, "draw", "font.c")) as file:
        lines = re.findall(r'^ +"([.# ]{95})",', file.read(), re.M)
    assert len(lines) == 6 * 9
    return {chr(32 + 16 * (n // 9) + k): [(x, y) for y in range(9) for x in range(5) if lines[n + y][6 * k + x] == "#"]
            for n in range(0, 54, 9) for k in range(16)}


WHITE, LABEL_INK = (255, 255, 255), (40, 44, 54)


def find_words(picture, words, ink):
    """Where words in the smallest letters have their upper left corners: every dot in the ink's colour, none beside them."""
    width, height, rows = picture
    font = read_font()
    inked = {(i // 3, y) for y in range(height) for i in range(0, 3 * width, 3) if tuple(rows[y][i:i + 3]) == ink}
    dots = {(6 * n + x, y) for n, letter in enumerate(words) for x, y in font[letter]}
    box = [(x, y) for x in range(6 * len(words) - 1) for y in range(9)]
    first = min(dots)
    return [(x - first[0], y - first[1]) for x, y in sorted(inked)
            if all(((x - first[0] + u, y - first[1] + v) in inked) == ((u, v) in dots) for u, v in box)]


def colour_bounds(picture, is_colour):
    """Left, top, right and bottom of the pixels of a colour."""
    width, height, rows = picture
    seen = [(i // 3, y) for y in range(height) for i in range(0, 3 * width, 3) if is_colour(*rows[y][i:i + 3])]
    xs, ys = [x for x, _ in seen], [y for _, y in seen]
    return min(xs), min(ys), max(xs) + 1, max(ys) + 1


def probe(path):
    done = subprocess.run(["ffprobe", "-v", "error", "-count_frames", "-select_streams", "v:0", "-show_entries",
                           "stream=codec_name,pix_fmt,width,height,nb_read_frames,avg_frame_rate:format=duration", "-of", "json",
                           path], capture_output=True, text=True, timeout=60, check=True)
    told = json.loads(done.stdout)
    return {**told["streams"][0], **told["format"]}


def can_draw():
    with tempfile.TemporaryDirectory() as folder:
        done = limber("render", "sticks", "--at", "0", *SMALL, "--out", os.path.join(folder, "x.png"))
        return "cannot draw" not in done.stderr


class Rendering(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def succeed(self, *arguments, **options):
        done = limber(*arguments, **options)
        self.assertEqual(done.returncode, 0, (arguments, done.stderr))
        # A scene may ask for more stiffness than its substeps reach; the log says so.
        lines = [line for line in done.stderr.splitlines() if "as stiff as the substep allows" not in line]
        self.assertEqual(lines, [])
        return done.stdout

    def refuse(self, code, *arguments, **options):
        """Runs, expects the exit code, one line on standard error and no file left; returns that line."""
        before = sorted(os.listdir(self.folder.name))
        done = limber(*arguments, **options)
        self.assertEqual(done.returncode, code, (arguments, done.stdout, done.stderr))
        self.assertRegex(done.stderr, r"\Alimber: [^\n]+\n\Z")
        self.assertEqual(sorted(os.listdir(self.folder.name)), before)
        return done.stderr[len("limber: "):-1]

    def picture(self, *arguments, size=SMALL, **options):
        out = self.path("picture.png")
        self.succeed("render", *arguments, *size, "--out", out, **options)
        self.assertEqual(os.listdir(self.folder.name), ["picture.png"])
        picture = decode_png(out)
        os.remove(out)
        return picture


class Pictures(Rendering):
    def test_every_scene_shows_its_bodies_and_moves(self):
        scenes = [line.split()[0] for line in self.succeed("list").splitlines()]
        for scene in scenes:
            frames = str(round(60 * MOMENTS.get(scene, 0.5)))
            sheet = self.picture(scene, "--sheet", "2x1", "--frames", frames, size=("--size", "%dx%d" % (2 * 164 + 4, 94 + 4)))
            start, end = (part(sheet, left, 4, 160, 76) for left in (4, 168))  # without the time, in the corner below
            self.assertGreater(difference(start, end), 0.015, scene)
            with open(os.path.join(SOURCE, "scenes", scene + ".json")) as file:
                others_move = re.search(r'"(movers|bones)"', file.read())
            if others_move:  # else nothing but bodies can have moved
                empty = self.picture(scene, "--at", "0", "--view", "none")
                self.assertEqual(empty[:2], (160, 90))
                self.assertGreater(difference(start, part(empty, 0, 0, 160, 76)), 0.01, scene)

    def test_the_same_twice_and_on_either_way_of_skinning(self):
        first = self.picture("sticks", "--at", "1")
        self.assertEqual(difference(first, self.picture("sticks", "--at", "1")), 0)
        self.assertLess(difference(first, self.picture("sticks", "--at", "1", "--cpu-skin")), 0.01)

    def test_the_end_is_the_default_moment(self):
        end = self.picture("modes")
        self.assertEqual(difference(end, self.picture("modes", "--at", "4")), 0)
        self.assertEqual(difference(end, self.picture("modes", "--frames", "240")), 0)
        self.assertGreater(difference(end, self.picture("modes", "--at", "1")), 0.002)

    def test_every_view_shows_something_of_its_own(self):
        error = self.refuse(1, "render", "modes", "--view", "x", "--out", self.path("x.png"))
        views = re.search(r"\(expected (.*)\)", error)[1].split(", ")
        self.assertEqual(views[:2], ["none", "surface"])
        told = self.succeed("render", "--help")
        seen = [self.picture("tower", "--frames", "20", "--view", "none")]
        for view in views[1:]:
            self.assertRegex(told, r"\b%s\b" % view)
            if view == "bones":
                continue
            # Contacts alone are few points.
            seen.append(self.picture("tower", "--frames", "20", "--view", "surface,contacts" if view == "contacts" else view))
            for other in seen[:-1]:
                self.assertGreater(difference(seen[-1], other), 0.001, view)
        # The tower has no bones; a child has.
        bones = self.picture("infant", "--at", "0.1", "--view", "bones")
        self.assertGreater(difference(bones, self.picture("infant", "--at", "0.1", "--view", "none")), 0.0005)
        self.assertGreater(difference(bones, self.picture("infant", "--at", "0.1")), 0.001)

    def test_camera_and_set(self):
        plain = self.picture("plastic-cube", "--at", "0")
        self.assertGreater(difference(plain, self.picture("plastic-cube", "--at", "0", "--camera", "0,1,9/0,0.5,0/25")), 0.05)
        with open(os.path.join(SOURCE, "scenes", "plastic-cube.json")) as file:
            own = json.load(file)["camera"]
        same = "%s,%s,%s/%s,%s,%s/%s" % (*own["at"], *own["look_at"], own["field_of_view"])
        self.assertEqual(difference(plain, self.picture("plastic-cube", "--at", "0", "--camera", same)), 0)
        painted = self.picture("plastic-cube", "--at", "0", "--set", "bodies[0].colour=#00ff00")
        self.assertGreater(difference(plain, painted), 0.01)

    def test_narrow_pictures_show_the_whole_width(self):
        """Whoever gave the camera, degrees are those of a picture of 16:9."""
        scene, size = self.write_scene({"camera": {"at": [0, 0, 10], "look_at": [0, 0, 0], "field_of_view": 30}}), ("--size", "90x160")
        own = self.picture(scene, "--at", "0", size=size)
        given = self.picture(scene, "--at", "0", "--camera", "0,0,10/0,0,0/30", size=size)
        self.assertEqual(difference(own, given), 0)
        wide = self.picture(scene, "--at", "0", "--camera", "0,0,10/0,0,0/30", size=("--size", "160x90"))
        for is_colour in (is_red, is_blue):
            left, _, right, _ = colour_bounds(wide, is_colour)
            narrow_left, _, narrow_right, _ = colour_bounds(given, is_colour)
            self.assertAlmostEqual(narrow_left / 90, left / 160, delta=0.03)
            self.assertAlmostEqual(narrow_right / 90, right / 160, delta=0.03)

    def test_labels_stand_below_their_bodies(self):
        scene = self.write_scene({})
        # From the front, from above and behind, and almost straight down, where the picture's top is no longer up.
        for camera in ["0.4,0,12/0,0,0/30", "2,9,-8/0,0,0/30", "0,12,0.05/0,0,0/30", "0.001,12,0/0,0,0/30"]:
            picture = self.picture(scene, "--at", "0", "--camera", camera, size=("--size", "320x180"))
            for words, is_colour in [("red.", is_red), ("Blue", is_blue)]:
                left, _, right, bottom = colour_bounds(picture, is_colour)
                places = find_words(picture, words, LABEL_INK)
                self.assertEqual(len(places), 1, (camera, words))
                x, y = places[0]
                self.assertAlmostEqual(x + 23 / 2, (left + right) / 2, delta=5, msg=camera)
                self.assertTrue(bottom - 2 <= y <= bottom + 12, (camera, words, y, bottom))

    def write_scene(self, more):
        """Two cubes, not mirror images of each other whichever way one looks."""
        def cube(colour, label, at):
            return {"shape": {"name": "box", "size": [1, 1, 1]}, "colour": colour, "label": label, "at": at}

        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, "scene.json")
        with open(path, "w") as file:
            json.dump({"limber": 1, "gravity": [0, 0, 0], "bodies": [cube("#ff0000", "red.", [-2.5, 1.2, 0.5]),
                                                                     cube("#0000ff", "Blue", [1.5, -0.6, -1])], **more}, file)
        return path

    def test_sheets_have_their_tiles(self):
        width, height, rows = self.picture("modes", "--sheet", "4x3", size=("--size", "500x250"))
        self.assertEqual((width, height), (500, 250))
        # The gaps are the only lines of one light colour from edge to edge.
        paper = rows[0][:3]
        self.assertGreater(min(paper), 235)
        across = [y for y in range(height) if rows[y] == paper * width]
        down = [x for x in range(width) if all(rows[y][3 * x:3 * x + 3] == paper for y in range(height))]

        def tiles(lines, size):
            gaps = [-1] + lines + [size]
            return [b - a - 1 for a, b in zip(gaps, gaps[1:]) if b - a > 1]

        self.assertEqual(tiles(across, height), [78, 78, 78])
        self.assertEqual(tiles(down, width), [120, 120, 120, 120])
        self.assertEqual(self.picture("modes", "--sheet", "2x1", "--frames", "2", size=())[:2], (972, 278))

    def test_each_tile_is_the_picture_of_its_time(self):
        sheet = self.picture("squeeze-duck", "--sheet", "3x2", "--frames", "60", size=("--size", "%dx%d" % (3 * 164 + 4, 2 * 94 + 4)))
        for k in range(6):
            tile = part(sheet, 4 + 164 * (k % 3), 4 + 94 * (k // 3), 160, 90)
            alone = self.picture("squeeze-duck", "--at", "%.9f" % (12 * k / 60))
            # The time stands in the corner; the rest is the same to the last bit.
            self.assertEqual(tile[2][:76], alone[2][:76], k)
            self.assertEqual(part(tile, 50, 0, 110, 90)[2], part(alone, 50, 0, 110, 90)[2], k)
            self.assertEqual(find_words(tile, "%.2f s" % (k / 5), WHITE), [(5, 78)], k)

    def test_labels_and_times_make_room_for_each_other(self):
        sheet = self.picture("modes", "--sheet", "3x2", "--frames", "150", size=("--size", "%dx%d" % (3 * 104 + 4, 2 * 64 + 4)))
        for k in range(6):
            tile = part(sheet, 4 + 104 * (k % 3), 4 + 64 * (k // 3), 100, 60)
            self.assertEqual(len(find_words(tile, "%.2f s" % (k / 2), WHITE)), 1, k)
            for words in ["rigid", "linear", "quadratic"]:
                self.assertEqual(len(find_words(tile, words, LABEL_INK)), 1, (k, words))

    def test_colours_mean_the_same_in_all_tiles(self):
        """The box falls faster and faster: each tile with a range of its own would show it alike."""
        scene = self.path("scene.json")
        with open(scene, "w") as file:
            json.dump({"limber": 1, "gravity": [0, -8, 0], "camera": {"at": [0, 1, 14]},
                       "bodies": [{"shape": {"name": "box"}}]}, file)
        size = ("--size", "%dx%d" % (3 * 244 + 4, 139 + 4))
        out = self.path("x.png")

        def sheet(*options):
            told = self.succeed("render", scene, "--frames", "30", "--view", "speed", *options, *size, "--sheet", "3x1", "--out", out)
            return decode_png(out), told

        found, told = sheet()
        self.assertRegex(told, r"; speed up to (3\.9\d*|4|4\.0\d*) m/s;")
        given, _ = sheet("--range", "5")
        self.assertEqual(found, given)
        for k in range(3):
            self.succeed("render", scene, "--at", "%.9f" % (k / 4), "--view", "speed", "--range", "5", "--size", "240x135", "--out", out)
            self.assertEqual(part(found, 4 + 244 * k, 4, 240, 110)[2], decode_png(out)[2][:110], k)
        self.assertGreater(difference(given, sheet("--range", "50")[0]), 0.005)

    def test_a_camera_is_found_where_there_is_none(self):
        scene = self.path("scene.json")
        with open(scene, "w") as file:
            file.write('{"limber": 1, "bodies": [{"shape": {"name": "box"}, "at": [40, 0, -70]}]}')
        out = self.path("x.png")
        self.succeed("render", scene, "--at", "0", *SMALL, "--out", out)
        with_body = decode_png(out)
        self.succeed("render", scene, "--at", "0", "--view", "none", *SMALL, "--out", out)
        self.assertGreater(difference(with_body, decode_png(out)), 0.05)


def is_red(r, g, b):
    return r > 100 and r > 2.5 * g and r > 2.5 * b


def is_blue(r, g, b):
    return b > 100 and b > 2 * r and b > 1.6 * g


class Models(Rendering):
    def test_a_picture_of_each(self):
        out = self.path("duck.png")
        self.succeed("shape", "duck", "--detail", "24", "--picture", "120x160", "--out", out)
        width, height, rows = decode_png(out)
        self.assertEqual((width, height), (120, 160))
        yellow = sum(row[i] > 150 and row[i + 1] > 120 and row[i + 2] < 100 for row in rows for i in range(0, 360, 3))
        self.assertGreater(yellow, 0.1 * width * height)

    def test_a_sheet_of_all(self):
        out = self.path("models.png")
        self.succeed("shape", "--all", "--sheet", out, "--detail", "16", "--picture", "60x40")
        known = re.search(r"expected (.*?)[;)]", self.refuse(1, "shape", "no-such", "--out", self.path("x.obj")))[1]
        count = len(known.split(", "))
        width, height, _ = decode_png(out)
        columns, rows = (width - 4) // 64, (height - 4) // 44
        self.assertEqual((width, height), (64 * columns + 4, 44 * rows + 4))
        self.assertTrue(count <= columns * rows < count + columns, (count, columns, rows))

    def test_each_is_in_its_own_tile(self):
        out = self.path("models.png")
        self.succeed("shape", "--all", "--sheet", out, "--detail", "12", "--picture", "90x72")
        sheet = decode_png(out)
        known = re.search(r"expected (.*?)[;)]", self.refuse(1, "shape", "no-such", "--out", self.path("x.obj")))[1].split(", ")
        columns = (sheet[0] - 4) // 94
        for k, name in enumerate(known):
            tile = part(sheet, 4 + 94 * (k % columns), 4 + 76 * (k // columns), 90, 72)
            self.succeed("shape", name, "--detail", "12", "--picture", "90x72", "--out", out)
            self.assertEqual(tile[2][:58], decode_png(out)[2][:58], name)
            self.assertEqual(find_words(tile, name, WHITE), [(5, 60)], name)

    def test_wrong_arguments(self):
        out = self.path("x.png")
        wrong = [(("shape",), "shape: NAME or --all is missing (see limber shape --help)"),
                 (("shape", "--all"), "shape: --all and --sheet FILE.png need each other"),
                 (("shape", "duck", "--sheet", out), "shape: --all and --sheet FILE.png need each other"),
                 (("shape", "duck", "--all", "--sheet", out), "shape: --all and NAME exclude each other"),
                 (("shape", "--all", "--sheet", self.path("x.obj")),
                  "shape: --sheet %s: expected a name that ends in .png" % self.path("x.obj")),
                 (("shape", "duck", "--out", out, "--picture", "9x9"),
                  "shape: --picture 9x9: expected width and height from 16 to 4096, as 640x640"),
                 (("shape", "duck", "--out", self.path("x.obj"), "--picture", "90x90"),
                  "shape: --picture is for pictures (expected --out FILE.png)")]
        for arguments, expected in wrong:
            self.assertEqual(self.refuse(2, *arguments), expected)
        self.assertIn("No such file", self.refuse(1, "shape", "duck", "--out", self.path("no/x.png")))
        self.assertIn("No such file", self.refuse(1, "shape", "--all", "--sheet", self.path("no/x.png")))


@unittest.skipUnless(shutil.which("ffmpeg") and shutil.which("ffprobe"), "ffmpeg is not installed")
class Videos(Rendering):
    def test_a_video_decodes_to_size_frames_and_length(self):
        for options, frames, rate, seconds in [(("--frames", "20"), 20, "60/1", 1 / 3),
                                               (("--frames", "30", "--fps", "20"), 10, "20/1", 0.5)]:
            out = self.path("-a 'b' \"c\" $(d):%d.mp4")
            told = self.succeed("render", "sticks", *options, *SMALL, "--out", out)
            self.assertIn("160x90, %d frames, %.2f s" % (frames, seconds), told)
            video = probe(out)
            self.assertEqual((video["codec_name"], video["pix_fmt"]), ("h264", "yuv420p"))
            self.assertEqual((video["width"], video["height"], video["nb_read_frames"]), (160, 90, str(frames)))
            self.assertEqual(video["avg_frame_rate"], rate)
            self.assertAlmostEqual(float(video["duration"]), seconds, places=2)
            self.assertEqual(os.listdir(self.folder.name), [os.path.basename(out)])

    def test_its_frames_are_the_scenes(self):
        out, still = self.path("x.mp4"), self.path("still.png")
        self.succeed("render", "modes", "--frames", "31", *SMALL, "--out", out)
        for frame in [0, 30]:
            subprocess.run(["ffmpeg", "-v", "error", "-y", "-i", out, "-vf", "select=eq(n\\,%d)" % frame, "-frames:v", "1",
                            still], check=True, timeout=60)
            picture = self.path("picture.png")
            self.succeed("render", "modes", "--at", str(frame / 60), *SMALL, "--out", picture)
            wanted = decode_png(picture)
            os.remove(picture)
            self.assertLess(difference(wanted, decode_png(still)), 0.08, frame)

    def test_interrupting_leaves_nothing(self):
        process = subprocess.Popen([LIMBER, "render", "crowd", "--size", "640x360", "--out", self.path("x.mp4")],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=signals_as_usual)
        began = time.monotonic()
        while not os.listdir(self.folder.name) and time.monotonic() - began < 60:
            time.sleep(0.05)
        self.assertEqual(len(os.listdir(self.folder.name)), 1)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.assertEqual(os.listdir(self.folder.name), [])


class Arguments(Rendering):
    def test_wrong_arguments(self):
        out = self.path("x.png")
        wrong = [((), "render: --out FILE.png or --out FILE.mp4 is missing"),
                 (("--out", "x.gif"), "render: --out x.gif: expected a name that ends in .png or .mp4"),
                 (("--out", out, "--size", "640"), "render: --size 640: expected width and height from 16 to 8192, as 1280x720"),
                 (("--out", out, "--size", "640x8"), "render: --size 640x8: expected width and height from 16 to 8192, as 1280x720"),
                 (("--out", out, "--size", "640x480x3"),
                  "render: --size 640x480x3: expected width and height from 16 to 8192, as 1280x720"),
                 (("--out", self.path("x.mp4"), "--size", "641x480"), "render: --size 641x480: expected even numbers for a video"),
                 (("--out", out, "--frames", "0"), "render: --frames 0: expected a whole number from 1 to 100000000"),
                 (("--out", out, "--at", "soon"), "render: --at soon: expected seconds from 0 to 1e+06"),
                 (("--out", out, "--at", "-1"), "render: --at -1: expected seconds from 0 to 1e+06"),
                 (("--out", out, "--at", "0x10"), "render: --at 0x10: expected seconds from 0 to 1e+06"),
                 (("--out", out, "--at", " 1"), "render: --at  1: expected seconds from 0 to 1e+06"),
                 (("--out", out, "--at", "1 "), "render: --at 1 : expected seconds from 0 to 1e+06"),
                 (("--out", out, "--range", "0"), "render: --range 0: expected a number from 1e-06 to 1e+06"),
                 (("--out", out, "--range", "inf"), "render: --range inf: expected a number from 1e-06 to 1e+06"),
                 (("--out", out, "--at", "1", "--frames", "2"), "render: --at and --frames exclude each other"),
                 (("--out", out, "--sheet", "4"), "render: --sheet 4: expected columns and rows up to 64, as 4x3"),
                 (("--out", out, "--sheet", "0x3"), "render: --sheet 0x3: expected columns and rows up to 64, as 4x3"),
                 (("--out", out, "--sheet", "9x9", "--size", "100x100"), "render: --size 100x100: too small for 9x9 pictures"),
                 (("--out", out, "--fps", "30"), "render: --fps is for videos (expected --out FILE.mp4)"),
                 (("--out", self.path("x.mp4"), "--sheet", "2x2"), "render: --sheet is for pictures (expected --out FILE.png)"),
                 (("--out", out, "--camera", "1,2,3"), "render: --camera 1,2,3: expected the eye, what it looks at and degrees "
                  "from 1 to 170, as 4,3,6/0,1,0/40"),
                 (("--out", out, "--camera", "1,2,3/1,2,3"), "render: --camera 1,2,3/1,2,3: the eye is where it looks at"),
                 (("--out", out, "--camera", "0,-0,0/0,0,0"), "render: --camera 0,-0,0/0,0,0: the eye is where it looks at"),
                 (("--out", out, "--set", "frames"), "--set frames: expected PATH=VALUE, as in bodies[0].mass=2")]
        for arguments, expected in wrong:
            self.assertEqual(self.refuse(2, "render", "modes", *arguments), expected)
        self.assertEqual(self.refuse(2, "render"), "render: SCENE is missing (see limber render --help)")

    def test_a_scene_that_is_not_known(self):
        self.assertIn('did you mean "crowd"?', self.refuse(1, "render", "crwod", "--out", self.path("x.png")))


class NotBuilt(Rendering):
    """A build without the packages that drawing needs."""

    def test_it_says_what_to_install(self):
        for arguments in [("render", "modes", "--out", self.path("x.png")), ("render", "modes", "--out", self.path("x.mp4")),
                          ("shape", "duck", "--out", self.path("x.png")), ("shape", "--all", "--sheet", self.path("x.png"))]:
            self.assertRegex(self.refuse(1, *arguments), "^this build of limber cannot draw: .*libsdl2-dev.*libstb-dev")
        self.succeed("shape", "duck", "--out", self.path("x.obj"))


class Failures(Rendering):
    def test_a_view_that_is_not_known(self):
        out = self.path("x.png")
        error = self.refuse(1, "render", "modes", "--view", "surface,wirefame", "--out", out)
        self.assertRegex(error, r'no view "wirefame" \(expected none, surface, .*; did you mean "wireframe"\?\)$')
        for views in ["none,surface", "surface,none"]:
            self.assertEqual(self.refuse(1, "render", "modes", "--view", views, "--out", out),
                             "--view %s: none leaves the bodies out (expected no other view with it)" % views)
        for views in ["speed,strain", "regions,speed", "strain,surface,regions"]:
            self.assertEqual(self.refuse(1, "render", "modes", "--view", views, "--out", out),
                             "--view %s: a body has one colour (expected one of regions, speed, strain and stress)" % views)
        self.assertEqual(self.refuse(2, "render", "modes", "--range", "2", "--out", out),
                         "render: --range is for --view speed, strain and stress")
        self.assertIn('no view ""', self.refuse(1, "render", "modes", "--view", "surface,", "--out", out))

    def test_outputs_that_cannot_be_written(self):
        with open(self.path("file"), "w"):
            pass
        for out, why in [(self.path("no/x.png"), "No such file"), (self.path("file/x.png"), "Not a directory"),
                         (self.path("no/x.mp4"), "No such file")]:
            # So many frames that it could not simulate them before it fails.
            self.assertIn(why, self.refuse(1, "render", "modes", "--frames", "100000000", *SMALL, "--out", out))
        os.mkdir(self.path("folder.png"))
        self.assertIn("Is a directory", self.refuse(1, "render", "modes", *SMALL, "--out", self.path("folder.png")))

    def test_ffmpeg_that_is_missing_or_fails(self):
        out = self.path("x.mp4")
        error = self.refuse(1, "render", "modes", "--frames", "100000000", *SMALL, "--out", out, env={**os.environ, "PATH": "/nowhere"})
        self.assertIn("ffmpeg, which makes videos, is not installed", error)
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "ffmpeg"), "w") as file:
                file.write("#!/bin/sh\necho 'Unknown encoder' >&2\nexit 1\n")
            os.chmod(file.name, 0o755)
            error = self.refuse(1, "render", "modes", *SMALL, "--out", out, env={**os.environ, "PATH": folder + ":/usr/bin:/bin"})
            self.assertTrue(error.endswith("ffmpeg: Unknown encoder"), error)

    def test_files_larger_than_allowed(self):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
            resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

        out = self.path("x.png")
        error = self.refuse(1, "render", "modes", "--at", "0", "--size", "320x180", "--out", out, preexec_fn=limit)
        self.assertEqual(error, out + ": cannot be written: File too large")

    def test_an_error_takes_the_place_of_the_progress_bar(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "ffmpeg"), "w") as file:
                file.write("#!/bin/sh\nhead -c 1000000 >/dev/null; echo 'no room' >&2\nexit 1\n")
            os.chmod(file.name, 0o755)
            ours, theirs = pty.openpty()
            out = self.path("x.mp4")
            done = subprocess.run([LIMBER, "render", "sticks", *SMALL, "--out", out], stdout=subprocess.PIPE, stderr=theirs,
                                  env={**os.environ, "PATH": folder + ":/usr/bin:/bin"}, timeout=300)
            os.close(theirs)
            shown = b""
            try:
                while block := os.read(ours, 4096):
                    shown += block
            except OSError:
                pass  # how Linux says that the other end is closed
            os.close(ours)
        self.assertEqual(done.returncode, 1)
        bar, error = shown.decode().rsplit("\r\x1b[K", 1)
        self.assertRegex(bar, r"\A(\r\[[#.]{40}\] \d+/\d+ frames)+\Z")
        self.assertEqual(error, "limber: %s: ffmpeg: no room\r\n" % out)

    def test_machines_that_cannot_draw(self):
        out = self.path("x.png")
        for setting in [{"MESA_GL_VERSION_OVERRIDE": "2.1"}, {"__EGL_VENDOR_LIBRARY_FILENAMES": "/nowhere"},
                        {"LIBGL_DRIVERS_PATH": "/nowhere"}]:
            error = self.refuse(1, "render", "modes", "--frames", "100000000", *SMALL, "--out", out, env={**os.environ, **setting})
            self.assertRegex(error, r"OpenGL")


if __name__ == "__main__":
    if can_draw():
        del NotBuilt
    else:
        del Pictures, Models, Videos, Failures
    unittest.main(argv=sys.argv[:1])
