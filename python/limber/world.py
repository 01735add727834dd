"""Worlds."""

from __future__ import annotations

import dataclasses
import os
import threading
from typing import Any, Callable, Sequence

import numpy as np

from ._core import (
    Array,
    ArgumentError,
    ClosedError,
    Id,
    OutOfMemoryError,
    Vector,
    choose,
    count,
    error_of,
    ffi,
    floats,
    indices,
    lib,
    number,
    per,
    pointer,
    record,
    text,
    to_array,
    vector,
    word_of,
    words,
)
from .body import LATTICE_MASSES, TETS_MASSES, Body, fill_body_def, fill_clusters
from .joints import Joint, JointEndLike, joint_def
from .material import Pose, Sleep
from .mesh import Mesh, MeshLike, TetMesh
from .things import (
    SHAPES,
    Bone,
    Collider,
    Drag,
    Field,
    Mover,
    Pin,
    Skeleton,
    attachments_of,
    field_def,
)

ISAS = words("lm_isa", "LM_ISA_")
METHODS = words("lm_contact_method", "LM_CONTACT_METHOD_")
PHASES = words("lm_contact_phase", "LM_CONTACT_")
FRAME = 1.0 / 60.0
COMBINED = lib.LM_CONTACT_COMBINED  #: in a contact rule: as without the rule


@dataclasses.dataclass
class Stats:
    """Counts and times of the last step; see ``lm_stats``."""

    bodies: int
    particles: int
    regions: int
    memberships: int
    steps: int
    substeps: int  # of the last step
    step_seconds: float
    stage_seconds: dict[str, float]
    contacts: int
    asleep: int
    contacts_left_out: int
    stiffness_limited: int
    outside_impulse: Array
    memory: int
    mutual: ContactStats


@dataclasses.dataclass
class ContactStats:
    """Contacts between bodies and how well they were solved; see ``lm_contact_stats``."""

    soft: int
    stiff: int
    passes: int
    sweeps: int
    islands: int
    residual: float


@dataclasses.dataclass
class Totals:
    """Sums over all particles; see ``lm_totals``."""

    momentum: Array
    momentum_scale: float
    kinetic_energy: float
    max_speed: float
    finite: bool


@dataclasses.dataclass
class Hit:
    """What a ray met."""

    body: Body | None
    collider: Collider | None
    particle: int
    point: Array
    normal: Array
    distance: float


@dataclasses.dataclass
class ContactEvent:
    """What one body and another, itself or a collider did to each other during a step; see ``lm_contact_event``."""

    phase: str  #: "began", "persists" or "ended"
    body: Body
    other: Body | None
    collider: Collider | None
    point: Array
    normal: Array
    impulse: Array
    pressed: float
    approach: float


@dataclasses.dataclass
class Break:
    """A link that broke; see ``lm_break``."""

    body: Body
    particles: tuple[int, int]
    point: Array
    strain: float
    limit: float
    speed: float


@dataclasses.dataclass
class Split:
    """Something that left a body; see ``lm_split``."""

    body: Body
    made: Body | None
    particles: int
    mass: float
    volume: float
    centre: Array


class _Substep:
    """A function of a program that is called before every substep, and what became of it."""

    def __init__(self, function: Callable[[float], Any]) -> None:
        self.function = function
        self.handle = ffi.new_handle(self)
        self.running = False
        self.error: BaseException | None = None

    def call(self, h: float) -> None:
        if self.error is None:
            self.running = True
            try:
                self.function(h)
            except BaseException as error:
                self.error = error
            finally:
                self.running = False

    def raise_error(self) -> None:
        if self.error is not None:
            error, self.error = self.error, None
            raise error


def _call_substep(_: Any, h: float, user: Any) -> None:
    ffi.from_handle(user).call(h)


ffi.def_extern(name="limber_python_substep")(_call_substep)


_forks = 0


def _count_fork() -> None:
    global _forks
    _forks += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count_fork)


