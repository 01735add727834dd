"""What a world has besides bodies and joints: colliders, movers, pins, drags, fields, skeletons."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from ._core import (
    Array,
    ArgumentError,
    Floats,
    Id,
    Vector,
    count,
    ffi,
    floats,
    indices,
    lib,
    number,
    output,
    pointer,
    record,
    to_array,
    vector,
    word_of,
    words,
)
from .material import Pose

if TYPE_CHECKING:
    from .body import Body
    from .world import World

SHAPES = words("lm_shape", "LM_SHAPE_")
FIELDS = words("lm_field_kind", "LM_FIELD_")


@dataclasses.dataclass
class Wrench:
    """What bodies have given something that does not yield; see ``lm_wrench``."""

    impulse: Array  #: N s
    angular: Array  #: N m s, about its position


class _Thing:
    """Something in a world that has an id."""

    _destroy: Any = None

    def __init__(self, world: World, id: Id) -> None:
        self.world = world
        self.id = id

    def __repr__(self) -> str:
        return f"<limber.{type(self).__name__} {self.id[0]}.{self.id[1]}>"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.world is self.world and other.id == self.id  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash((type(self), id(self.world), self.id))

    def __reduce__(self) -> Any:
        return type(self), (self.world, self.id)

    def _do(self, function: Any, *arguments: Any) -> None:
        self.world._do(function, self.id, *arguments)

    def _do_within(self, function: Any, *arguments: Any) -> None:
        """The same for what a substep function may do too."""
        self.world._do_within(function, self.id, *arguments)

    def _wrenches(self, function: Any) -> tuple[Wrench, Wrench]:
        step, substep = ffi.new("lm_wrench *"), ffi.new("lm_wrench *")
        self._do_within(function, step, substep)
        return record(Wrench, step), record(Wrench, substep)

    def destroy(self) -> None:
        """Takes it out of the world."""
        self._do(type(self)._destroy)


class Collider(_Thing):
    """A plane, ball, capsule, box, height map or mesh that bodies do not enter."""

    _destroy = staticmethod(lib.lm_collider_destroy)

    @property
    def pose(self) -> Pose:
        """Where it is now, in the world."""
        pose = ffi.new("lm_pose *")
        self._do_within(lib.lm_collider_get_pose, pose)
        return Pose._from_c(pose)

    @pose.setter
    def pose(self, pose: Any) -> None:
        """Puts it elsewhere at once: in the world, or in the frame of its mover."""
        self._do(lib.lm_collider_set_pose, Pose.at(*pose)._to_c())

    def _def(self) -> Any:
        definition = ffi.new("lm_collider_def *")
        self._do(lib.lm_collider_get_def, definition)
        return definition

    @property
    def shape(self) -> str:
        """ "plane", "sphere", "capsule", "box", "heights" or "mesh"."""
        return word_of(self._def().shape, SHAPES)

    @property
    def size(self) -> dict[str, Any]:
        """What it was made with, as far as its shape uses it."""
        with self.world._lock:
            c, shape = self._def(), self.shape
            if shape == "sphere":
                return {"radius": c.radius}
            if shape == "capsule":
                return {"radius": c.radius, "half_length": c.half_length}
            if shape == "box":
                return {"half_extents": to_array(c.half_extents)}
            if shape == "heights":
                counts = tuple(c.heights.counts)
                floats = np.frombuffer(ffi.buffer(c.heights.heights, counts[0] * counts[1] * 4), dtype=np.float32)
                return {"heights": floats.reshape(counts[1], counts[0]).copy(), "spacing": c.heights.spacing}
            if shape == "mesh":
                vertices = np.frombuffer(ffi.buffer(c.mesh.vertices, c.mesh.vertex_count * 12), dtype=np.float32)
                faces = np.frombuffer(ffi.buffer(c.mesh.triangles, c.mesh.triangle_count * 12), dtype=np.uint32)
                return {
                    "vertices": vertices.reshape(-1, 3).copy(),
                    "faces": faces.reshape(-1, 3).copy(),
                    "solid": bool(c.mesh.solid),
                    "deforms": bool(c.mesh.deforms),
                }
            return {}

    def set(self, shape: str, **values: Any) -> None:
        """Makes it what another definition says; the arguments are those of ``World.add_collider``."""
        keep: list[Any] = []
        self._do(lib.lm_collider_set_def, self.world._collider_def(keep, shape, **values))

    @property
    def friction(self) -> float:
        """Coulomb's coefficient."""
        return float(self._def().friction)

    @friction.setter
    def friction(self, friction: float) -> None:
        with self.world._lock:
            self._do(lib.lm_collider_set_friction, number(friction, "friction"), self._def().restitution)

    @property
    def restitution(self) -> float:
        """0 to 1."""
        return float(self._def().restitution)

    @restitution.setter
    def restitution(self, restitution: float) -> None:
        with self.world._lock:
            self._do(lib.lm_collider_set_friction, self._def().friction, number(restitution, "restitution"))

    @property
    def filter(self) -> tuple[int, int]:
        """Its group, and the groups of bodies that it touches, as bits."""
        c = self._def()
        return int(c.group), int(c.mask)

    @filter.setter
    def filter(self, filter: tuple[int, int]) -> None:
        group, mask = filter
        self._do(lib.lm_collider_set_filter, count(group, "group"), count(mask, "mask"))

    @property
    def enabled(self) -> bool:
        """Whether it touches anything and is found by rays."""
        return bool(self.world._ask(lib.lm_collider_is_enabled, self.id))

    @enabled.setter
    def enabled(self, enabled: bool) -> None:
        self._do(lib.lm_collider_set_enabled, bool(enabled))

    @property
    def user_data(self) -> int:
        """A number of yours, 64 bits."""
        return int(self._def().user_data)

    @user_data.setter
    def user_data(self, user_data: int) -> None:
        self._do(lib.lm_collider_set_user_data, count(user_data, "user_data", 2**64 - 1))

    @property
    def vertices(self) -> Floats:
        """Of a mesh, where they are now in its frame. Assign others to put those of a mesh that deforms there at once."""
        with self.world._lock:
            c = self._def()
            if c.mesh.vertices == ffi.NULL:
                raise ArgumentError("vertices: it is no mesh")
            return np.frombuffer(ffi.buffer(c.mesh.vertices, c.mesh.vertex_count * 12), dtype=np.float32).reshape(-1, 3).copy()

    @vertices.setter
    def vertices(self, vertices: Any) -> None:
        array = floats(vertices, 3, "vertices")
        self._do(lib.lm_collider_set_vertices, pointer("lm_vec3", array), len(array))

    @property
    def wrench(self) -> Wrench:
        """What contacts gave it in the last step, about its position."""
        return self._wrenches(lib.lm_collider_get_wrench)[0]

    @property
    def substep_wrench(self) -> Wrench:
        """The same in the last substep."""
        return self._wrenches(lib.lm_collider_get_wrench)[1]

    def move_vertices(self, vertices: Any) -> None:
        """The next step ends with the vertices of a mesh that deforms there, (n, 3) in its frame; bodies get their velocity."""
        array = floats(vertices, 3, "vertices")
        self._do(lib.lm_collider_move_vertices, pointer("lm_vec3", array), len(array))


