"""Readers of what `limber export` writes, with the standard library alone: each gives frames, a frame is a list of (x, y, z) and a
list of triangles, all bodies in one."""

import array
import json
import math
import re
import struct
import xml.etree.ElementTree


def triples(flat):
    flat = list(flat)
    return list(zip(flat[0::3], flat[1::3], flat[2::3]))


def floats(data, big=False):
    values = array.array("f")
    values.frombytes(data)
    if big:
        values.byteswap()
    return values


def read_obj(path):
    points, faces = [], []
    with open(path) as file:
        for line in file:
            words = line.split()
            if words and words[0] == "v":
                points.append(tuple(float(w) for w in words[1:4]))
            elif words and words[0] == "f":
                faces.append(tuple(int(w.split("/")[0]) - 1 for w in words[1:4]))
    return points, faces


def read_pc2(path):
    with open(path, "rb") as file:
        data = file.read()
    magic, version, points, start, rate, samples = struct.unpack("<12siiffi", data[:32])
    assert (magic, version, start, rate) == (b"POINTCACHE2\0", 1, 0, 1) and len(data) == 32 + 12 * points * samples
    return [triples(floats(data[32 + 12 * points * i:32 + 12 * points * (i + 1)])) for i in range(samples)]


def read_mdd(path):
    with open(path, "rb") as file:
        data = file.read()
    samples, points = struct.unpack(">ii", data[:8])
    times = floats(data[8:8 + 4 * samples], True)
    data = data[8 + 4 * samples:]
    assert len(data) == 12 * points * samples
    return list(times), [triples(floats(data[12 * points * i:12 * points * (i + 1)], True)) for i in range(samples)]


def read_ply(path):
    points, _, triangles = read_ply_colours(path)
    return points, triangles


def read_ply_colours(path):
    """Points, colours (three of 0 to 255, or none) and triangles."""
    with open(path, "rb") as file:
        data = file.read()
    header, _, body = data.partition(b"end_header\n")
    lines = header.decode().splitlines()
    vertices = int(next(line for line in lines if line.startswith("element vertex")).split()[2])
    faces = int(next(line for line in lines if line.startswith("element face")).split()[2])
    kinds = {"float": "f", "uchar": "B", "int": "i"}
    row = struct.Struct("<" + "".join(kinds[line.split()[1]] for line in lines if re.match("property (?!list)", line)))
    rows = [row.unpack_from(body, row.size * i) for i in range(vertices)]
    triangles = [struct.unpack_from("<iii", body, row.size * vertices + 13 * i + 1) for i in range(faces)]
    assert len(body) == row.size * vertices + 13 * faces
    names = [line.split()[2] for line in lines if re.match("property (?!list)", line)]
    red = names.index("red") if "red" in names else len(names)
    return [r[:3] for r in rows], [r[red:red + 3] for r in rows], triangles


def read_vtu(path):
    """Arrays by name."""
    with open(path, "rb") as file:
        data = file.read()
    head, _, raw = data.partition(b"<AppendedData encoding=\"raw\">\n_")
    tree = xml.etree.ElementTree.fromstring(head + b"</VTKFile>")
    found = {}
    for item in tree.iter("DataArray"):
        at = int(item.get("offset"))
        size = struct.unpack_from("<Q", raw, at)[0]
        values = array.array({"Float32": "f", "Int32": "i", "UInt8": "B"}[item.get("type")])
        values.frombytes(raw[at + 8:at + 8 + size])
        found[item.get("Name")] = values
    return found


def read_usda(path):
    """For each prim with points: attribute to value, or to {time: value}."""
    prims, prim, samples = {}, None, None
    with open(path) as file:
        for line in file:
            started = re.match(r'    def (?:Mesh|Points) "(\w+)"', line)
            value = re.match(r"\s+(\w+\[\]) ([\w:]+)(\.timeSamples)? = (.*)", line)
            sample = re.match(r"\s+(\d+): (\[.*\]),$", line)
            if started:
                prim = prims.setdefault(started.group(1), {})
            elif value and prim is not None:
                samples = prim[value.group(2)] = {} if value.group(3) else numbers(value.group(4))
            elif sample:
                samples[int(sample.group(1))] = numbers(sample.group(2))
            elif line.startswith("    def Scope"):
                prim = None
    return prims


def numbers(text):
    return [float(word) for word in re.findall(r"-?\d[\d.e+-]*", text)]


