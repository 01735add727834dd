"""Results on the objects: a point cache with a Mesh Cache modifier, or, where topology changes, a mesh for each frame.

Meshes of frames are data of the file, named OBJECT.limber.0042, and are put on the object when the frame changes. Nothing here is kept in
Python: what a file holds is all that is needed, so undo and reloading change nothing.
"""

import os
import struct
import zlib

import bpy
import numpy as np
from bpy.app.handlers import persistent

MODIFIER = "Limber cache"
GIVEN = ".limber.given"  # the mesh that the object had


def prefix_of(found):
    """What the names of its meshes begin with: a name has room for 63 bytes. It stays when the object is renamed."""
    name = found.name
    if len(name.encode()) > 40:
        name = f"{name.encode()[:31].decode(errors='ignore')}.{zlib.crc32(name.encode()):08x}"
    return f"{name}.limber."


def frame_name(prefix, frame):
    return f"{prefix}{frame:06d}"


def folder_of(scene):
    path = bpy.path.abspath(scene.limber.folder)
    if path.startswith("//") or not os.path.isabs(path):
        path = os.path.join(bpy.app.tempdir, "limber_cache")  # the file was never saved
    return path


class Files:
    """Point caches of a bake: all of them are written under other names first, and take their places when all are complete."""

    def __init__(self, scene):
        self.folder = folder_of(scene)
        self.first = scene.frame_start
        self.written = {}  # path: temporary

    def add(self, name, frames):
        """frames: (frame, vertex, 3). The path that the file will have; no other object of this bake has the same."""
        os.makedirs(self.folder, exist_ok=True)
        stem, path, number = bpy.path.clean_name(name), None, 1
        while path is None or path in self.written:
            path = os.path.join(self.folder, stem + ("" if number == 1 else f".{number}") + ".pc2")
            number += 1
        if os.path.isdir(path):
            raise IsADirectoryError(f"{path} is a folder")
        self.written[path] = f"{path}.{os.getpid()}.tmp"
        with open(self.written[path], "wb") as file:
            file.write(struct.pack("<12siiffi", b"POINTCACHE2\0", 1, frames.shape[1], float(self.first), 1.0, frames.shape[0]))
            file.write(np.ascontiguousarray(frames, dtype="<f4").tobytes())
        return path

    def keep(self):
        for path, temporary in self.written.items():
            os.replace(temporary, path)
        self.written = {}

    def drop(self):
        for temporary in self.written.values():
            if os.path.exists(temporary):
                os.remove(temporary)
        self.written = {}


def put_points(scene, found, path):
    """The point cache, on the object."""
    modifier = found.modifiers.get(MODIFIER) or found.modifiers.new(MODIFIER, "MESH_CACHE")
    modifier.cache_format = "PC2"
    modifier.filepath = path
    modifier.frame_start = scene.frame_start
    modifier.interpolation = "NONE"
    modifier.forward_axis, modifier.up_axis = "POS_Y", "POS_Z"
    modifier.show_viewport = modifier.show_render = True
    found.limber.baked = True


def put_looks(mesh, looks):
    """Materials, smoothness, texture coordinates and colours of a mesh that was just made of triangles."""
    mesh.polygons.foreach_set("use_smooth", looks.smooth)
    mesh.polygons.foreach_set("material_index", looks.materials)
    for name, uvs in looks.uvs.items():
        layer = mesh.uv_layers.new(name=name, do_init=False)
        if layer is not None and len(layer.data) == uvs.shape[0] * 3:
            layer.data.foreach_set("uv", np.ascontiguousarray(uvs, dtype=np.float32).reshape(-1))
    for name, colours in looks.colours.items():
        layer = mesh.color_attributes.new(name=name, type="FLOAT_COLOR", domain="CORNER")
        layer.data.foreach_set("color", np.ascontiguousarray(colours, dtype=np.float32).reshape(-1))


def put_meshes(scene, found, frames, given, given_looks):
    """frames: for each the vertices, the triangles and what they look like (None: `given` and `given_looks`)."""
    found["limber_given"] = found.data.name
    found["limber_frames"] = prefix = prefix_of(found)
    found.data.use_fake_user = True
    materials = list(found.data.materials)
    for n, (vertices, faces, looks) in enumerate(frames):
        name = frame_name(prefix, scene.frame_start + n)
        old = bpy.data.meshes.get(name)
        if old is not None:
            bpy.data.meshes.remove(old)
        mesh = bpy.data.meshes.new(name)
        mesh.from_pydata(vertices.tolist(), [], (given if faces is None else faces).tolist())
        if hasattr(mesh, "use_auto_smooth"):  # since Blender 4.1 that is a modifier
            mesh.use_auto_smooth, mesh.auto_smooth_angle = found.data.use_auto_smooth, found.data.auto_smooth_angle
        for material in materials:
            mesh.materials.append(material)
        put_looks(mesh, given_looks if looks is None else looks)
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
    prefix = found.get("limber_frames")
    if prefix is not None:
        del found["limber_frames"]
        # A copy of the object shows the same meshes.
        if not any(other.get("limber_frames") == prefix for other in bpy.data.objects):
            for mesh in [mesh for mesh in bpy.data.meshes if mesh.name.startswith(prefix)]:
                bpy.data.meshes.remove(mesh)
    found.limber.baked = False


@persistent
def show_frame(scene, _depsgraph=None):
    for found in scene.objects:
        if found.type == "MESH" and "limber_given" in found and found.limber.baked:
            frame = min(max(scene.frame_current, scene.frame_start), scene.frame_end)
            mesh = bpy.data.meshes.get(frame_name(found["limber_frames"], frame))
            if mesh is not None and found.data is not mesh:
                found.data = mesh


def register():
    if show_frame not in bpy.app.handlers.frame_change_pre:
        bpy.app.handlers.frame_change_pre.append(show_frame)


def unregister():
    if show_frame in bpy.app.handlers.frame_change_pre:
        bpy.app.handlers.frame_change_pre.remove(show_frame)