class Mover(_Thing):
    """A frame that moves as told or, with a mass, as it is pushed; colliders, pins and joints can ride on it."""

    _destroy = staticmethod(lib.lm_mover_destroy)

    def _def(self) -> Any:
        definition = ffi.new("lm_mover_def *")
        self._do(lib.lm_mover_get_def, definition)
        return definition

    @property
    def velocity(self) -> Array:
        """m/s."""
        return to_array(self._def().velocity)

    @property
    def spin(self) -> Array:
        """rad/s."""
        return to_array(self._def().spin)

    @property
    def user_data(self) -> int:
        """A number of yours, 64 bits."""
        return int(self._def().user_data)

    @user_data.setter
    def user_data(self, user_data: int) -> None:
        self._do(lib.lm_mover_set_user_data, count(user_data, "user_data", 2**64 - 1))

    @property
    def pose(self) -> Pose:
        """Where it is now."""
        pose = ffi.new("lm_pose *")
        self._do_within(lib.lm_mover_get_pose, pose)
        return Pose._from_c(pose)

    @pose.setter
    def pose(self, pose: Any) -> None:
        """Puts it elsewhere at once, with what rides on it."""
        self._do(lib.lm_mover_set_pose, Pose.at(*pose)._to_c())

    def set_velocity(self, velocity: Vector, spin: Vector = (0.0, 0.0, 0.0)) -> None:
        """From now on it moves so, m/s and rad/s."""
        self._do(lib.lm_mover_set_velocity, vector(velocity, "velocity"), vector(spin, "spin"))

    def move_to(self, position: Vector, rotation: Vector = (0.0, 0.0, 0.0, 1.0)) -> None:
        """The next step ends with this pose. Not for a mover with mass."""
        self._do(lib.lm_mover_move_to, Pose.at(position, rotation)._to_c())

    def steer(self, position: Vector, rotation: Vector, velocity: Vector, spin: Vector = (0.0, 0.0, 0.0)) -> None:
        """It is there at once and moves so from now on, and wakes nobody: for ``World.substep_function``."""
        pose = Pose.at(position, rotation)._to_c()
        self._do_within(lib.lm_mover_steer, pose, vector(velocity, "velocity"), vector(spin, "spin"))

    @property
    def wrench(self) -> Wrench:
        """What contacts with its colliders, pins and joints gave it in the last step, about its position."""
        return self._wrenches(lib.lm_mover_get_wrench)[0]

    @property
    def substep_wrench(self) -> Wrench:
        """The same in the last substep."""
        return self._wrenches(lib.lm_mover_get_wrench)[1]

    @property
    def mass(self) -> float:
        """Kilograms; 0: it moves as told."""
        return float(self._def().mass)

    @property
    def inertia(self) -> Array:
        """Moments about its axes, kg m², as they were given; 0: those of its colliders."""
        return to_array(self._def().inertia)

    def set_mass(self, mass: float, inertia: Vector = (0.0, 0.0, 0.0)) -> None:
        """Gives it another mass and other moments of inertia."""
        self._do(lib.lm_mover_set_mass, mass, vector(inertia, "inertia"))

    def apply_impulse(self, impulse: Vector, point: Vector) -> None:
        """Gives a mover with mass an impulse, N s, at a point of the world."""
        self._do(lib.lm_mover_apply_impulse, vector(impulse, "impulse"), vector(point, "point"))

    @property
    def is_awake(self) -> bool:
        """Whether it takes part in steps."""
        return bool(self.world._ask(lib.lm_mover_is_awake, self.id))

    @property
    def may_sleep(self) -> bool:
        """Whether it may sleep, with a mass, where bodies do."""
        return bool(self._def().may_sleep)

    @may_sleep.setter
    def may_sleep(self, may_sleep: bool) -> None:
        self._do(lib.lm_mover_set_may_sleep, bool(may_sleep))

    def wake(self) -> None:
        """Wakes it, and what sleeps with it."""
        self._do(lib.lm_mover_wake)


