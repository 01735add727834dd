"""Pictures of worlds, without a display; and the viewer.

The renderer needs SDL2 and OpenGL 3.3 (software will do), which are loaded when it is first used and not before.
"""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import threading
import zlib
from pathlib import Path
from typing import Any, Mapping, Sequence

import numpy as np

from ._core import Array, ArgumentError, UnsupportedError, Vector, ffi, lib, number, text, vector
from .body import INNER, Body
from .scene import Scene, _colours
from .world import World


class Picture:
    """A picture: ``pixels`` is (height, width, 3) uint8. A notebook shows it; ``save`` writes a PNG file."""

    def __init__(self, pixels: Array) -> None:
        self.pixels = pixels

    def __repr__(self) -> str:
        return f"<limber.Picture {self.pixels.shape[1]} x {self.pixels.shape[0]}>"

    def __array__(self, dtype: Any = None) -> Array:
        return self.pixels if dtype is None else self.pixels.astype(dtype)

    def png(self) -> bytes:
        """The picture as a PNG file in memory."""
        height, width = self.pixels.shape[:2]
        rows = np.zeros((height, 1 + 3 * width), dtype=np.uint8)
        rows[:, 1:] = self.pixels.reshape(height, -1)
        header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
        parts = [(b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 6)), (b"IEND", b"")]
        chunks = (struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts)
        return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)

    _repr_png_ = png

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a PNG file."""
        Path(path).write_bytes(self.png())


def _module() -> Any:
    try:
        from . import _draw  # type: ignore[attr-defined]
    except ImportError as error:
        raise UnsupportedError(f"pictures need SDL2 and libepoxy: {error}") from None
    return _draw


def views() -> list[str]:
    """What can be drawn: "surface", "particles", "regions", ..."""
    draw = _module().lib
    names: list[str] = []
    while draw.draw_view_name(len(names)) != ffi.NULL:
        names.append(text(draw.draw_view_name(len(names))))
    return names


class Renderer:
    """Draws worlds. To be used by the thread that made it; ``render`` is enough for one picture.

    with limber.Renderer(640, 360) as renderer:
        picture = renderer.draw(world)
    """

    def __init__(self, width: int = 960, height: int = 540) -> None:
        self._draw: Any = None
        module = _module()
        self._lib, self._ffi = module.lib, module.ffi
        error = self._ffi.new("draw_error *")
        muted = self._lib.lmi_system_mute()
        made = self._lib.draw_open(int(width), int(height), error)
        self._lib.lmi_system_unmute(muted)
        if made == ffi.NULL:
            raise UnsupportedError(text(error.text))
        self._draw = made
        self._thread = threading.get_ident()
        self.width, self.height = int(width), int(height)

    def close(self) -> None:
        """Frees the renderer."""
        if self._draw is not None:
            self._lib.draw_close(self._draw)
            self._draw = None

    def __enter__(self) -> Renderer:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_draw", None) is not None and threading.get_ident() == self._thread:
            self.close()

    def _usable(self) -> Any:
        if self._draw is None:
            raise ArgumentError("the renderer was closed")
        if threading.get_ident() != self._thread:
            raise ArgumentError("the renderer belongs to the thread that made it")
        return self._draw

    def draw(
        self,
        what: World | Scene,
        *,
        views: Sequence[str] | str = "surface",
        camera: tuple[Vector, Vector] | tuple[Vector, Vector, float] | None = None,
        colours: Mapping[Body, Any] | None = None,
        map_top: float = 0.0,
    ) -> Picture:
        """A picture of a world as it is now. ``camera``: eye, middle of the picture and field of view in degrees; None: the scene's, or one
        from which everything is seen. ``colours``: for a body, (1, 3) or (vertices, 3) uint8, vertices as the
        skin was given; inner faces of cuts have a paler one. ``map_top``: upper end of the colours of the
        views "speed", "strain" and "stress" (Pa); 0: what fits."""
        draw, world = self._usable(), what.world if isinstance(what, Scene) else what
        self._lib.draw_forget(draw)
        settings = self._ffi.new("draw_settings *", self._lib.draw_settings_default())
        settings.views = self._views([views] if isinstance(views, str) else list(views))
        settings.map_top = number(map_top, "map_top")
        with world._lock:
            pointer = world._pointer()
            if isinstance(what, Scene):
                self._scene_colours(what)
                camera = what.camera if camera is None else camera
            for body, rgb in (colours or {}).items():
                self._colour(body, np.ascontiguousarray(rgb, dtype=np.uint8))
            if camera is None:
                settings.camera = self._lib.draw_fit_camera(pointer, self.width / self.height)
            else:
                eye, middle, *rest = camera
                eye, middle = vector(eye, "camera"), vector(middle, "camera")
                field = number(rest[0], "camera") if rest else 40.0
                settings.camera = {"at": eye, "look_at": middle, "field_of_view": field}
            return self._take(pointer, settings)

    def _take(self, world: Any, settings: Any) -> Picture:
        picture, error = self._ffi.new("image *"), self._ffi.new("draw_error *")
        if not self._lib.image_make(picture, self.width, self.height):
            raise MemoryError("a picture")
        try:
            if not self._lib.draw_world(self._draw, world, settings, picture, error):
                raise ArgumentError(text(error.text))
            memory = ffi.buffer(picture.pixels, 3 * self.width * self.height)
            return Picture(np.frombuffer(memory, dtype=np.uint8).reshape(self.height, self.width, 3).copy())
        finally:
            self._lib.image_free(picture)

    def _views(self, names: list[str]) -> int:
        bits = 0
        for name in names:
            bit = self._lib.draw_view_find(name.encode())
            if bit == 0:
                raise ArgumentError(f"views: there is no {name!r} (there are {', '.join(views())})")
            bits |= bit
        return bits

    def _colour(self, body: Body, rgb: Array) -> None:
        error = self._ffi.new("draw_error *")
        given = _given_vertices(body)
        if rgb.ndim != 2 or rgb.shape[1] != 3 or len(rgb) != 1 and len(rgb) < given:
            raise ArgumentError(f"colours: has the shape {rgb.shape} (expected (1, 3), or ({given}, 3): one for each vertex)")
        pointer = ffi.from_buffer("uint8_t[]", rgb)
        if not self._lib.draw_set_colours(self._draw, body.id, pointer, rgb.size // 3, error):
            raise ArgumentError(text(error.text))

    def _scene_colours(self, scene: Scene) -> None:
        error = self._ffi.new("draw_error *")
        for name, body in scene.bodies.items():
            rgb = scene.colours(name)
            if rgb is not None and body.valid:
                self._colour(body, rgb)
        for n in range(lib.lm_scene_get_contents(scene._pointer()).colliders):
            made = lib.lm_scene_get_collider(scene._pointer(), n)
            colour = _colours(made.colour)
            if colour is not None:
                self._lib.draw_set_collider_colour(self._draw, made.id, bytes(colour[0]), error)


def _given_vertices(body: Body) -> int:
    """How many vertices the skin had when it was given; a body that was cut or has broken has more."""
    if body._info().skin_vertices == 0:
        return 1
    sources = body.skin_sources
    given = sources[sources != INNER]
    return int(given.max()) + 1 if len(given) else 1


def render(what: World | Scene, size: tuple[int, int] = (960, 540), **options: Any) -> Picture:
    """A picture of a world or scene as it is now; the options are those of ``Renderer.draw``. Needs no display."""
    with Renderer(*size) as renderer:
        return renderer.draw(what, **options)


def find_tool() -> str:
    """The command-line tool: $LIMBER_TOOL, or ``limber`` on the path."""
    tool = os.environ.get("LIMBER_TOOL") or shutil.which("limber")
    if tool is None or not os.access(tool, os.X_OK):
        raise UnsupportedError("the tool `limber` was not found: install it, or name it in LIMBER_TOOL")
    return tool


def view(scene: Scene | str | os.PathLike[str] = "penguins", *arguments: str) -> subprocess.Popen[bytes]:
    """Opens the interactive viewer, a program of its own (the tool ``limber``), from the beginning of a scene. A Scene must be one of a
    name or a file; its ``sets`` go along. Returns the process."""
    command = [find_tool(), "view"]
    if isinstance(scene, Scene):
        if scene.text is not None:
            raise ArgumentError("view: the viewer opens scenes from files and built-in ones")
        from .scene import _value

        command.append(scene.name)
        for path, value in scene.sets.items():
            command += ["--set", f"{path}={_value(value)}"]
    else:
        command.append(os.fspath(scene))
    return subprocess.Popen([*command, *arguments])
