"""Runs inside Blender: blender -b --factory-startup --python inside.py -- ADD-ON.zip FOLDER

Bakes a monkey, a cloth-like plane, a character on an armature, a cut and a break, and compares every one with the library run directly.
"""

import os
import resource
import sys
import tempfile
import unittest
from pathlib import Path

import bpy
import numpy as np

ADDON, FOLDER = sys.argv[sys.argv.index("--") + 1 :][:2]
bpy.ops.preferences.addon_install(filepath=ADDON)
bpy.ops.preferences.addon_enable(module="limber_blender")
from limber_blender import cache, limber, properties  # noqa: E402
from limber_blender.simulate import material_of  # noqa: E402


def fresh(frames=20):
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.ops.preferences.addon_enable(module="limber_blender")
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, frames
    scene.render.fps = 24
    scene.limber.folder = tempfile.mkdtemp(dir=FOLDER)
    return scene


def soft(found, **settings):
    found.limber.kind = "SOFT"
    for name, value in settings.items():
        setattr(found.limber, name, value)
    return found


def add(kind, **options):
    getattr(bpy.ops.mesh, f"primitive_{kind}_add")(**options)
    return bpy.context.object


def floor(z=0.0):
    found = add("plane", size=4, location=(0, 0, z))
    found.limber.kind = "FLOOR"
    return found


def group(found, name, weights):
    made = found.vertex_groups.new(name=name)
    for vertex, weight in enumerate(weights):
        made.add([vertex], float(weight), "REPLACE")


def shown(found, frame):
    """World positions and polygons of an object, as Blender evaluates it."""
    bpy.context.scene.frame_set(frame)
    depsgraph = bpy.context.evaluated_depsgraph_get()
    mesh = found.evaluated_get(depsgraph).to_mesh()
    vertices = np.array([found.matrix_world @ vertex.co for vertex in mesh.vertices])
    faces = np.array([polygon.vertices[:3] for polygon in mesh.polygons])
    return vertices, faces, len(mesh.vertices)


def rest(found, frame=1):
    """The same, with triangles."""
    bpy.context.scene.frame_set(frame)
    mesh = found.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
    mesh.calc_loop_triangles()
    matrix = np.array(found.matrix_world, dtype=np.float64)
    vertices = np.array([vertex.co for vertex in mesh.vertices]) @ matrix[:3, :3].T + matrix[:3, 3]
    return vertices, np.array([triangle.vertices for triangle in mesh.loop_triangles])


class Direct:
    """The library by itself, in Blender's world space."""

    def __init__(self, substeps=4):
        self.world = limber.World(gravity=(0, 0, -9.81), substeps=substeps)

    def floor(self, z=0.0):
        self.world.add_collider("plane", rotation=limber.Pose.turned((1, 0, 0), 90).rotation, position=(0, 0, z))

    def lattice(self, found, **options):
        vertices, faces = rest(found)
        middle = vertices.mean(axis=0)
        settings = found.limber
        return self.world.add_lattice(
            (vertices - middle, faces),
            particles=settings.particles,
            width=settings.width,
            shell=settings.shell,
            material=material_of(settings),
            mass=settings.mass,
            position=middle,
            **{"mask": 1, **options},
        )