class World:
    """A world of soft bodies. A context manager: ``with World() as world: ...`` frees it at the end.

    Threads may share a world: calls wait for each other. Different worlds are independent, and every call releases Python's lock while the
    library works, so that worlds on several threads run at once. Processes may not share one: after a fork it raises ClosedError in the
    child. Worlds can be pickled and copied: what travels is a snapshot.

    ``workers``: threads of a step, 0 for one for each core. ``isa``: instruction set, for comparisons; results do not depend on it.
    ``device``: None or "cpu"; "gpu", or a device of ``limber.devices()``. ``memory_limit``: bytes that the world may have, 0 for any.
    ``may_overlap``: bodies may begin inside each other; else ``log_line`` says once that they do.
    """

    _world: Any = None

    def __init__(
        self,
        *,
        gravity: Vector = (0.0, -9.81, 0.0),
        substeps: int = 0,
        workers: int = 0,
        isa: str = "best",
        device: str | None = None,
        memory_limit: int = 0,
        may_overlap: bool = False,
    ) -> None:
        self._prepare(workers, isa, device, memory_limit, may_overlap)
        definition, keep = self._definition()
        definition.gravity = vector(gravity, "gravity")
        definition.substeps = count(substeps, "substeps")
        made = ffi.new("lm_world **")
        result = lib.lm_world_create(definition, made)
        if result:
            raise error_of(result, self._take_line())
        self._world = made[0]
        del keep

    def _prepare(self, workers: int, isa: str, device: str | None, memory_limit: int, may_overlap: bool = False) -> None:
        self._world = None
        self._lock = threading.RLock()
        self._forks = _forks
        self._substep: _Substep | None = None
        self._owner: Any = None  # what the world must not outlive
        self._host_settings: dict[str, Any] = dict(
            workers=workers, isa=isa, device=device, memory_limit=memory_limit, may_overlap=may_overlap
        )
        host = lib.host_create(count(memory_limit, "memory_limit", 2**63))
        if host == ffi.NULL:
            raise OutOfMemoryError("a world")
        self._host = ffi.gc(host, lib.host_drop)

    def _definition(self) -> tuple[Any, list[Any]]:
        """Host hooks and what the world runs on."""
        settings = self._host_settings
        definition = ffi.new("lm_world_def *", lib.lm_world_def_default())
        definition.workers = count(settings["workers"], "workers")
        definition.isa = choose(settings["isa"], ISAS, "isa")
        definition.may_overlap = bool(settings["may_overlap"])
        keep = []
        if settings["device"] is not None:
            keep.append(ffi.new("char[]", str(settings["device"]).encode()))
            definition.device = keep[0]
        lib.host_fill_def(self._host, definition)
        return definition, keep

    def _take_line(self) -> str:
        result, line = ffi.new("lm_result *"), ffi.new(f"char[{lib.HOST_LINE_SIZE}]")
        return text(line) if lib.host_take_line(self._host, result, line) else ""

    def _pointer(self) -> Any:
        if self._world is None:
            raise ClosedError("the world was closed")
        if self._forks != _forks:
            raise ClosedError("the world belongs to the process before a fork, and so do its threads (pickle it, or make it after)")
        if self._substep is not None and self._substep.running:
            raise ArgumentError("a substep function may read wrenches and poses and steer movers, and nothing else")
        return self._world

    def _do(self, function: Any, *arguments: Any) -> None:
        """Calls a function that returns an ``lm_result``."""
        with self._lock:
            result = function(self._pointer(), *arguments)
            if result:
                raise error_of(result, self._take_line())

    def _do_within(self, function: Any, *arguments: Any) -> None:
        """The same for what a substep function may call too; it runs in the thread that has the lock."""
        with self._lock:
            running = self._substep is not None and self._substep.running
            result = function(self._world if running else self._pointer(), *arguments)
            if result:
                raise error_of(result, self._take_line())

    def _ask(self, function: Any, *arguments: Any) -> Any:
        """Calls any other function."""
        with self._lock:
            return function(self._pointer(), *arguments)

    # ---- life ----

    def close(self) -> None:
        """Frees the world and everything in it. Arrays of ``Body.live`` keep their last values. May be called again."""
        with self._lock:
            if self._world is not None:
                if self._substep is not None and self._substep.running:
                    raise ArgumentError("a substep function may not close its world")
                if self._forks == _forks:  # a fork leaves the threads of a world behind, which would be waited for
                    lib.lm_world_destroy(self._world)
                self._world = None
                self._owner = None

    def __del__(self) -> None:
        if getattr(self, "_world", None) is not None:
            self.close()

    def __enter__(self) -> World:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._world is None

    def __repr__(self) -> str:
        if self._world is None:
            return "<limber.World, closed>"
        return f"<limber.World: {len(self.bodies)} bodies at {self.time:.3f} s>"

    # ---- stepping and settings ----

    def step(self, seconds: float = FRAME, count: int = 1) -> None:
        """Advances by ``count`` frames of ``seconds`` (above 0, at most 1). Python's lock is released meanwhile."""
        if count == 1:
            with self._lock:
                result = lib.lm_world_step(self._pointer(), seconds)
                if self._substep is not None:
                    self._substep.raise_error()
                if result:
                    raise error_of(result, self._take_line())
            return
        for _ in range(count):
            self.step(seconds)

    @property
    def substep_function(self) -> Callable[[float], Any] | None:
        """Called before every substep with its length in seconds, in the thread that steps: for a rigid-body engine that moves movers
        (docs/joints.md). It may read ``wrench``, ``substep_wrench`` and ``pose`` of movers and colliders, and steer movers, and nothing
        else. What it raises, the step raises at its end, and it is not called again in that step. Not part of snapshots, copies and pickles."""
        return None if self._substep is None else self._substep.function

    @substep_function.setter
    def substep_function(self, function: Callable[[float], Any] | None) -> None:
        if function is not None and not callable(function):
            raise ArgumentError(f"substep_function: is {function!r} (expected something to call, or None)")
        with self._lock:
            world = self._pointer()
            made = None if function is None else _Substep(function)
            called = ffi.NULL if made is None else lib.limber_python_substep
            lib.lm_world_set_substep_function(world, called, ffi.NULL if made is None else made.handle)
            self._substep = made

    @property
    def gravity(self) -> Array:
        """Metres a second squared."""
        return to_array(self._ask(lib.lm_world_get_gravity))

    @gravity.setter
    def gravity(self, gravity: Vector) -> None:
        self._do(lib.lm_world_set_gravity, vector(gravity, "gravity"))

    @property
    def substeps(self) -> int:
        """Into how many substeps a step is divided; 0: as many as the materials need."""
        return int(self._ask(lib.lm_world_get_substeps))

    @substeps.setter
    def substeps(self, substeps: int) -> None:
        self._do(lib.lm_world_set_substeps, count(substeps, "substeps"))

    @property
    def time(self) -> float:
        """Seconds simulated so far."""
        return float(self._ask(lib.lm_world_get_time))

    @property
    def workers(self) -> int:
        """Threads of a step."""
        return int(self._ask(lib.lm_world_get_workers))

    @property
    def isa(self) -> str:
        """The instruction set in use."""
        return text(lib.lm_isa_name(self._ask(lib.lm_world_get_isa)))

    @property
    def device(self) -> str:
        """What steps the world: the name of a device, or "cpu"."""
        return text(self._ask(lib.lm_world_get_device))

    @property
    def log_line(self) -> str:
        """The last line that the library wrote to the log of this world since the last error, or ""; a device that cannot be used
        is told here."""
        with self._lock:
            self._pointer()
            return self._take_line()

    def set_eye(self, eye: Vector | None) -> None:
        """Where the camera is, for ``Detail.eye_angle``; None: nowhere."""
        self._do(lib.lm_world_set_eye, ffi.NULL if eye is None else ffi.new("lm_dvec3 *", vector(eye, "eye")))

    @property
    def sleep(self) -> Sleep:
        """When bodies at rest are left out. A copy: assign one to change it."""
        return record(Sleep, self._ask(lib.lm_world_get_sleep))

    @sleep.setter
    def sleep(self, sleep: Sleep) -> None:
        definition = ffi.new("lm_sleep *", lib.lm_sleep_default())
        definition.enabled = bool(sleep.enabled)
        definition.speed, definition.seconds = number(sleep.speed, "speed"), number(sleep.seconds, "seconds")
        self._do(lib.lm_world_set_sleep, definition)

    # ---- contents ----

    def _list(self, function: Any, kind: str) -> list[Id]:
        with self._lock:
            found = self._ask(function, ffi.NULL, 0)
            ids = ffi.new(f"{kind}[]", found)
            self._ask(function, ids, found)
            return [(id.slot, id.generation) for id in ids]

    @property
    def bodies(self) -> list[Body]:
        """All bodies, in the order of their slots."""
        return [Body(self, id) for id in self._list(lib.lm_world_get_bodies, "lm_body_id")]

    @property
    def colliders(self) -> list[Collider]:
        """All colliders, in the order of their slots."""
        return [Collider(self, id) for id in self._list(lib.lm_world_get_colliders, "lm_collider_id")]

    @property
    def joints(self) -> list[Joint]:
        """All joints, in the order of their slots."""
        return [Joint(self, id) for id in self._list(lib.lm_world_get_joints, "lm_joint_id")]

    @property
    def broken_joints(self) -> list[Joint]:
        """Those that broke in the last step."""
        return [Joint(self, id) for id in self._list(lib.lm_world_get_broken_joints, "lm_joint_id")]

    def _create(self, function: Any, definition: Any, kind: str) -> Id:
        made = ffi.new(f"{kind} *")
        self._do(function, definition, made)
        return made.slot, made.generation

    # ---- bodies ----

    def _add_body(self, definition: Any, skin: MeshLike | None, skin_kind: str = "particles") -> Body:
        with self._lock:
            body = Body(self, self._create(lib.lm_body_create, definition, "lm_body_id"))
            if skin is not None:
                try:
                    body.set_skin(skin, skin_kind)
                except Exception:
                    body.destroy()
                    raise
            return body

    def _check_masses(self, definition: Any, masses: Any, particles: int | None) -> None:
        """The library reads a mass for each particle; how many a mesh becomes is tried in a world of its own."""
        if masses is None:
            return
        if particles is None:
            given, definition.masses = definition.masses, ffi.NULL
            with World(workers=1) as trial:
                particles = trial._add_body(definition, None)._info().particles
            definition.masses = given
        per(masses, particles, "masses", "particle")

    def add_points(
        self,
        points: Any,
        *,
        clusters: Sequence[int] | int | None = None,
        cell_size: float | None = None,
        lists: Sequence[Any] | None = None,
        elements: Any = None,
        kind: str | None = None,
        overlap: float = 0.25,
        rings: int = 1,
        skin: MeshLike | None = None,
        skin_kind: str = "particles",
        **common: Any,
    ) -> Body:
        """A body from any points (n, 3), in regions: one for all by default; ``clusters=(4, 2, 2)`` cells along the axes or ``clusters=20``
        compact groups; cells of ``cell_size`` metres; ``lists`` of particles; or ``elements`` (n, 2 to 8) of a mesh with ``kind`` "elements",
        "rings" or "kmeans". ``skin``: a surface that moves with it.

        All bodies have in common: ``material``, ``mass``, ``masses``, ``position``, ``rotation``, ``velocity``, ``spin``,
        ``contact_radius``, ``contact_points``, ``group``, ``mask`` (what other bodies it touches), ``self_contact``, ``penalty``,
        ``collider_mask``, ``may_sleep``, ``user_data``; see ``lm_body_def`` in the header.
        """
        keep: list[Any] = []
        array = floats(points, 3, "points")
        definition = ffi.new("lm_body_def *", lib.lm_body_def_default())
        fill_body_def(definition, keep, **common)
        self._check_masses(definition, common.get("masses"), len(array))
        keep.append(pointer("lm_vec3", array))
        definition.points, definition.point_count = keep[-1], len(array)
        fill_clusters(
            definition.clusters,
            keep,
            len(array),
            clusters=clusters,
            cell_size=cell_size,
            lists=lists,
            elements=elements,
            kind=kind,
            overlap=overlap,
            rings=rings,
        )
        return self._add_body(definition, skin, skin_kind)

    def add_lattice(
        self,
        mesh: MeshLike | None = None,
        *,
        spacing: float = 0.0,
        particles: int = 0,
        width: int = 1,
        width_metres: float = 0.0,
        shell: bool = False,
        mass_kind: str = "volume",
        vertex_masses: Any = None,
        cells: Any = None,
        first: Vector = (0.0, 0.0, 0.0),
        skin: MeshLike | bool | None = True,
        **common: Any,
    ) -> Body:
        """A body from any mesh, as a lattice of cubic cells of ``spacing`` metres, or of about as many ``particles`` as are wanted. The
        mesh is its skin, unless ``skin`` is another one or False. Instead of a mesh: ``cells``, a (z, y, x) array that is not 0 where the
        body is, with its lowest corner at ``first``. What all bodies have in common: see ``add_points``."""
        keep: list[Any] = []
        definition = ffi.new("lm_body_def *", lib.lm_body_def_default())
        fill_body_def(definition, keep, **common)
        lattice = definition.lattice
        surface = None if mesh is None else Mesh.of(mesh)
        if (surface is None) == (cells is None):
            raise ArgumentError("add_lattice: expected a mesh, or cells")
        if surface is not None:
            _give_mesh(lattice, surface, keep)
        else:
            filled = np.ascontiguousarray(np.asarray(cells) != 0, dtype=np.uint8)
            if filled.ndim != 3:
                raise ArgumentError(f"cells: has the shape {filled.shape} (expected (z, y, x))")
            keep.append(pointer("uint8_t", filled))
            lattice.cells, lattice.counts = keep[-1], list(reversed(filled.shape))
            lattice.first = vector(first, "first")
        lattice.spacing, lattice.particles = number(spacing, "spacing"), count(particles, "particles")
        lattice.width, lattice.width_metres = count(width, "width"), number(width_metres, "width_metres")
        lattice.shell, lattice.mass = bool(shell), choose(mass_kind, LATTICE_MASSES, "mass_kind")
        if vertex_masses is not None:
            vertices = 0 if surface is None else len(surface.vertices)
            keep.append(pointer("float", per(vertex_masses, vertices, "vertex_masses", "vertex")))
            lattice.vertex_masses = keep[-1]
        self._check_masses(definition, common.get("masses"), None)
        return self._add_body(definition, _skin(skin, surface))

    def add_tets(
        self,
        tets: TetMesh | MeshLike,
        *,
        spacing: float = 0.0,
        particles: int = 0,
        mass_kind: str = "volume",
        skin: MeshLike | bool | None = True,
        **common: Any,
    ) -> Body:
        """A body of tetrahedra: given as a TetMesh, or made of a mesh with cells of ``spacing`` metres or of about as many ``particles`` as
        are wanted. Its surface is its skin, unless ``skin`` is another one or False. What all bodies have in common: see ``add_points``."""
        keep: list[Any] = []
        definition = ffi.new("lm_body_def *", lib.lm_body_def_default())
        fill_body_def(definition, keep, **common)
        c = definition.tets
        if isinstance(tets, TetMesh):
            surface = Mesh(tets.vertices, tets.faces)
            keep += [pointer("lm_vec3", tets.vertices), pointer("uint32_t", tets.tets)]
            c.vertices, c.vertex_count, c.tets, c.tet_count = keep[-2], len(tets.vertices), keep[-1], len(tets.tets)
        else:
            surface = Mesh.of(tets)
            _give_mesh(c, surface, keep)
            c.spacing, c.particles = number(spacing, "spacing"), count(particles, "particles")
        c.mass = choose(mass_kind, TETS_MASSES, "mass_kind")
        self._check_masses(
            definition, common.get("masses"), len(tets.vertices) if isinstance(tets, TetMesh) else None
        )
        return self._add_body(definition, _skin(skin, surface))

    def add_octree(
        self,
        mesh: MeshLike,
        *,
        spacing: float = 0.0,
        levels: int = 3,
        detail: float = 2.0,
        particles: int = 0,
        shell: bool = False,
        width: float = 0.0,
        slack: float = 0.5,
        vertex_sizes: Any = None,
        vertex_widths: Any = None,
        skin: MeshLike | bool | None = True,
        **common: Any,
    ) -> Body:
        """A body from any mesh, as an octree: small cells where it is thin. See ``lm_octree``. The mesh is its skin, unless ``skin`` is
        another one or False. What all bodies have in common: see ``add_points``."""
        keep: list[Any] = []
        definition = ffi.new("lm_body_def *", lib.lm_body_def_default())
        fill_body_def(definition, keep, **common)
        octree, surface = definition.octree, Mesh.of(mesh)
        _give_mesh(octree, surface, keep)
        octree.spacing, octree.levels, octree.detail = number(spacing, "spacing"), count(levels, "levels"), number(detail, "detail")
        octree.particles, octree.shell = count(particles, "particles"), bool(shell)
        octree.width, octree.slack = number(width, "width"), number(slack, "slack")
        for name, values in (("vertex_sizes", vertex_sizes), ("vertex_widths", vertex_widths)):
            if values is not None:
                keep.append(pointer("float", per(values, len(surface.vertices), name, "vertex")))
                setattr(octree, name, keep[-1])
        self._check_masses(definition, common.get("masses"), None)
        return self._add_body(definition, _skin(skin, surface))

    # ---- other things ----

    def add_collider(
        self,
        shape: str = "plane",
        *,
        radius: float = 0.5,
        half_length: float = 0.5,
        half_extents: Vector = (0.5, 0.5, 0.5),
        heights: Any = None,
        spacing: float = 1.0,
        mesh: MeshLike | None = None,
        solid: bool = False,
        deforms: bool = False,
        position: Vector = (0.0, 0.0, 0.0),
        rotation: Vector = (0.0, 0.0, 0.0, 1.0),
        mover: Mover | None = None,
        friction: float = 0.5,
        restitution: float = 0.0,
        group: int = 1,
        mask: int = 0xFFFFFFFF,
        user_data: int = 0,
    ) -> Collider:
        """A collider: "plane" (faces up), "sphere", "capsule" (along Y), "box", "heights" (a (z, x) array, ``spacing`` metres apart) or
        "mesh" (``solid``: with an inside; ``deforms``: its vertices can be moved). With a ``mover`` it rides on that, and position and
        rotation are in its frame."""
        values = dict(locals())
        for name in ("self", "shape"):
            del values[name]
        keep: list[Any] = []
        return Collider(self, self._create(lib.lm_collider_create, self._collider_def(keep, shape, **values), "lm_collider_id"))

    def _collider_def(
        self,
        keep: list[Any],
        shape: str = "plane",
        *,
        radius: float = 0.5,
        half_length: float = 0.5,
        half_extents: Vector = (0.5, 0.5, 0.5),
        heights: Any = None,
        spacing: float = 1.0,
        mesh: MeshLike | None = None,
        solid: bool = False,
        deforms: bool = False,
        position: Vector = (0.0, 0.0, 0.0),
        rotation: Vector = (0.0, 0.0, 0.0, 1.0),
        mover: Mover | None = None,
        friction: float = 0.5,
        restitution: float = 0.0,
        group: int = 1,
        mask: int = 0xFFFFFFFF,
        user_data: int = 0,
    ) -> Any:
        """An ``lm_collider_def``; ``keep`` holds what it points to."""
        c = ffi.new("lm_collider_def *", lib.lm_collider_def_default())
        c.shape = choose(shape, SHAPES, "shape")
        c.radius, c.half_length = number(radius, "radius"), number(half_length, "half_length")
        c.half_extents = vector(half_extents, "half_extents")
        if shape == "heights":
            array = np.asarray([] if heights is None else heights)
            if array.ndim != 2:
                raise ArgumentError(f"heights: has the shape {array.shape} (expected (z, x))")
            keep.append(pointer("float", floats(array.reshape(-1), 0, "heights")))
            c.heights.heights, c.heights.spacing = keep[-1], number(spacing, "spacing")
            c.heights.counts = [array.shape[1], array.shape[0]]
        elif shape == "mesh":
            if mesh is None:
                raise ArgumentError("add_collider: a mesh is missing")
            _give_mesh(c.mesh, Mesh.of(mesh), keep)
            c.mesh.solid, c.mesh.deforms = bool(solid), bool(deforms)
        c.pose = Pose.at(position, rotation)._to_c()
        if mover is not None:
            c.mover = self._own(mover)
        c.friction, c.restitution = number(friction, "friction"), number(restitution, "restitution")
        c.group, c.mask = count(group, "group"), count(mask, "mask")
        c.user_data = count(user_data, "user_data", 2**64 - 1)
        return c

    def _own(self, thing: Any) -> Id:
        """The id of something in this world."""
        if thing.world is not self:
            raise ArgumentError(f"{thing!r} belongs to another world")
        return thing.id  # type: ignore[no-any-return]

    def add_mover(
        self,
        position: Vector = (0.0, 0.0, 0.0),
        rotation: Vector = (0.0, 0.0, 0.0, 1.0),
        velocity: Vector = (0.0, 0.0, 0.0),
        spin: Vector = (0.0, 0.0, 0.0),
        *,
        mass: float = 0.0,
        inertia: Vector = (0.0, 0.0, 0.0),
        may_sleep: bool = True,
        user_data: int = 0,
    ) -> Mover:
        """A frame that moves as told or, with a ``mass``, as it is pushed: its position is its centre of mass then, and its moments of
        ``inertia`` those of its colliders where they are not given."""
        c = ffi.new("lm_mover_def *", lib.lm_mover_def_default())
        c.pose = Pose.at(position, rotation)._to_c()
        c.velocity, c.spin = vector(velocity, "velocity"), vector(spin, "spin")
        c.mass, c.inertia, c.may_sleep = mass, vector(inertia, "inertia"), may_sleep
        c.user_data = count(user_data, "user_data", 2**64 - 1)
        return Mover(self, self._create(lib.lm_mover_create, c, "lm_mover_id"))

    def add_pin(self, body: Body, particles: Any, *, targets: Any = None, mover: Mover | None = None) -> Pin:
        """Holds particles at ``targets`` (n, 3) in the world, or where they are now; riding on ``mover`` if there is one."""
        held = indices(particles, 0, "particles")
        c = ffi.new("lm_pin_def *", lib.lm_pin_def_default())
        keep = [pointer("uint32_t", held)]
        c.body, c.particles, c.particle_count = self._own(body), keep[0], len(held)
        if targets is not None:
            places = floats(targets, 3, "targets", np.float64)
            if len(places) != len(held):
                raise ArgumentError(f"targets: has {len(places)} rows (expected {len(held)}, one for each particle)")
            keep.append(pointer("lm_dvec3", places))
            c.targets = keep[-1]
        if mover is not None:
            c.mover = self._own(mover)
        return Pin(self, self._create(lib.lm_pin_create, c, "lm_pin_id"))

    def add_drag(
        self,
        body: Body,
        particle: int,
        target: Vector,
        *,
        radius: float = 0.0,
        hertz: float = 2.0,
        damping_ratio: float = 1.0,
        max_force: float | None = None,
    ) -> Drag:
        """A spring that pulls a particle, and what is within ``radius`` of it at rest, to ``target``."""
        c = ffi.new("lm_drag_def *", lib.lm_drag_def_default())
        c.body, c.particle, c.target = self._own(body), count(particle, "particle"), vector(target, "target")
        c.radius, c.hertz = number(radius, "radius"), number(hertz, "hertz")
        c.damping_ratio = number(damping_ratio, "damping_ratio")
        if max_force is not None:
            c.max_force = number(max_force, "max_force")
        return Drag(self, self._create(lib.lm_drag_create, c, "lm_drag_id"))

    def add_field(self, kind: str, **values: Any) -> Field:
        """ "uniform" (acceleration ``vector``), "wind" (``vector`` m/s, ``strength`` 1/s) or "point" (``strength`` m/s² towards ``position``
        within ``radius``)."""
        return Field(self, self._create(lib.lm_field_create, field_def(kind, **values), "lm_field_id"))

    def add_skeleton(
        self,
        body: Body,
        bones: Sequence[Bone],
        *,
        attachments: Any = None,
        position: Vector = (0.0, 0.0, 0.0),
        rotation: Vector = (0.0, 0.0, 0.0, 1.0),
        hertz: float = 8.0,
        damping_ratio: float = 0.5,
    ) -> Skeleton:
        """Bones inside a body. ``attachments``: rows of particle, bone and weight; None: by distance, as the bones say. Position and
        rotation are those that the body was made with."""
        c = ffi.new("lm_skeleton_def *", lib.lm_skeleton_def_default())
        keep = [ffi.new("lm_bone[]", [bone._to_c() for bone in bones])]
        c.body, c.bones, c.bone_count = self._own(body), keep[0], len(bones)
        if attachments is not None:
            given = attachments_of(attachments)
            keep.append(pointer("lm_attachment", given))
            c.attachments, c.attachment_count = keep[-1], len(given)
        c.pose = Pose.at(position, rotation)._to_c()
        c.hertz, c.damping_ratio = number(hertz, "hertz"), number(damping_ratio, "damping_ratio")
        return Skeleton(self, self._create(lib.lm_skeleton_create, c, "lm_skeleton_id"))

    def add_joint(
        self,
        kind: str,
        a: JointEndLike,
        b: JointEndLike,
        *,
        at: Vector | None = None,
        axis: Vector = (0.0, 0.0, 1.0),
        length: float = -1.0,
        hertz: float = 0.0,
        damping_ratio: float = 1.0,
        max_force: float | None = None,
        max_torque: float | None = None,
        user_data: int = 0,
    ) -> Joint:
        """Connects two ends, each a body, a mover, a ``JointEnd``, or None for the world; one of them a body. "glue" leaves nothing free,
        "ball" turning about ``at``, "hinge" turning about the ``axis`` through it, "distance" everything but the distance of the anchors
        (``length``; below 0: as it is now), "slider" moving along the axis. ``hertz`` 0: as stiff as can be. Beyond ``max_force`` newtons or
        ``max_torque`` N m it breaks. See docs/joints.md."""
        values = dict(locals())
        for name in ("self", "kind", "a", "b"):
            del values[name]
        keep: list[Any] = []
        return Joint(self, self._create(lib.lm_joint_create, joint_def(self, keep, kind, a, b, **values), "lm_joint_id"))

    # ---- contact rules and events ----

    def set_contact_rule(self, group_a: int, group_b: int, *, friction: float = COMBINED, restitution: float = COMBINED) -> None:
        """Friction and restitution between groups (bits)."""
        groups = count(group_a, "group_a"), count(group_b, "group_b")
        self._do(lib.lm_world_set_contact_rule, *groups, number(friction, "friction"), number(restitution, "restitution"))

    def remove_contact_rule(self, group_a: int, group_b: int) -> None:
        """Takes a rule away."""
        self._do(lib.lm_world_remove_contact_rule, count(group_a, "group_a"), count(group_b, "group_b"))

    @property
    def contact_method(self) -> str:
        """How bodies keep each other out: "solved", "penalty" or "cube_map"."""
        return word_of(self._ask(lib.lm_world_get_contact_method), METHODS)

    @contact_method.setter
    def contact_method(self, method: str) -> None:
        self._do(lib.lm_world_set_contact_method, choose(method, METHODS, "contact_method"))

    @property
    def contact_events_on(self) -> bool:
        """Whether steps keep account of who touches whom."""
        return bool(self._ask(lib.lm_world_get_contact_events_on))

    @contact_events_on.setter
    def contact_events_on(self, on: bool) -> None:
        self._do(lib.lm_world_set_contact_events, bool(on))

    def _body(self, id: Any) -> Body | None:
        return Body(self, (id.slot, id.generation)) if id.slot else None

    def _collider(self, id: Any) -> Collider | None:
        return Collider(self, (id.slot, id.generation)) if id.slot else None

    @property
    def contact_events(self) -> list[ContactEvent]:
        """Contact events of the last step."""
        with self._lock:
            found = self._ask(lib.lm_world_get_contact_events, ffi.NULL, 0)
            events = ffi.new("lm_contact_event[]", found)
            self._ask(lib.lm_world_get_contact_events, events, found)
        return [
            record(
                ContactEvent,
                e,
                phase=word_of(e.phase, PHASES),
                body=self._body(e.body),
                other=self._body(e.other),
                collider=self._collider(e.collider),
            )
            for e in events
        ]

    @property
    def breaks(self) -> list[Break]:
        """Links that broke in the last step, and in ``Body.break_links`` and cuts since then."""
        with self._lock:
            found = self._ask(lib.lm_world_get_breaks, ffi.NULL, 0)
            breaks = ffi.new("lm_break[]", found)
            self._ask(lib.lm_world_get_breaks, breaks, found)
        return [record(Break, b, body=self._body(b.body), particles=(b.particles[0], b.particles[1])) for b in breaks]

    @property
    def splits(self) -> list[Split]:
        """What ``Body.split`` made and ``Body.drop_pieces`` dropped (``made`` is None) since the last step began."""
        with self._lock:
            found = self._ask(lib.lm_world_get_splits, ffi.NULL, 0)
            splits = ffi.new("lm_split[]", found)
            self._ask(lib.lm_world_get_splits, splits, found)
        return [record(Split, s, body=self._body(s.body), made=self._body(s.made)) for s in splits]

    # ---- queries ----

    def pick(self, origin: Vector, direction: Vector, max_distance: float = np.inf) -> Hit | None:
        """The nearest body on a ray."""
        return self.cast_ray(origin, direction, max_distance, collider_groups=0)

    def cast_ray(
        self,
        origin: Vector,
        direction: Vector,
        max_distance: float = np.inf,
        body_groups: int = 0xFFFFFFFF,
        collider_groups: int = 0xFFFFFFFF,
    ) -> Hit | None:
        """The nearest body or collider on a ray, of those that have one of these groups (bits)."""
        ray = ffi.new("lm_ray *")
        ray[0] = lib.lm_ray_default(vector(origin, "origin"), vector(direction, "direction"))
        ray.max_distance = number(max_distance, "max_distance")
        ray.body_groups, ray.collider_groups = body_groups, collider_groups
        hit = ffi.new("lm_ray_hit *")
        if not self._ask(lib.lm_world_cast_ray, ray, hit):
            return None
        return record(Hit, hit, body=self._body(hit.body), collider=self._collider(hit.collider))

    def _overlap(self, function: Any, *arguments: Any) -> list[Body | Collider]:
        with self._lock:
            found = self._ask(function, *arguments, ffi.NULL, 0)
            overlaps = ffi.new("lm_overlap[]", found)
            self._ask(function, *arguments, overlaps, found)
        things = (self._body(o.body) or self._collider(o.collider) for o in overlaps)
        return [thing for thing in things if thing is not None]

    def overlap_sphere(self, centre: Vector, radius: float) -> list[Body | Collider]:
        """Bodies and colliders that a ball touches or has inside."""
        return self._overlap(lib.lm_world_overlap_sphere, vector(centre, "centre"), number(radius, "radius"))

    def overlap_box(
        self, centre: Vector, half_extents: Vector, rotation: Vector = (0.0, 0.0, 0.0, 1.0)
    ) -> list[Body | Collider]:
        """The same for a box."""
        pose = Pose.at(centre, rotation)._to_c()
        return self._overlap(lib.lm_world_overlap_box, pose, vector(half_extents, "half_extents"))

    # ---- statistics ----

    @property
    def stats(self) -> Stats:
        """Counts, and what the last step measured."""
        c = ffi.new("lm_stats *")
        self._ask(lib.lm_world_get_stats, c)
        names = [text(lib.lm_stage_name(stage)) for stage in range(lib.LM_STAGE_COUNT)]
        return record(
            Stats, c, stage_seconds=dict(zip(names, list(c.stage_seconds))), mutual=record(ContactStats, c.mutual)
        )

    @property
    def totals(self) -> Totals:
        """Sums over all particles now."""
        c = ffi.new("lm_totals *")
        self._ask(lib.lm_world_get_totals, c)
        return record(Totals, c)

    # ---- snapshots ----

    @property
    def hash(self) -> int:
        """A 64-bit hash of the state: the same for the same calls, on every machine and number of workers."""
        return int(self._ask(lib.lm_world_hash))

    def save(self) -> bytes:
        """Everything that the future depends on."""
        with self._lock:
            buffer = bytearray(self._ask(lib.lm_world_save_size))
            self._do(lib.lm_world_save, ffi.from_buffer(buffer), len(buffer))
            return bytes(buffer)

    def load(self, snapshot: bytes) -> None:
        """Puts what was saved in the place of the world's contents."""
        view = memoryview(snapshot).cast("B")
        self._do(lib.lm_world_load, ffi.from_buffer(view), len(view))

    @property
    def structure(self) -> int:
        """Stands for all that :meth:`load_state` does not bring back: bodies and colliders that there are, rest shapes, cuts."""
        return int(self._ask(lib.lm_world_structure))

    def save_state(self) -> bytes:
        """State alone, for rollback: a fraction of what :meth:`save` gives, and loaded in a fraction of its time."""
        with self._lock:
            buffer = bytearray(self._ask(lib.lm_world_state_size))
            size = ffi.new("size_t *")
            self._do(lib.lm_world_save_state, ffi.from_buffer(buffer), len(buffer), size)
            return bytes(memoryview(buffer)[: size[0]])

    def load_state(self, state: bytes) -> None:
        """Brings back what :meth:`save_state` gave, while the :attr:`structure` is what it was then."""
        view = memoryview(state).cast("B")
        self._do(lib.lm_world_load_state, ffi.from_buffer(view), len(view))

    def copy(self, **settings: Any) -> World:
        """A world in the same state. ``settings``: ``workers``, ``isa``, ``device`` or ``memory_limit`` of its own."""
        return _revive({**self._host_settings, **settings}, self.save())

    def __copy__(self) -> World:
        return self.copy()

    def __deepcopy__(self, _: Any) -> World:
        return self.copy()

    def __reduce__(self) -> Any:
        return _revive, (self._host_settings, self.save())


