"""Meshes: from arrays, from objects of other packages, from files, and procedural models."""

from __future__ import annotations

import dataclasses
import os
from typing import Any, Union

import numpy as np

from ._core import (
    Array,
    ArgumentError,
    FormatError,
    Floats,
    Indices,
    Vector,
    check,
    count,
    ffi,
    floats,
    indices,
    lib,
    number,
    pointer,
    text,
    vector,
)


@dataclasses.dataclass
class ShapeBone:
    """A bone of a procedural model; the group of the same name says which vertices it carries."""

    name: str
    parent: int  #: index of an earlier bone, -1: none
    head: Array
    tail: Array


def _copy(start: Any, length: int, columns: int, dtype: Any) -> Array:
    if start == ffi.NULL or length == 0:
        return np.empty((0, columns) if columns > 1 else 0, dtype=dtype)
    size = length * columns * np.dtype(dtype).itemsize
    array = np.frombuffer(ffi.buffer(start, size), dtype=dtype).copy()
    return array.reshape(length, columns) if columns > 1 else array


class Mesh:
    """Triangles: ``vertices`` (n, 3) float32 in metres and ``faces`` (m, 3) uint32, counter-clockwise seen from outside.

    ``colours`` (n, 3) uint8 and ``normals`` (n, 3) are there where they were given or the file has them. ``groups`` and
    ``bones`` belong to procedural models.
    """

    def __init__(self, vertices: Any, faces: Any, *, colours: Any = None, normals: Any = None) -> None:
        self.vertices: Floats = floats(vertices, 3, "vertices")
        self.faces: Indices = indices(faces, 3, "faces")
        if len(self.faces) and int(self.faces.max()) >= len(self.vertices):
            raise ArgumentError(f"faces: has index {int(self.faces.max())} (there are {len(self.vertices)} vertices)")
        self.colours: Array | None = None
        if colours is not None:
            self.colours = np.ascontiguousarray(colours, dtype=np.uint8)
            if self.colours.shape != self.vertices.shape:
                raise ArgumentError(f"colours: has the shape {self.colours.shape} (expected {self.vertices.shape})")
        self.normals: Floats | None = None if normals is None else floats(normals, 3, "normals")
        if self.normals is not None and len(self.normals) != len(self.vertices):
            raise ArgumentError("normals: expected one for each vertex")
        self.groups: dict[str, Floats] = {}
        self.bones: list[ShapeBone] = []
        self.format = ""

    def __repr__(self) -> str:
        return f"<limber.Mesh: {len(self.vertices)} vertices, {len(self.faces)} faces>"

    @classmethod
    def of(cls, source: MeshLike) -> Mesh:
        """A mesh from any of: a Mesh; a path; a pair (vertices, faces); an object that has ``vertices`` and ``faces`` (trimesh)."""
        if isinstance(source, Mesh):
            return source
        if isinstance(source, (str, os.PathLike)):
            return cls.read(source)
        if hasattr(source, "vertices") and hasattr(source, "faces"):
            like: Any = source
            return cls(like.vertices, like.faces)
        if isinstance(source, (tuple, list)) and len(source) == 2:
            return cls(source[0], source[1])
        raise ArgumentError(
            f"mesh: is {type(source).__name__} (expected a limber.Mesh, a path, (vertices, faces), or an object that has both)"
        )

    @classmethod
    def read(
        cls, path: str | os.PathLike[str], *, weld: float = 0.0, z_up: bool = False, target: str | None = None
    ) -> Mesh:
        """Reads OBJ, PLY, STL, glTF, GLB, or the surface of a tetrahedral mesh. ``weld``: vertices nearer than this are joined
        (metres; negative: none). ``z_up``: turned so that Y points up. ``target``: a morph target of a glTF file."""
        options = ffi.new("lm_mesh_options *", {"weld": number(weld, "weld"), "z_up": bool(z_up)})
        name = ffi.new("char[]", target.encode()) if target is not None else ffi.NULL
        options.target = name
        data, error = ffi.new("lm_mesh_data *"), ffi.new("lm_mesh_error *")
        if not lib.lm_mesh_read(os.fsencode(path), options, data, error):
            raise FormatError(text(error.text))
        try:
            mesh = cls(
                _copy(data.positions, data.vertex_count, 3, np.float32),
                _copy(data.triangles, data.triangle_count, 3, np.uint32),
                colours=_copy(data.colours, data.vertex_count, 3, np.uint8) if data.colours != ffi.NULL else None,
                normals=_copy(data.normals, data.vertex_count, 3, np.float32) if data.normals != ffi.NULL else None,
            )
            mesh.format = text(data.format)
            return mesh
        finally:
            lib.lm_mesh_free(data)

    @classmethod
    def shape(cls, name: str, *, size: float | Vector | None = None, detail: int = 16) -> Mesh:
        """A procedural model (``limber.shapes()`` lists them). ``size``: extents in metres, or the longest one as a single number;
        ``detail``: edges are about 1/detail of the longest extent."""
        mesh = ffi.new("lm_shape_mesh *")
        keep: list[Any] = []
        check(lib.lm_shape_make_mesh(_shape_def(name, size, detail, keep), mesh), f"shape {name!r}, size {size}")
        try:
            made = cls(
                _copy(mesh.vertices, mesh.vertex_count, 3, np.float32),
                _copy(mesh.triangles, mesh.triangle_count, 3, np.uint32),
                colours=_copy(mesh.colours, mesh.vertex_count, 3, np.uint8),
            )
            for n in range(mesh.group_count):
                group = mesh.groups[n]
                made.groups[text(group.name)] = _copy(group.weights, mesh.vertex_count, 1, np.float32)
            for n in range(mesh.bone_count):
                bone = mesh.bones[n]
                ends = [np.array([end.x, end.y, end.z]) for end in (bone.head, bone.tail)]
                parent = -1 if bone.parent == lib.LM_SHAPE_NO_BONE else bone.parent
                made.bones.append(ShapeBone(text(bone.name), parent, *ends))
            return made
        finally:
            lib.lm_shape_mesh_free(mesh)

    def write(self, path: str | os.PathLike[str], name: str = "mesh") -> None:
        """Writes an OBJ file, whole or not at all."""
        keep = [ffi.new("char[]", name.encode())]
        found = ffi.new("lm_mesh_object *", {"name": keep[0]})
        found.vertex_count, found.triangle_count = len(self.vertices), len(self.faces)
        found.positions = pointer("lm_vec3", self.vertices)
        found.triangles = pointer("uint32_t", self.faces)
        if self.colours is not None:
            found.colours = pointer("uint8_t", self.colours)
        if self.normals is not None:
            found.normals = pointer("lm_vec3", self.normals)
        error = ffi.new("lm_mesh_error *")
        if not lib.lm_mesh_write_obj(os.fsencode(path), found, 1, error):
            raise FormatError(text(error.text))


