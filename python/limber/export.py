"""Exporters: motion into files of other programs (docs/export.md says which)."""

from __future__ import annotations

import dataclasses
import os
from typing import Any, Mapping

import numpy as np

from ._core import Array, ArgumentError, ClosedError, FormatError, count, error_of, ffi, lib, number, pointer, record, text
from .body import Body
from .scene import Scene
from .world import World


@dataclasses.dataclass
class Loss:
    """What a GLB with joints lacks: distances of vertices from where they should be, metres, and the size of the largest body."""

    largest: float
    mean: float
    size: float


def formats() -> dict[str, str]:
    """Formats that can be written, with a line about each."""
    found, n = {}, 0
    while lib.lm_export_format_name(n) != ffi.NULL:
        found[text(lib.lm_export_format_name(n))] = text(lib.lm_export_format_doc(n))
        n += 1
    return found


class Exporter:
    """Writes frames of a world into a file, whole or not at all.

        with limber.Exporter("drop.glb", world, frames=61) as out:
            for frame in range(61):
                out.add()
                world.step()

    ``frames``: how many will be added. ``bodies``: a list, or a dictionary of names; all of the world's by default. ``colours``: arrays (n, 3)
    or (1, 3) uint8, ``uvs``: arrays (n, 2), by body. While it is open, an interruption (SIGINT) removes what was written and ends the program.
    An exception inside the ``with`` block leaves no file behind. Other arguments as in ``limber export --help``.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        world: World,
        *,
        frames: int,
        bodies: Mapping[str, Body] | list[Body] | None = None,
        colours: Mapping[Body, Array] | None = None,
        uvs: Mapping[Body, Array] | None = None,
        format: str | None = None,
        rate: float = 60.0,
        z_up: bool = False,
        motion: str = "joints",
        joints: int = 32,
        influences: int = 4,
    ) -> None:
        self._out: Any = None
        self._capture: Any = None
        self.world = world
        self.path = os.fspath(path)
        self.loss: Loss | None = None
        self._keep: list[Any] = []
        self._z_up = bool(z_up)
        chosen = _named(world.bodies if bodies is None else bodies)
        if not chosen:
            raise ArgumentError(f"{self.path}: there is no body to export")
        if motion not in ("joints", "morphs"):
            raise ArgumentError(f"motion: is {motion!r} (expected joints or morphs)")
        self._capture_bodies(chosen, colours or {}, uvs or {})
        options = ffi.new("lm_export_options *", lib.lm_export_options_default())
        if format is not None:
            self._keep.append(ffi.new("char[]", format.encode()))
            options.format = self._keep[-1]
        options.frame_count, options.rate, options.z_up = count(frames, "frames"), number(rate, "rate"), self._z_up
        options.motion = lib.LM_EXPORT_MORPHS if motion == "morphs" else lib.LM_EXPORT_JOINTS
        options.joints, options.influences = count(joints, "joints"), count(influences, "influences")
        error = ffi.new("lm_export_error *")
        out = lib.lm_export_open(os.fsencode(self.path), options, error)
        if out == ffi.NULL:
            raise FormatError(text(error.text))
        self._out = out

    def _capture_bodies(self, chosen: dict[str, Body], colours: Mapping[Body, Array], uvs: Mapping[Body, Array]) -> None:
        array = ffi.new("lm_capture_body[]", len(chosen))
        for c, (name, body) in zip(array, chosen.items()):
            self.world._own(body)
            self._keep.append(ffi.new("char[]", name.encode()))
            c.id, c.name = body.id, self._keep[-1]
            if colours.get(body) is not None:
                rgb = np.ascontiguousarray(colours[body], dtype=np.uint8)
                self._keep.append(pointer("uint8_t", rgb))
                c.colours, c.colour_count = self._keep[-1], rgb.size // 3
            if uvs.get(body) is not None:
                uv = np.ascontiguousarray(uvs[body], dtype=np.float32)
                self._keep.append(pointer("float", uv))
                c.uvs, c.uv_count = self._keep[-1], uv.size // 2
        self._keep.append(array)
        capture = lib.lm_capture_create(array, len(chosen))
        if capture == ffi.NULL:
            raise MemoryError("an exporter")
        self._capture = ffi.gc(capture, lib.lm_capture_destroy)

    def add(self) -> None:
        """Writes the world as it is now as the next frame."""
        if self._out is None:
            raise ClosedError("the exporter was closed")
        frame, error = ffi.new("lm_export_frame *"), ffi.new("lm_export_error *")
        world = self.world
        with world._lock:
            wants = lib.lm_export_wants(self._out)
            result = lib.lm_capture_take(self._capture, world._pointer(), wants, self._z_up, frame)
            if result:
                raise error_of(result, world._take_line())
            good = lib.lm_export_add(self._out, frame, error)
        if not good:
            self.abandon()
            raise FormatError(text(error.text))

    def finish(self) -> Loss:
        """Completes the file."""
        if self._out is None:
            raise ClosedError("the exporter was closed")
        loss, error = ffi.new("lm_export_loss *"), ffi.new("lm_export_error *")
        out, self._out = self._out, None
        if not lib.lm_export_finish(out, loss, error):
            raise FormatError(text(error.text))
        self.loss = record(Loss, loss)
        return self.loss

    def abandon(self) -> None:
        """Leaves no file behind."""
        if self._out is not None:
            lib.lm_export_abandon(self._out)
            self._out = None

    def __enter__(self) -> Exporter:
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is not None:
            self.abandon()
        elif self._out is not None:
            self.finish()

    def __del__(self) -> None:
        self.abandon()


def _named(bodies: Mapping[str, Body] | list[Body]) -> dict[str, Body]:
    if isinstance(bodies, Mapping):
        return dict(bodies)
    return {f"body{n}": body for n, body in enumerate(bodies)}


def export(
    scene: Scene | str | os.PathLike[str], path: str | os.PathLike[str], *, frames: int | None = None, **options: Any
) -> Loss:
    """Runs a scene from where it is and writes its frames, 60 a second, with the names and colours that it has.

    ``frames``: the last one, as in ``limber export --frames``; None: as the scene says. A name or path is opened with fine surfaces.
    """
    opened = scene if isinstance(scene, Scene) else Scene(scene, fine_surfaces=True)
    try:
        last = opened.frames if frames is None else count(frames, "frames")
        if last < opened.frame:
            raise ArgumentError(f"frames: is {last} (the scene is at frame {opened.frame} already)")
        bodies = opened.bodies
        colours = {body: opened.colours(name) for name, body in bodies.items()}
        shown = {body: rgb for body, rgb in colours.items() if rgb is not None}
        out = Exporter(path, opened.world, frames=last - opened.frame + 1, bodies=bodies, colours=shown, **options)
        with out:
            out.add()
            while opened.frame < last:
                opened.step()
                out.add()
        assert out.loss is not None
        return out.loss
    finally:
        if opened is not scene:
            opened.close()
