"""blender -b -P blender_read.py -- glb|pc2|mdd FILE RATE FRAME...: meshes as Blender shows them in these frames, with Y up again.

With PICTURE set in the environment the last of the frames is drawn into that file too.
"""
import json
import os
import sys

import bpy
import numpy
from mathutils import Vector

kind, path, rate, *frames = sys.argv[sys.argv.index("--") + 1:]
bpy.ops.object.select_all(action="SELECT")
bpy.ops.object.delete()
bpy.context.scene.render.fps = int(rate)
if kind == "glb":
    numpy.bool = bool  # Debian 12: the importer of Blender 3.4 wants a name that numpy 1.24 no longer has
    bpy.ops.import_scene.gltf(filepath=path, merge_vertices=False)
else:
    bpy.ops.wm.obj_import(filepath=os.path.splitext(path)[0] + ".obj")
    shape = bpy.context.selected_objects[0]
    cache = shape.modifiers.new("cache", "MESH_CACHE")
    cache.cache_format = kind.upper()
    cache.filepath = path
    cache.frame_start = 0


def read(meshes):
    graph = bpy.context.evaluated_depsgraph_get()
    found = []
    for item in meshes:
        shown = item.evaluated_get(graph)
        mesh = shown.to_mesh()
        mesh.calc_loop_triangles()
        # The importers have turned Y to Z: by the object's matrix, or in the data.
        points = [shown.matrix_world @ v.co for v in mesh.vertices]
        found.append({"name": item.name, "points": [c for p in points for c in (p.x, p.z, -p.y)],
                      "triangles": [v for t in mesh.loop_triangles for v in t.vertices]})
        shown.to_mesh_clear()
    return found


# In the order of the file.
meshes = [item for item in bpy.context.scene.objects if item.type == "MESH"]
result = []
for frame in frames:
    bpy.context.scene.frame_set(int(frame))
    result.append(read(meshes))
print("READ " + json.dumps(result))

if "PICTURE" in os.environ:
    points = [p for item in meshes for p in (item.matrix_world @ Vector(c) for c in item.bound_box)]
    numbers = [c for m in result[-1] for c in m["points"]]
    low = [min(numbers[k::3]) for k in range(3)]
    high = [max(numbers[k::3]) for k in range(3)]
    middle = Vector(((low[0] + high[0]) / 2, -(low[2] + high[2]) / 2, (low[1] + high[1]) / 2))
    reach = max(h - l for h, l in zip(high, low))
    camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    camera.location = middle + Vector((0.5, -1.9, 0.6)) * reach
    camera.rotation_euler = (middle - camera.location).to_track_quat("-Z", "Y").to_euler()
    sun = bpy.data.objects.new("sun", bpy.data.lights.new("sun", "SUN"))
    sun.data.energy = 4
    sun.rotation_euler = (0.6, 0.3, 0.4)
    scene = bpy.context.scene
    scene.collection.objects.link(camera)
    scene.collection.objects.link(sun)
    scene.camera = camera
    scene.render.engine = "CYCLES"
    scene.cycles.samples = 16
    scene.cycles.use_denoising = False
    scene.render.resolution_x, scene.render.resolution_y = 640, 400
    scene.render.filepath = os.environ["PICTURE"]
    bpy.ops.render.render(write_still=True)