def _revive(settings: dict[str, Any], snapshot: bytes) -> World:
    world = World(**settings)
    world.load(snapshot)
    return world


def _give_mesh(definition: Any, mesh: Mesh, keep: list[Any]) -> None:
    keep += [pointer("lm_vec3", mesh.vertices), pointer("uint32_t", mesh.faces)]
    definition.vertices, definition.vertex_count = keep[-2], len(mesh.vertices)
    definition.triangles, definition.triangle_count = keep[-1], len(mesh.faces)


def _skin(skin: MeshLike | bool | None, surface: Mesh | None) -> Mesh | None:
    if skin is True:
        return surface
    return None if skin is None or skin is False else Mesh.of(skin)


@dataclasses.dataclass
class Device:
    """An OpenCL device; see ``lm_device_info``."""

    name: str
    platform: str
    memory: int
    units: int
    gpu: bool
    usable: bool
    fault: str


def devices() -> list[Device]:
    """All OpenCL devices of the machine; the number of one, or a part of its name, is what ``World(device=...)`` takes."""
    found = lib.lm_device_list(ffi.NULL, 0)
    infos = ffi.new("lm_device_info[]", found)
    lib.lm_device_list(infos, found)
    return [record(Device, d, name=text(d.name), platform=text(d.platform), fault=text(d.fault)) for d in infos]


def instruction_sets() -> list[str]:
    """Instruction sets that this machine can run."""
    return [name for name, isa in ISAS.items() if name != "best" and lib.lm_isa_supported(isa)]
