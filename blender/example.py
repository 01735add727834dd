"""A monkey, a ball that is cut, and a cloth over a ball, without a window:

    blender -b --factory-startup --python blender/example.py -- build/blender/limber-blender.zip FOLDER

writes FOLDER/example.blend and two pictures, FOLDER/first.png and last.png.
"""

import math
import os
import sys

import bpy

addon, folder = (os.path.abspath(path) for path in sys.argv[sys.argv.index("--") + 1 :][:2])
bpy.ops.preferences.addon_install(filepath=addon)
bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
bpy.ops.preferences.addon_enable(module="limber_blender")
scene = bpy.context.scene
scene.frame_start, scene.frame_end = 1, 40
scene.limber.folder = folder


def add(kind, colour, limber=(), **options):
    """A mesh with a colour and settings of the add-on."""
    getattr(bpy.ops.mesh, f"primitive_{kind}_add")(**options)
    found = bpy.context.object
    material = bpy.data.materials.new(kind)
    material.use_nodes = True
    material.node_tree.nodes["Principled BSDF"].inputs[0].default_value = (*colour, 1)
    found.data.materials.append(material)
    for name, value in dict(limber).items():
        setattr(found.limber, name, value)
    return found


add("plane", (0.5, 0.5, 0.52), dict(kind="FLOOR"), size=20)
monkey = add(
    "monkey",
    (0.8, 0.25, 0.1),
    dict(kind="SOFT", particles=1500, width=3, hertz=9),
    size=1,
    location=(-1.1, 0, 1.2),
    rotation=(0.3, 0.2, 0.2),
)
monkey.modifiers.new("smooth", "SUBSURF").levels = 2
bpy.ops.object.shade_smooth()
drop = add("cube", (0.1, 0.35, 0.8), dict(kind="SOFT", sampling="OCTREE", particles=800, hertz=20), size=0.8, location=(0.5, 0, 0.8))
drop.modifiers.new("smooth", "SUBSURF").levels = 4
bpy.ops.object.shade_smooth()
blade = add("plane", (1, 1, 1), dict(kind="BLADE", cut_frame=8), size=3, location=(0.52, 0, 0.5), rotation=(0, math.pi / 2 - 0.4, 0))
blade.hide_render = True
cloth = dict(kind="SOFT", shell=True, width=1, particles=1500, touches=False, margin=0.025)
add("grid", (0.2, 0.6, 0.25), cloth, x_subdivisions=40, y_subdivisions=40, size=1.2, location=(1.9, 0, 1.0))
add("uv_sphere", (0.9, 0.9, 0.9), dict(kind="COLLIDER"), radius=0.35, location=(1.9, 0, 0.5))

bpy.context.view_layer.update()
bpy.ops.limber.bake()

bpy.ops.object.camera_add(location=(0.6, -6.5, 2.6), rotation=(1.25, 0, 0.03))
scene.camera = bpy.context.object
bpy.ops.object.light_add(type="SUN", rotation=(0.6, 0.3, 0.2))
bpy.context.object.data.energy = 4
scene.world = bpy.data.worlds.new("sky")
scene.world.use_nodes = True
scene.world.node_tree.nodes["Background"].inputs[0].default_value = (0.6, 0.65, 0.7, 1)
scene.render.engine = "CYCLES"
scene.cycles.samples = 32
scene.cycles.use_denoising = False
scene.render.resolution_x, scene.render.resolution_y = 560, 260
bpy.ops.wm.save_as_mainfile(filepath=os.path.join(folder, "example.blend"))
for name, frame in (("first", 1), ("last", 40)):
    scene.frame_set(frame)
    scene.render.filepath = os.path.join(folder, name + ".png")
    bpy.ops.render.render(write_still=True)