MeshLike = Union[Mesh, str, "os.PathLike[str]", "tuple[Any, Any]", Any]


def _shape_def(name: str, size: float | Vector | None, detail: int, keep: list[Any]) -> Any:
    known = shapes()
    if name not in known:
        raise ArgumentError(f"shape {name!r}: there is none (there are {', '.join(known)})")
    c_name = ffi.new("char[]", name.encode())
    keep.append(c_name)
    definition = ffi.new("lm_shape_def *", lib.lm_shape_def_default())
    natural = lib.lm_shape_natural_size(c_name)
    if size is None or np.ndim(size) == 0:
        longest = 1.0 if size is None else number(size, "size")
        definition.size = (natural.x * longest, natural.y * longest, natural.z * longest)
    else:
        definition.size = vector(size, "size")  # type: ignore[arg-type]
    definition.name = c_name
    definition.detail = count(detail, "detail")
    return definition


def shapes() -> dict[str, str]:
    """Names of the procedural models, with a line about each."""
    found, n = {}, 0
    while lib.lm_shape_name(n) != ffi.NULL:
        found[text(lib.lm_shape_name(n))] = text(lib.lm_shape_description(lib.lm_shape_name(n)))
        n += 1
    return found


def shape_points(
    name: str, *, points: int = 0, size: float | Vector | None = None, detail: int = 4
) -> tuple[Floats, Mesh]:
    """Points that fill a procedural model (its vertices first), and its mesh. ``points``: how many; 0: as dense inside as outside."""
    keep: list[Any] = []
    definition = _shape_def(name, size, detail, keep)
    mesh, cloud = ffi.new("lm_shape_mesh *"), ffi.new("lm_shape_cloud *")
    check(lib.lm_shape_make_mesh(definition, mesh), f"shape {name!r}")
    try:
        check(lib.lm_shape_make_cloud(definition, mesh, count(points, "points"), cloud), f"points of shape {name!r}: {points}")
        try:
            return _copy(cloud.points, cloud.point_count, 3, np.float32), Mesh.shape(name, size=size, detail=detail)
        finally:
            lib.lm_shape_cloud_free(cloud)
    finally:
        lib.lm_shape_mesh_free(mesh)


class TetMesh:
    """Tetrahedra: ``vertices`` (n, 3), ``tets`` (m, 4) and the triangles of the surface, ``faces``."""

    def __init__(self, vertices: Any, tets: Any) -> None:
        self.vertices: Floats = floats(vertices, 3, "vertices")
        self.tets: Indices = indices(tets, 4, "tets")
        self.faces: Indices = np.empty((0, 3), dtype=np.uint32)
        if len(self.tets) and int(self.tets.max()) >= len(self.vertices):
            raise ArgumentError(f"tets: has index {int(self.tets.max())} (there are {len(self.vertices)} vertices)")
        found, crowded = ffi.new("uint32_t *"), ffi.new("uint32_t *")
        surface = lib.lm_tets_surface(pointer("uint32_t", self.tets), len(self.tets), found, crowded)
        if surface != ffi.NULL:
            self.faces = _copy(surface, found[0], 3, np.uint32)
            lib.host_free(surface)

    def __repr__(self) -> str:
        return f"<limber.TetMesh: {len(self.vertices)} vertices, {len(self.tets)} tetrahedra>"

    @classmethod
    def read(cls, path: str | os.PathLike[str], *, z_up: bool = False) -> TetMesh:
        """Reads Netgen, MEDIT, TetGen or Gmsh files."""
        options = ffi.new("lm_tets_options *", {"z_up": bool(z_up)})
        data, error = ffi.new("lm_tets_data *"), ffi.new("lm_mesh_error *")
        if not lib.lm_tets_read(os.fsencode(path), options, data, error):
            raise FormatError(text(error.text))
        try:
            return cls(
                _copy(data.positions, data.vertex_count, 3, np.float32), _copy(data.tets, data.tet_count, 4, np.uint32)
            )
        finally:
            lib.lm_tets_free(data)