class Glb:
    """Enough of glTF to play it: skins, morph targets, linear samplers at their own times."""

    COUNTS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}

    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        magic, version, total, size, kind = struct.unpack("<4sIII4s", data[:20])
        assert (magic, version, total, kind) == (b"glTF", 2, len(data), b"JSON"), (magic, version, total, len(data))
        self.json = json.loads(data[20:20 + size])
        length, kind = struct.unpack("<I4s", data[20 + size:28 + size])
        self.bytes = data[28 + size:]
        assert kind == b"BIN\0" and length == len(self.bytes) == self.json["buffers"][0]["byteLength"]
        self.read = {}

    def accessor(self, index):
        if index not in self.read:
            item = self.json["accessors"][index]
            view = self.json["bufferViews"][item["bufferView"]]
            at = view["byteOffset"]
            values = array.array({5126: "f", 5123: "H", 5125: "I"}[item["componentType"]])
            values.frombytes(self.bytes[at:at + view["byteLength"]])
            width = self.COUNTS[item["type"]]
            assert len(values) == width * item["count"]
            self.read[index] = [values[i:i + width] for i in range(0, len(values), width)] if width > 1 else values
        return self.read[index]

    def times(self):
        return list(self.accessor(self.json["animations"][0]["samplers"][0]["input"]))

    def frame(self, index):
        """Points of all meshes at a sample, and triangles."""
        nodes = [dict(node) for node in self.json["nodes"]]
        animation = self.json["animations"][0]
        for channel in animation["channels"]:
            target = channel["target"]
            values = self.accessor(animation["samplers"][channel["sampler"]]["output"])
            if target["path"] == "weights":
                count = len(values) // len(self.times())
                nodes[target["node"]]["weights"] = values[count * index:count * (index + 1)]
            else:
                nodes[target["node"]][target["path"]] = values[index]
        world = self.matrices(nodes)
        points, faces = [], []
        for node in nodes:
            if "mesh" not in node:
                continue
            primitive = self.json["meshes"][node["mesh"]]["primitives"][0]
            first = len(points)
            points += self.skinned(node, primitive, world) if "skin" in node else self.morphed(node, primitive)
            indices = self.accessor(primitive["indices"]) if "indices" in primitive else []
            faces += [tuple(first + i for i in t) for t in triples(indices)]
        return points, faces

    def matrices(self, nodes):
        world = {}

        def visit(index, parent):
            world[index] = multiply(parent, local(nodes[index]))
            for child in nodes[index].get("children", []):
                visit(child, world[index])
        for root in self.json["scenes"][0]["nodes"]:
            visit(root, [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]])
        return world

    def morphed(self, node, primitive):
        points = [list(p) for p in self.accessor(primitive["attributes"]["POSITION"])]
        for weight, target in zip(node.get("weights", []), primitive.get("targets", [])):
            if weight != 0:
                for p, d in zip(points, self.accessor(target["POSITION"])):
                    for k in range(3):
                        p[k] += weight * d[k]
        return [tuple(p) for p in points]

    def skinned(self, node, primitive, world):
        skin = self.json["skins"][node["skin"]]
        inverse = self.accessor(skin["inverseBindMatrices"])
        maps = [multiply(world[joint], [[m[4 * c + r] for c in range(4)] for r in range(3)])
                for joint, m in zip(skin["joints"], inverse)]
        points = [[0.0, 0.0, 0.0] for _ in self.accessor(primitive["attributes"]["POSITION"])]
        for which in range(2):
            if "JOINTS_%d" % which not in primitive["attributes"]:
                continue
            joints = self.accessor(primitive["attributes"]["JOINTS_%d" % which])
            weights = self.accessor(primitive["attributes"]["WEIGHTS_%d" % which])
            for p, rest, js, ws in zip(points, self.accessor(primitive["attributes"]["POSITION"]), joints, weights):
                for j, w in zip(js, ws):
                    if w != 0:
                        for k in range(3):
                            m = maps[j][k]
                            p[k] += w * (m[0] * rest[0] + m[1] * rest[1] + m[2] * rest[2] + m[3])
        return [tuple(p) for p in points]


def local(node):
    x, y, z, w = node.get("rotation", (0, 0, 0, 1))
    s = node.get("scale", (1, 1, 1))
    t = node.get("translation", (0, 0, 0))
    r = [[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
         [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
         [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]
    return [[r[i][0] * s[0], r[i][1] * s[1], r[i][2] * s[2], t[i]] for i in range(3)]


def multiply(a, b):
    return [[sum(a[i][k] * b[k][j] for k in range(3)) + (a[i][3] if j == 3 else 0) for j in range(4)] for i in range(3)]


def distance(points, others):
    """The largest, of points that belong together."""
    assert len(points) == len(others), (len(points), len(others))
    return max(math.dist(p, q) for p, q in zip(points, others))


def size(points):
    return math.dist([min(p[k] for p in points) for k in range(3)], [max(p[k] for p in points) for k in range(3)])


def volume(points, faces):
    """Above 0 where triangles are counter-clockwise seen from outside."""
    total = 0.0
    for a, b, c in faces:
        (ax, ay, az), (bx, by, bz), (cx, cy, cz) = points[a], points[b], points[c]
        total += ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
    return total / 6.0
