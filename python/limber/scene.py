"""Scenes: JSON files, built-in scenes and meshes that fall on a floor, as `limber run` runs them."""

from __future__ import annotations

import os
from typing import Any, Mapping

import numpy as np

from ._core import Array, ArgumentError, ClosedError, FormatError, count, error_of, ffi, lib, text
from .body import Body
from .world import World


def scenes() -> dict[str, str]:
    """Names of the built-in scenes, with what each shows."""
    found, n = {}, 0
    while lib.lm_scene_builtin_name(n) != ffi.NULL:
        name = text(lib.lm_scene_builtin_name(n))
        with Scene(name, world=False) as scene:
            found[name] = scene.title
        n += 1
    return found


def schema() -> str:
    """The scene format as a JSON Schema document."""
    made = lib.lm_scene_schema()
    if made == ffi.NULL:
        raise MemoryError("the schema")
    try:
        return text(made)
    finally:
        lib.host_free(made)


class Scene:
    """A scene and its world: ``scene.step()`` applies the events of a frame and steps ``scene.world``.

    ``name`` is a built-in scene, a path to a JSON file or to a mesh. ``text``: the file itself; ``name`` then stands for it in
    messages. ``sets`` changes values: ``{"bodies[0].material.hertz": 4}``. ``fine_surfaces``: skins for pictures; what is simulated stays the
    same. Other arguments are those of ``World``. Scenes can be pickled.
    """

    def __init__(
        self,
        name: str | os.PathLike[str],
        *,
        text: str | None = None,
        sets: Mapping[str, Any] | None = None,
        fine_surfaces: bool = False,
        world: bool = True,
        **settings: Any,
    ) -> None:
        self._scene: Any = None
        self._world: World | None = None
        self.name = os.fspath(name)
        self.text = text
        self.sets = dict(sets or {})
        self.fine_surfaces = fine_surfaces
        self.frame = 0  #: the one that the next step makes, from 0
        self._settings = settings
        self._open()
        if world:
            self._make_world()

    def _open(self) -> None:
        sets = [ffi.new("char[]", f"{path}={_value(value)}".encode()) for path, value in self.sets.items()]
        array = ffi.new("char *[]", sets)
        error = ffi.new("lm_scene_error *")
        name = os.fsencode(self.name)
        if self.text is None:
            made = lib.lm_scene_open(name, array, len(sets), error)
        else:
            body = self.text.encode()
            made = lib.lm_scene_open_text(name, body, len(body), array, len(sets), error)
        if made == ffi.NULL:
            raise FormatError(text(error.text))
        self._scene = _SceneHandle(made)

    def _make_world(self) -> None:
        settings: dict[str, Any] = {"workers": 0, "isa": "best", "device": None, "memory_limit": 0}
        for name in self._settings:
            if name not in settings:
                raise ArgumentError(f"Scene: {name} is no setting (expected one of {', '.join(settings)})")
        world = World.__new__(World)
        world._prepare(**{**settings, **self._settings})
        definition, keep = world._definition()
        lib.lm_scene_want_fine_surfaces(self._pointer(), bool(self.fine_surfaces))
        made, error = ffi.new("lm_world **"), ffi.new("lm_scene_error *")
        result = lib.lm_scene_make_world(self._pointer(), definition, made, error)
        if result:
            raise error_of(result, text(error.text))
        world._world = made[0]
        world._owner = self._scene
        self._world = world
        del keep

    def _pointer(self) -> Any:
        if self._scene is None:
            raise ClosedError("the scene was closed")
        return self._scene.pointer

    @property
    def world(self) -> World:
        """Its world."""
        self._pointer()
        if self._world is None:
            raise ClosedError("the scene was opened without a world")
        return self._world

    # ---- life ----

    def close(self) -> None:
        """Frees the scene and its world."""
        if self._world is not None:
            self._world.close()
            self._world = None
        self._scene = None

    def __enter__(self) -> Scene:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<limber.Scene {self.name!r} before frame {self.frame}>"

    def __reduce__(self) -> Any:
        state = self.name, self.text, self.sets, self.fine_surfaces, self._settings, self.world.save()
        return _revive, state

    # ---- what it says ----

    @property
    def title(self) -> str:
        """One sentence: what it shows."""
        return text(lib.lm_scene_title(self._pointer()))

    @property
    def figure(self) -> str:
        """The figure of a paper that it reproduces, or ""."""
        return text(lib.lm_scene_figure(self._pointer()))

    @property
    def note(self) -> str:
        """What was decided for the user (a mesh in other units was scaled), or ""."""
        return text(lib.lm_scene_note(self._pointer()))

    @property
    def frames(self) -> int:
        """How many frames it runs by default."""
        return int(lib.lm_scene_frames(self._pointer()))

    @property
    def camera(self) -> tuple[Array, Array, float] | None:
        """Where it is looked at from: eye, middle of the picture, field of view in degrees; None: it does not say."""
        view = ffi.new("lm_scene_view *")
        if not lib.lm_scene_get_view(self._pointer(), view):
            return None
        places = [np.array([p.x, p.y, p.z]) for p in (view.at, view.look_at)]
        return places[0], places[1], float(view.field_of_view)

    @property
    def bodies(self) -> dict[str, Body]:
        """Bodies by their names, in the order of the file; "ball[17]" is one of many copies."""
        found = {}
        for n in range(lib.lm_scene_body_count(self._pointer())):
            body = lib.lm_scene_get_body(self._pointer(), n)
            found[text(body.name)] = Body(self.world, (body.id.slot, body.id.generation))
        return found

    def colours(self, name: str) -> Array | None:
        """Colours of a body for pictures: (vertices of its skin, 3) or (1, 3) uint8; None: whoever draws may choose."""
        names = list(self.bodies)
        if name not in names:
            raise ArgumentError(f"{self.name}: there is no body {name!r}")
        return _colours(lib.lm_scene_get_colours(self._pointer(), names.index(name)))

    # ---- running ----

    def step(self, frames: int = 1) -> None:
        """Steps frames of 1/60 s, each with the scene's own events."""
        for _ in range(count(frames, "frames")):
            world = self.world
            with world._lock:
                result = lib.lm_scene_step(self._pointer(), world._pointer(), self.frame)
                if world._substep is not None:
                    world._substep.raise_error()
                if result:
                    raise error_of(result, world._take_line())
            self.frame += 1

    def run(self, frames: int | None = None) -> World:
        """Steps until ``frames`` frames were run in all (None: as many as the scene says), and gives the world."""
        self.step(max(0, (self.frames if frames is None else frames) - self.frame))
        return self.world

    def load(self, snapshot: bytes) -> None:
        """Goes on from a snapshot that was saved while running this scene."""
        frame, error = ffi.new("uint32_t *"), ffi.new("lm_scene_error *")
        view = memoryview(snapshot).cast("B")
        with self.world._lock:
            where = ffi.from_buffer(view)
            result = lib.lm_scene_load(self._pointer(), self.world._pointer(), where, len(view), frame, error)
        if result:
            raise error_of(result, text(error.text))
        self.frame = int(frame[0])

    def check(self) -> list[str]:
        """What became of the scene's ``expect`` block: lines that begin with "ok" or "FAILED"."""
        buffer = ffi.new("char[]", 1 << 16)
        with self.world._lock:
            lib.host_check_scene(self._pointer(), self.world._pointer(), buffer, 1 << 16)
        return text(buffer).splitlines()

    @property
    def momentum_error(self) -> float:
        """Momentum that no impulse from outside explains, relative to the largest sum of m |v|."""
        return float(lib.lm_scene_momentum_error(self._pointer(), self.world._pointer()))


class _SceneHandle:
    """The scene of the library, which lives as long as its world does."""

    def __init__(self, pointer: Any) -> None:
        self.pointer = pointer

    def __del__(self) -> None:
        lib.lm_scene_close(self.pointer)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple, np.ndarray)):
        return "[" + ", ".join(_value(part) for part in value) + "]"
    return str(value)


def _colours(colours: Any) -> Array | None:
    if colours.count == 0 or colours.rgb == ffi.NULL:
        return None
    return np.frombuffer(ffi.buffer(colours.rgb, colours.count * 3), dtype=np.uint8).reshape(-1, 3).copy()


def _revive(
    name: str, text: str | None, sets: dict[str, Any], fine: bool, settings: dict[str, Any], snapshot: bytes
) -> Scene:
    scene = Scene(name, text=text, sets=sets, fine_surfaces=fine, **settings)
    scene.load(snapshot)
    return scene
