"""Motions of meshes from files: point caches and animations."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ._core import Array, ClosedError, FormatError, Floats, OutOfMemoryError, ffi, lib, number, output, pointer, text


class Cache:
    """Where the vertices of a mesh are at any time: a PC2 or MDD file, or an animation of a GLB or glTF file.

        walk = limber.Cache("walk.pc2")
        mesh = limber.Mesh.read("walk.obj", weld=-1)          # the same vertices, in the same order
        walker = world.add_collider("mesh", mesh=mesh, deforms=True)
        for frame in range(120):
            walker.move_vertices(walk.sample(world.time + limber.FRAME))
            world.step()

    ``rate``: frames in a second of a PC2 file. ``animation``: the name of one in a glTF file; None: the first.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, rate: float = 60.0, animation: str | None = None, z_up: bool = False
    ) -> None:
        name = ffi.new("char[]", animation.encode()) if animation is not None else ffi.NULL
        options = ffi.new("lm_cache_options *", {"rate": number(rate, "rate"), "animation": name, "z_up": bool(z_up)})
        made, error = ffi.new("lm_cache_data **"), ffi.new("lm_mesh_error *")
        if not lib.lm_cache_read(os.fsencode(path), options, made, error):
            raise FormatError(text(error.text))
        self._cache: Any = ffi.gc(made[0], lib.lm_cache_free)

    def _pointer(self) -> Any:
        if self._cache is None:
            raise ClosedError("the cache was closed")
        return self._cache

    def close(self) -> None:
        """Frees what was read. May be called again."""
        if self._cache is not None:
            ffi.release(self._cache)
            self._cache = None

    def __enter__(self) -> Cache:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __len__(self) -> int:
        """How many vertices it moves."""
        return int(lib.lm_cache_vertex_count(self._pointer()))

    @property
    def begin(self) -> float:
        """When it begins, seconds."""
        return float(lib.lm_cache_begin(self._pointer()))

    @property
    def end(self) -> float:
        """When it ends, seconds."""
        return float(lib.lm_cache_end(self._pointer()))

    def sample(self, time: float, out: Array | None = None) -> Floats:
        """Where the vertices are at a time, (n, 3) float32; before the beginning and after the end they stand still."""
        out = output(out, (len(self), 3), np.float32)
        if not lib.lm_cache_sample(self._pointer(), number(time, "time"), pointer("lm_vec3", out)):
            raise OutOfMemoryError("a frame of a cache, or a vertex that is too far away")
        return out