class Pin(_Thing):
    """Holds particles at points of the world or of a mover."""

    _destroy = staticmethod(lib.lm_pin_destroy)

    def _info(self) -> Any:
        info = ffi.new("lm_pin_info *")
        self._do(lib.lm_pin_get_info, info)
        return info

    @property
    def body(self) -> Body:
        """Whose particles it holds."""
        from .body import Body

        found = self._info().body
        return Body(self.world, (found.slot, found.generation))

    @property
    def mover(self) -> Mover | None:
        """What it rides on; None: the world."""
        found = self._info().mover
        return Mover(self.world, (found.slot, found.generation)) if found.slot else None

    @property
    def particles(self) -> Array:
        """Indices of the particles that it holds."""
        with self.world._lock:
            particles = np.empty(self._info().particles, dtype=np.uint32)
            self._do(lib.lm_pin_get_targets, pointer("uint32_t", particles), ffi.NULL)
            return particles

    @property
    def targets(self) -> Array:
        """Where they are held now, in the world, (n, 3) float64. Assign others to move them."""
        with self.world._lock:
            targets = np.empty((self._info().particles, 3), dtype=np.float64)
            self._do(lib.lm_pin_get_targets, ffi.NULL, pointer("lm_dvec3", targets))
            return targets

    @targets.setter
    def targets(self, targets: Any) -> None:
        with self.world._lock:
            places = floats(targets, 3, "targets", np.float64)
            held = self._info().particles
            if len(places) != held:
                raise ArgumentError(f"targets: has {len(places)} rows (expected {held}, one for each particle)")
            self._do(lib.lm_pin_set_targets, pointer("lm_dvec3", places))


