"""Results on the objects: a point cache with a Mesh Cache modifier, or, where topology changes, a mesh for each frame.

Meshes of frames are data of the file, named OBJECT.limber.0042, and are put on the object when the frame changes. Nothing here is kept in
Python: what a file holds is all that is needed, so undo and reloading change nothing.
"""

import os
import struct

import bpy
import numpy as np
from bpy.app.handlers import persistent

MODIFIER = "Limber cache"
GIVEN = ".limber.given"  # the mesh that the object had


def frame_name(name, frame):
    return f"{name[:40]}.limber.{frame:06d}"


def folder_of(scene):
    path = bpy.path.abspath(scene.limber.folder)
    if path.startswith("//") or not os.path.isabs(path):
        path = os.path.join(bpy.app.tempdir, "limber_cache")  # the file was never saved
    return path


def write_pc2(path, frames, first):
    """Whole or not at all."""
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        with open(temporary, "wb") as file:
            file.write(struct.pack("<12siiffi", b"POINTCACHE2\0", 1, frames.shape[1], float(first), 1.0, frames.shape[0]))
            file.write(np.ascontiguousarray(frames, dtype="<f4").tobytes())
        os.replace(temporary, path)
    finally:
        if os.path.exists(temporary):
            os.remove(temporary)


def put_points(scene, found, frames):
    """frames: (frame, vertex, 3), in the space of the object."""
    folder = folder_of(scene)
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, bpy.path.clean_name(found.name) + ".pc2")
    write_pc2(path, frames, scene.frame_start)
    modifier = found.modifiers.get(MODIFIER) or found.modifiers.new(MODIFIER, "MESH_CACHE")
    modifier.cache_format = "PC2"
    modifier.filepath = path
    modifier.frame_start = scene.frame_start
    modifier.interpolation = "NONE"
    modifier.forward_axis, modifier.up_axis = "POS_Y", "POS_Z"
    modifier.show_viewport = modifier.show_render = True
    found.limber.baked = True


def put_uvs(mesh, layers):
    """Texture coordinates of the corners of all triangles, by layer."""
    while mesh.uv_layers:
        mesh.uv_layers.remove(mesh.uv_layers[0])
    for name, uvs in layers.items():
        layer = mesh.uv_layers.new(name=name, do_init=False)
        if layer is not None and len(layer.data) == uvs.shape[0] * 3:
            layer.data.foreach_set("uv", np.ascontiguousarray(uvs, dtype=np.float32).reshape(-1))


def put_meshes(scene, found, frames, given, given_uvs):
    """frames: for each the vertices, triangles and texture coordinates of their corners by layer (None: `given` and `given_uvs`)."""
    found["limber_given"] = found.data.name
    found.data.use_fake_user = True
    materials = list(found.data.materials)
    for n, (vertices, faces, uvs) in enumerate(frames):
        name = frame_name(found.name, scene.frame_start + n)
        mesh = bpy.data.meshes.get(name)
        if mesh is None:
            mesh = bpy.data.meshes.new(name)
        mesh.clear_geometry()
        mesh.from_pydata(vertices.tolist(), [], (given if faces is None else faces).tolist())
        mesh.polygons.foreach_set("use_smooth", [True] * len(mesh.polygons))
        put_uvs(mesh, given_uvs if uvs is None else uvs)
        mesh.materials.clear()
        for material in materials:
            mesh.materials.append(material)
        mesh.use_fake_user = True
    for modifier in found.modifiers:
        found[f"limber_shown_{modifier.name}"] = modifier.show_viewport
        modifier.show_viewport = modifier.show_render = False  # they are in the meshes already
    found.limber.baked = True


def suspend(found):
    """Shows the object as it is without its result, which stays."""
    modifier = found.modifiers.get(MODIFIER)
    if modifier is not None:
        modifier.show_viewport = False
    given = found.get("limber_given")
    if given is not None and given in bpy.data.meshes:
        found.data = bpy.data.meshes[given]
        for modifier in found.modifiers:
            modifier.show_viewport = bool(found.get(f"limber_shown_{modifier.name}", True))
    found.limber.baked = False


def resume(found):
    """Shows the result again."""
    modifier = found.modifiers.get(MODIFIER)
    if modifier is not None:
        modifier.show_viewport = True
    if "limber_given" in found:
        for modifier in found.modifiers:
            modifier.show_viewport = False
    found.limber.baked = True


def clear(found):
    modifier = found.modifiers.get(MODIFIER)
    if modifier is not None:
        found.modifiers.remove(modifier)
    given = found.get("limber_given")
    if given is not None and given in bpy.data.meshes:
        found.data = bpy.data.meshes[given]
        del found["limber_given"]
        for modifier in found.modifiers:
            shown = found.get(f"limber_shown_{modifier.name}", True)
            modifier.show_viewport = modifier.show_render = bool(shown)
    for mesh in [m for m in bpy.data.meshes if m.name.startswith(f"{found.name[:40]}.limber.")]:
        bpy.data.meshes.remove(mesh)
    found.limber.baked = False


@persistent
def show_frame(scene, _depsgraph=None):
    for found in scene.objects:
        if found.type == "MESH" and "limber_given" in found and found.limber.baked:
            frame = min(max(scene.frame_current, scene.frame_start), scene.frame_end)
            mesh = bpy.data.meshes.get(frame_name(found.name, frame))
            if mesh is not None and found.data is not mesh:
                found.data = mesh


def register():
    if show_frame not in bpy.app.handlers.frame_change_pre:
        bpy.app.handlers.frame_change_pre.append(show_frame)


def unregister():
    if show_frame in bpy.app.handlers.frame_change_pre:
        bpy.app.handlers.frame_change_pre.remove(show_frame)