class Bakes(unittest.TestCase):
    def compare(self, found, frame, body, tolerance=1e-5):
        vertices = shown(found, frame)[0]
        expected = body.get_skin().astype(np.float64)
        size = np.ptp(expected, axis=0).max()
        self.assertEqual(len(vertices), len(expected))
        self.assertLess(np.abs(vertices - expected).max(), tolerance * max(size, 1.0), f"frame {frame}")

    def bake(self):
        self.assertEqual(bpy.ops.limber.bake(), {"FINISHED"})

    def test_monkey(self):
        fresh(20)
        floor()
        monkey = soft(add("monkey", size=1.0, location=(0.3, 0.2, 1.0), rotation=(0.4, 0.2, 0.1)), particles=400, width=3)
        monkey.modifiers.new("smooth", "SUBSURF").levels = 1
        bpy.context.view_layer.update()
        direct = Direct()
        body = direct.lattice(monkey)
        direct.floor()
        given = len(monkey.data.vertices)
        self.bake()
        self.assertEqual(monkey.modifiers[-1].name, cache.MODIFIER)
        self.assertEqual(bpy.context.scene.frame_current, 1)
        for frame in range(1, 21):
            if frame in (1, 2, 7, 13, 20):
                self.compare(monkey, frame, body)
            direct.world.step(1 / 24)
        moved = shown(monkey, 20)[0].mean(axis=0) - shown(monkey, 1)[0].mean(axis=0)
        self.assertLess(moved[2], -0.3)
        self.assertEqual(len(monkey.data.vertices), given, "the mesh itself is left alone")
        self.assertGreater(len(shown(monkey, 5)[0]), given, "modifiers are part of the rest shape")
        # Baked again it is the same; cleared it is as before.
        before = shown(monkey, 13)[0]
        self.bake()
        np.testing.assert_array_equal(shown(monkey, 13)[0], before)
        bpy.ops.limber.clear()
        self.assertIsNone(monkey.modifiers.get(cache.MODIFIER))
        np.testing.assert_allclose(shown(monkey, 13)[0], shown(monkey, 1)[0])

    def test_cloth_over_a_moving_ball(self):
        scene = fresh(24)
        cloth = soft(add("grid", x_subdivisions=16, y_subdivisions=16, size=1.0, location=(0, 0, 0.6)), shell=True, width=1, particles=400, touches=False, margin=0.01)
        corners = [vertex.index for vertex in cloth.data.vertices if abs(abs(vertex.co.x) - 0.5) < 1e-4 and vertex.co.y < -0.4]
        group(cloth, "pins", [1.0 if n in corners else 0.0 for n in range(len(cloth.data.vertices))])
        cloth.limber.pins = "pins"
        ball = add("uv_sphere", radius=0.2, location=(0, 0, 0.1))
        ball.limber.kind = "COLLIDER"
        ball.keyframe_insert("location", frame=1)
        ball.location = (0, 0, 0.5)
        ball.keyframe_insert("location", frame=24)
        direct = Direct()
        body = direct.lattice(cloth, mask=0, contact_radius=cloth.limber.margin)
        body_mover = direct.world.add_mover(tuple(cloth.location))
        held = np.flatnonzero(body.carry_values(1.0 * np.isin(np.arange(len(rest(cloth)[0])), corners)) > 0.5)
        self.assertGreater(len(held), 1)
        direct.world.add_pin(body, held, mover=body_mover)
        vertices, faces = rest(ball)
        mover = direct.world.add_mover((0, 0, 0.1))
        direct.world.add_collider("mesh", mesh=(vertices - [0, 0, 0.1], faces), solid=True, mover=mover)
        self.bake()
        for frame in range(1, 25):
            if frame > 1:
                scene.frame_set(frame)
                mover.move_to(tuple(ball.matrix_world.translation))
                body_mover.move_to(tuple(cloth.location))
                direct.world.step(1 / 24)
            if frame in (1, 4, 10, 17, 24):
                self.compare(cloth, frame, body, 1e-4)
        first, last = shown(cloth, 1)[0], shown(cloth, 24)[0]
        np.testing.assert_allclose(last[corners], first[corners], atol=0.05)
        free = np.flatnonzero(first[:, 1] > 0.4)
        self.assertLess(last[free, 2].mean(), 0.55, "the free edge hangs down")
        scene.frame_set(24)
        centre = np.array(ball.matrix_world.translation)
        inside = np.linalg.norm(last - centre, axis=1) < 0.17
        self.assertEqual(int(inside.sum()), 0, "the ball keeps the cloth out")

    def character(self):
        body = add("cylinder", radius=0.15, depth=1.2, vertices=24, location=(0, 0, 0.6))
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.mesh.subdivide(number_cuts=4)
        bpy.ops.object.mode_set(mode="OBJECT")
        bpy.ops.object.armature_add(location=(0, 0, 0))
        rig = bpy.context.object
        bpy.ops.object.mode_set(mode="EDIT")
        bones = rig.data.edit_bones
        bones[0].head, bones[0].tail = (0, 0, 0.05), (0, 0, 0.6)
        upper = bones.new("upper")
        upper.head, upper.tail, upper.parent = (0, 0, 0.6), (0, 0, 1.15), bones[0]
        bpy.ops.object.mode_set(mode="OBJECT")
        modifier = body.modifiers.new("rig", "ARMATURE")
        modifier.object = rig
        bone = rig.pose.bones["upper"]
        bone.rotation_mode = "XYZ"
        bone.keyframe_insert("rotation_euler", frame=1)
        bone.rotation_euler = (0.8, 0, 0)
        bone.keyframe_insert("rotation_euler", frame=12)
        return soft(body, use_armature=True, bone_radius=0.1, particles=500, width=2, preset="FLESH"), rig

    def test_character(self):
        scene = fresh(24)
        body, rig = self.character()
        direct = Direct()
        vertices, _ = rest(body)
        middle = vertices.mean(axis=0)
        flesh = direct.lattice(body)

        def poses(frame):
            scene.frame_set(frame)
            found = []
            for bone in rig.pose.bones:
                place, turn, _ = (rig.matrix_world @ bone.matrix).decompose()
                found.append((tuple(place), (turn.x, turn.y, turn.z, turn.w)))
            return found

        bones = [
            limber.Bone(np.array(place) - middle, turn, tail=(0, bone.length, 0), radius=0.1 * bone.length, fade=0.05 * bone.length)
            for bone, (place, turn) in zip(rig.pose.bones, poses(1))
        ]
        skeleton = direct.world.add_skeleton(flesh, bones, position=middle)
        self.assertGreater(skeleton.info.held, 5)
        self.bake()
        for frame in range(1, 25):
            if frame > 1:
                skeleton.move_to(poses(frame))
                direct.world.step(1 / 24)
            if frame in (1, 5, 9, 14, 24):
                self.compare(body, frame, flesh)
        last = shown(body, 24)[0]
        top = last[last[:, 2].argmax()]
        self.assertGreater(abs(top[1]), 0.15, "the upper bone has bent it")

    def test_colliders_deform(self):
        """A sheet that bulges by a shape key lifts a cube, as the library run directly does."""
        fresh(16)
        sheet = add("grid", x_subdivisions=8, y_subdivisions=8, size=3)
        sheet.limber.kind = "COLLIDER"
        sheet.shape_key_add(name="flat")
        bulge = sheet.shape_key_add(name="bulge")
        for point in bulge.data:
            point.co.z += 0.6 * max(0.0, 1.0 - (point.co.x**2 + point.co.y**2))
        bulge.value = 0.0
        bulge.keyframe_insert("value", frame=1)
        bulge.value = 1.0
        bulge.keyframe_insert("value", frame=12)
        cube = soft(add("cube", size=0.4, location=(0, 0, 0.25)), particles=200)
        bpy.context.view_layer.update()
        self.bake()
        self.assertGreater(shown(cube, 14)[0][:, 2].min(), 0.4)
        self.assertLess(shown(cube, 1)[0][:, 2].min(), 0.1)

    def test_presets_of_the_library(self):
        fresh(3)
        cube = soft(add("cube", size=0.4, location=(0, 0, 2)), particles=100)
        for key, name in properties.LIBRARY.items():
            cube.limber.preset = key
            made = material_of(cube.limber)
            self.assertEqual((made.young, made.poisson), (limber.Material.preset(name).young, limber.Material.preset(name).poisson))
        self.assertGreaterEqual(len(properties.LIBRARY), 5)
        self.bake()

    def test_cut(self):
        fresh(16)
        floor()
        cube = soft(add("cube", size=0.6, location=(0, 0, 0.5)), particles=500, width=2, touches=True)
        cube.modifiers.new("fine", "SUBSURF").levels = 2
        blade = add("plane", size=3, location=(0.02, 0, 0.5), rotation=(0, np.pi / 2, 0))
        blade.limber.kind, blade.limber.cut_frame = "BLADE", 6
        bpy.context.view_layer.update()
        direct = Direct()
        body = direct.lattice(cube)
        direct.floor()
        knife = rest(blade)
        given = cube.data.name
        whole = len(rest(cube)[0])
        self.bake()
        for frame in range(1, 17):
            if frame > 1:
                if frame == 6:
                    self.assertEqual(body.cut(knife).parts, 2)
                direct.world.step(1 / 24)
            if frame in (1, 5, 6, 10, 16):
                self.compare(cube, frame, body)
                self.assertEqual(shown(cube, frame)[2] > whole, frame >= 6)
                np.testing.assert_array_equal(shown(cube, frame)[1], body.skin_faces)
        # Texture coordinates: the picture is where it was, so that outer triangles cover as much of it as before, and nothing outside.
        def textured(frame):
            bpy.context.scene.frame_set(frame)
            mesh = cube.data
            uvs = np.empty((len(mesh.loops), 2), dtype=np.float32)
            mesh.uv_layers.active.data.foreach_get("uv", uvs.reshape(-1))
            corners = uvs.reshape(-1, 3, 2)
            corners = corners[np.abs(corners).max(axis=(1, 2)) > 0]  # inner faces have 0
            sides = corners[:, 1:] - corners[:, :1]
            return corners.min(axis=(0, 1)), corners.max(axis=(0, 1)), 0.5 * np.abs(np.linalg.det(sides)).sum()

        for before, after in zip(textured(5), textured(16)):
            np.testing.assert_allclose(after, before, atol=0.01)
        # The file holds it all: saved and opened again it shows the same.
        before = shown(cube, 12)[0]
        path = os.path.join(FOLDER, "cut.blend")
        bpy.ops.wm.save_as_mainfile(filepath=path)
        bpy.ops.wm.open_mainfile(filepath=path)
        cube = next(found for found in bpy.data.objects if found.limber.kind == "SOFT")
        np.testing.assert_allclose(shown(cube, 12)[0], before, atol=1e-6)
        bpy.ops.limber.clear()
        self.assertEqual(cube.data.name, given)
        self.assertEqual([mesh.name for mesh in bpy.data.meshes if ".limber." in mesh.name], [])

    def test_looks_after_a_cut(self):
        """A flat cube with three materials, one of them smooth, and colours, cut where nothing falls: every outer triangle has what its side of
        the cube had; inner faces are flat and have the first material."""
        scene = fresh(5)
        scene.use_gravity = False
        cube = soft(add("cube", size=0.6), particles=300, width=2)
        cube.name = "\u0436" * 30  # 60 bytes: longer than the names of its meshes may be
        for n in range(3):
            cube.data.materials.append(bpy.data.materials.new(f"side{n}"))
        layer = cube.data.color_attributes.new(name="paint", type="FLOAT_COLOR", domain="CORNER")
        sides = {}
        for polygon in cube.data.polygons:
            axis = int(np.argmax(np.abs(polygon.normal)))
            polygon.material_index, polygon.use_smooth = axis, axis == 2
            colour = (0.25 * axis, 0.5, 1.0 if polygon.normal[axis] > 0 else 0.125, 1.0)
            sides[axis, polygon.normal[axis] > 0] = colour
            for loop in polygon.loop_indices:
                layer.data[loop].color = colour
        blade = add("plane", size=3, location=(0.05, 0.0, 0.0), rotation=(0, np.pi / 2, 0))
        blade.limber.kind, blade.limber.cut_frame = "BLADE", 3
        bpy.context.view_layer.update()
        self.bake()
        cube.name = "renamed"
        for frame, is_cut in ((2, False), (4, True)):
            vertices, faces, _ = shown(cube, frame)
            mesh, inner = cube.data, 0
            paint = np.empty((len(mesh.loops), 4), dtype=np.float32)
            mesh.color_attributes["paint"].data.foreach_get("color", paint.reshape(-1))
            for polygon in mesh.polygons:
                middle = vertices[list(polygon.vertices)].mean(axis=0)
                axis = int(np.argmax(np.abs(polygon.normal)))
                if abs(middle[axis]) < 0.29:  # within the cube
                    inner += 1
                    self.assertEqual((polygon.material_index, polygon.use_smooth), (0, False))
                    continue
                self.assertEqual((polygon.material_index, polygon.use_smooth), (axis, axis == 2))
                for loop in polygon.loop_indices:
                    np.testing.assert_allclose(paint[loop], sides[axis, middle[axis] > 0], atol=1e-5)
            self.assertEqual(inner > 0, is_cut)
            self.assertEqual([material.name for material in mesh.materials], ["side0", "side1", "side2"])
        bpy.ops.limber.clear()
        self.assertEqual([mesh.name for mesh in bpy.data.meshes if ".limber." in mesh.name], [])

    def test_a_full_disk_changes_nothing(self):
        """Two bodies; of the second no cache can be written: both keep the results from before, to the last byte."""
        scene = fresh(10)
        cubes = [soft(add("cube", location=(3 * n, 0, 2)), particles=100) for n in range(2)]
        cubes[1].name = "Cube_001"
        cubes[0].name = "Cube.001"  # a file name knows no dots
        bpy.context.view_layer.update()
        self.bake()
        names = sorted(os.listdir(scene.limber.folder))
        self.assertEqual(names, ["Cube_001.2.pc2", "Cube_001.pc2"])

        def state():
            held = [Path(scene.limber.folder, name).read_bytes() for name in sorted(os.listdir(scene.limber.folder))]
            return held, [shown(cube, 7)[0].tolist() for cube in cubes], [[m.name for m in cube.modifiers] for cube in cubes]

        before = state()
        self.assertNotEqual(before[1][0], before[1][1])
        scene.gravity = (0, 0, 5)
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before[0][0]) - 1, limits[1]))
        try:
            self.refused("too large")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        self.assertEqual(state(), before)
        cubes[1].modifiers.new("fine", "SUBSURF").levels = 3  # the second file is the larger one
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before[0][0]), limits[1]))
        try:
            self.refused("too large")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        cubes[1].modifiers.remove(cubes[1].modifiers["fine"])
        self.assertEqual(state(), before)
        self.bake()
        self.assertNotEqual(state()[0], before[0])

    def test_break(self):
        fresh(20)
        floor()
        bar = soft(add("cube", size=1, location=(0, 0, 1.5), scale=(1.2, 0.2, 0.2)), particles=500, width=1, breaks=True, limit=0.05)
        bar.limber.hertz = 20
        block = add("cube", size=0.2, location=(0, 0, 0.6))
        block.limber.kind = "COLLIDER"
        bpy.context.view_layer.update()
        self.bake()
        self.assertGreater(shown(bar, 20)[2], shown(bar, 1)[2])

    def test_two_bodies_and_every_sampling(self):
        fresh(12)
        floor()
        found = [
            soft(add("cube", size=0.4, location=(x, 0, 0.5)), sampling=sampling, particles=300, width=2)
            for x, sampling in ((-1, "LATTICE"), (0, "OCTREE"), (1, "TETS"))
        ]
        group(found[1], "fine", [1.0 if n < 4 else 0.0 for n in range(8)])
        found[1].limber.detail = "fine"
        group(found[0], "soft", [0.5] * 8)
        found[0].limber.stiffness = "soft"
        self.bake()
        for thing in found:
            self.assertLess(shown(thing, 12)[0][:, 2].min(), 0.05)
            self.assertGreater(shown(thing, 12)[0][:, 2].min(), -0.1)  # corners of a coarse one sag a little

    def test_cancelled(self):
        """What Esc does, after some frames: nothing is changed. (There is no window here to press it in.)"""
        from limber_blender.bake import Baking

        fresh(20)
        cube = soft(add("cube"), particles=100)
        before = [modifier.name for modifier in cube.modifiers]
        baking = Baking(bpy.context)
        for _ in range(5):
            baking.step()
        self.assertEqual(bpy.context.scene.frame_current, 6)
        baking.close()
        self.assertEqual(bpy.context.scene.frame_current, 1)
        self.assertEqual(([modifier.name for modifier in cube.modifiers], cube.limber.baked), (before, False))
        self.assertEqual(os.listdir(bpy.context.scene.limber.folder), [])
        # A result from before is kept, of either kind.
        for frame in (99, 3):
            blade = add("plane", size=5, rotation=(0, np.pi / 2, 0))
            blade.limber.kind, blade.limber.cut_frame = "BLADE", frame
            bpy.context.view_layer.update()
            self.bake()
            before = shown(cube, 12)[0]
            baking = Baking(bpy.context)
            baking.step()
            baking.close()
            np.testing.assert_array_equal(shown(cube, 12)[0], before)
            self.assertEqual(len(before) > 8, frame == 3)

    def test_undo(self):
        fresh(10)
        soft(add("cube", location=(0, 0, 2)), particles=100)
        bpy.context.view_layer.update()
        bpy.ops.ed.undo_push(message="before")
        self.bake()
        bpy.ops.ed.undo_push(message="baked")
        moved = shown(bpy.context.scene.objects["Cube"], 10)[0]
        bpy.ops.ed.undo()
        cube = bpy.context.scene.objects["Cube"]
        self.assertIsNone(cube.modifiers.get(cache.MODIFIER))
        bpy.ops.ed.redo()
        cube = bpy.context.scene.objects["Cube"]
        np.testing.assert_allclose(shown(cube, 10)[0], moved, atol=1e-6)
        self.bake()
        np.testing.assert_allclose(shown(bpy.context.scene.objects["Cube"], 10)[0], moved, atol=1e-6)

    def refused(self, words):
        before = bpy.context.scene.frame_current
        with self.assertRaises(RuntimeError) as caught:
            bpy.ops.limber.bake()
        self.assertIn(words, str(caught.exception))
        self.assertEqual(bpy.context.scene.frame_current, before)

    def test_errors_are_one_line(self):
        fresh()
        self.refused("there is no soft body")
        cube = soft(add("cube"))
        cube.limber.pins = "nothing"
        self.refused("there is no vertex group nothing")
        cube.limber.pins = ""
        cube.limber.use_armature = True
        self.refused("it has no armature")
        cube.limber.use_armature = False
        cube.data.clear_geometry()
        self.refused("it has no faces")
        self.assertFalse(cube.limber.baked)
        cube = soft(add("cube"))
        bpy.data.objects.remove(bpy.data.objects[0])
        bpy.context.scene.limber.folder = "/proc/nowhere"
        self.refused("/proc/nowhere")
        self.assertEqual([m.name for m in bpy.context.scene.objects[0].modifiers], [])


if __name__ == "__main__":
    done = unittest.main(argv=["inside.py", "-v", *sys.argv[sys.argv.index("--") + 3 :]], exit=False)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0 if done.result.wasSuccessful() and done.result.testsRun > 0 else 1)