class Drag(_Thing):
    """A spring from a point to a particle and its surroundings: a hand that pulls."""

    _destroy = staticmethod(lib.lm_drag_destroy)

    def _def(self) -> Any:
        definition = ffi.new("lm_drag_def *")
        self._do(lib.lm_drag_get_def, definition)
        return definition

    @property
    def values(self) -> dict[str, Any]:
        """What it was made with, or was set since: particle, target, radius, hertz, damping_ratio, max_force."""
        c = self._def()
        plain = {name: getattr(c, name) for name in ("particle", "radius", "hertz", "damping_ratio", "max_force")}
        return {**plain, "target": to_array(c.target)}

    def set(self, **changes: Any) -> None:
        """Changes any of ``values``."""
        with self.world._lock:
            c = self._def()
            for name, value in changes.items():
                if name not in self.values:
                    raise ArgumentError(f"{name}: is none of {', '.join(self.values)}")
                if name == "target":
                    c.target = vector(value, name)
                else:
                    setattr(c, name, count(value, name) if name == "particle" else number(value, name))
            self._do(lib.lm_drag_set_def, c)

    def set_target(self, target: Vector) -> None:
        """Moves the point that it pulls to."""
        self._do(lib.lm_drag_set_target, vector(target, "target"))

    @property
    def force(self) -> Array:
        """On the body in the last substep, newtons."""
        force = ffi.new("lm_vec3 *")
        self._do(lib.lm_drag_get_force, force)
        return to_array(force)


class Field(_Thing):
    """An acceleration everywhere, wind, or a pull towards a point."""

    _destroy = staticmethod(lib.lm_field_destroy)

    @property
    def values(self) -> dict[str, Any]:
        """What it was made with, or was set since: kind, vector, position, strength, radius."""
        c = ffi.new("lm_field_def *")
        self._do(lib.lm_field_get, c)
        vectors = {"vector": to_array(c.vector), "position": to_array(c.position)}
        return {"kind": word_of(c.kind, FIELDS), **vectors, "strength": c.strength, "radius": c.radius}

    def set(self, kind: str, **values: Any) -> None:
        """Replaces it; the arguments are those of ``World.add_field``."""
        self._do(lib.lm_field_set, field_def(kind, **values))


def field_def(
    kind: str,
    *,
    vector: Vector = (0.0, 0.0, 0.0),
    position: Vector = (0.0, 0.0, 0.0),
    strength: float = 1.0,
    radius: float = 1.0,
) -> Any:
    """An ``lm_field_def``."""
    from ._core import choose, vector as to_vector

    definition = ffi.new("lm_field_def *", lib.lm_field_def_default())
    definition.kind = choose(kind, FIELDS, "kind")
    definition.vector, definition.position = to_vector(vector, "vector"), to_vector(position, "position")
    definition.strength, definition.radius = number(strength, "strength"), number(radius, "radius")
    return definition


@dataclasses.dataclass
class Bone:
    """A bone of a skeleton: its frame in the rest pose of the body, where its segment ends in that frame, and how far around it
    particles are attached (``radius`` below 0: none)."""

    position: Vector = (0.0, 0.0, 0.0)
    rotation: Vector = (0.0, 0.0, 0.0, 1.0)
    tail: Vector = (0.0, 0.0, 0.0)
    radius: float = -1.0
    fade: float = 0.0

    def _to_c(self) -> dict[str, Any]:
        return {
            "rest": Pose.at(self.position, self.rotation)._to_c(),
            "tail": vector(self.tail, "tail"),
            "radius": number(self.radius, "radius"),
            "fade": number(self.fade, "fade"),
        }


@dataclasses.dataclass
class SkeletonInfo:
    """Counts of a skeleton; see ``lm_skeleton_info``."""

    bones: int
    attachments: int
    particles: int
    held: int
    hertz: float
    damping_ratio: float


#: An attachment as numpy sees it.
ATTACHMENT = np.dtype([("particle", np.uint32), ("bone", np.uint32), ("weight", np.float32)])


class Skeleton(_Thing):
    """Bones inside a body, moved by the program."""

    _destroy = staticmethod(lib.lm_skeleton_destroy)

    def _info(self) -> Any:
        info = ffi.new("lm_skeleton_info *")
        self._do(lib.lm_skeleton_get_info, info)
        return info

    @property
    def info(self) -> SkeletonInfo:
        """Counts."""
        return record(SkeletonInfo, self._info())

    @property
    def body(self) -> Body:
        """Whose skeleton it is."""
        from .body import Body

        found = self._info().body
        return Body(self.world, (found.slot, found.generation))

    def set_spring(self, hertz: float, damping_ratio: float) -> None:
        """Another pull on what is attached, from now on."""
        self._do(lib.lm_skeleton_set_spring, hertz, damping_ratio)

    def _poses(self, poses: Sequence[Any]) -> Any:
        bones = self._info().bones
        if len(poses) != bones:
            raise ArgumentError(f"poses: has {len(poses)} (expected {bones}, one for each bone)")
        return ffi.new("lm_pose[]", [Pose.at(*pose)._to_c() for pose in poses])

    def move_to(self, poses: Sequence[Any]) -> None:
        """The next step ends with these world poses, (position, rotation) for each bone."""
        with self.world._lock:
            self._do(lib.lm_skeleton_move_to, self._poses(poses))

    def set_poses(self, poses: Sequence[Any]) -> None:
        """The bones are there at once; the flesh is not moved along."""
        with self.world._lock:
            self._do(lib.lm_skeleton_set_poses, self._poses(poses))

    @property
    def poses(self) -> list[Pose]:
        """World poses of the bones now."""
        with self.world._lock:
            poses = ffi.new("lm_pose[]", self._info().bones)
            self._do(lib.lm_skeleton_get_poses, poses)
            return [Pose._from_c(pose) for pose in poses]

    def set_mover(self, bone: int, mover: Mover | None) -> None:
        """A bone rides on a mover from now on, as it stands to it now; None: on none. One with mass is pushed by what its bones hold."""
        target = self.world._own(mover) if mover is not None else (0, 0)
        self._do(lib.lm_skeleton_set_mover, count(bone, "bone"), target)

    def get_mover(self, bone: int) -> Mover | None:
        """What a bone rides on; None: nothing."""
        with self.world._lock:
            found = ffi.new("lm_mover_id *")
            self._do(lib.lm_skeleton_get_mover, count(bone, "bone"), found)
            return Mover(self.world, (found.slot, found.generation)) if found.slot else None

    @property
    def wrenches(self) -> list[Wrench]:
        """What the flesh gave each bone in the last step, about where the bone's frame was."""
        with self.world._lock:
            found = ffi.new("lm_wrench[]", self._info().bones)
            self._do(lib.lm_skeleton_get_wrenches, found)
            return [record(Wrench, wrench) for wrench in found]

    @property
    def bones(self) -> list[Bone]:
        """As they were defined."""
        with self.world._lock:
            bones = ffi.new("lm_bone[]", self._info().bones)
            self._do(lib.lm_skeleton_get_bones, bones)
            return [
                Bone(to_array(b.rest.position), to_array(b.rest.rotation), to_array(b.tail), b.radius, b.fade) for b in bones
            ]

    @property
    def attachments(self) -> Array:
        """A structured array of ``particle``, ``bone`` and ``weight``."""
        with self.world._lock:
            attachments = np.empty(self._info().attachments, dtype=ATTACHMENT)
            self._do(lib.lm_skeleton_get_attachments, pointer("lm_attachment", attachments))
            return attachments

    def get_targets(self, base: Vector = (0.0, 0.0, 0.0), out: Array | None = None) -> tuple[Floats, Floats]:
        """Where the bones want the particles: positions (n, 3) and weights (n)."""
        with self.world._lock:
            particles = self.body._info().particles
            positions = output(out, (particles, 3), np.float32)
            weights = np.empty(particles, dtype=np.float32)
            where = pointer("lm_vec3", positions), pointer("float", weights)
            self._do(lib.lm_skeleton_get_targets, vector(base, "base"), *where)
            return positions, weights


def attachments_of(values: Any) -> Array:
    """Attachments from a structured array, or from rows of particle, bone and weight."""
    array = np.asarray(values)
    if array.dtype == ATTACHMENT:
        return np.ascontiguousarray(array)
    rows = np.asarray([tuple(row) for row in values], dtype=np.float64).reshape(-1, 3)
    made = np.empty(len(rows), dtype=ATTACHMENT)
    made["particle"] = indices(rows[:, 0].astype(np.int64), 0, "attachments")
    made["bone"] = indices(rows[:, 1].astype(np.int64), 0, "attachments")
    made["weight"] = rows[:, 2]
    return made
