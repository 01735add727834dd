"""Joints between bodies, movers, bones and the world; and what bodies give to things that do not yield."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from ._core import Array, ArgumentError, Indices, Vector, choose, count, ffi, indices, lib, number, pointer, record, to_array, vector, word_of, words
from .body import Body
from .things import Mover, Skeleton, _Thing

if TYPE_CHECKING:
    from .world import World

KINDS = words("lm_joint_kind", "LM_JOINT_")


@dataclasses.dataclass
class JointEnd:
    """One end of a joint: a patch of a ``body``, a ``mover``, a ``bone`` of a ``skeleton``, or (nothing given) the world.

    ``anchor``: where it is attached now, in the world; None: the ``at`` of the joint. ``particles``: those of the patch; None: those within
    ``radius`` metres of the anchor, at rest, and at least the eight nearest (``math.inf``: all of the body)."""

    body: Body | None = None
    anchor: Vector | None = None
    particles: Any = None
    radius: float = 0.0
    mover: Mover | None = None
    skeleton: Skeleton | None = None
    bone: int = 0

    @classmethod
    def of(cls, thing: JointEndLike) -> JointEnd:
        """An end from a body, a mover, an end or None."""
        if isinstance(thing, JointEnd):
            return thing
        if isinstance(thing, Body):
            return cls(body=thing)
        if isinstance(thing, Mover):
            return cls(mover=thing)
        if thing is None:
            return cls()
        raise ArgumentError(f"a joint: is attached to {thing!r} (expected a Body, a Mover, a JointEnd or None)")


JointEndLike = Union[Body, Mover, JointEnd, None]


@dataclasses.dataclass
class JointState:
    """Where the anchors are, and what the joint did in the last substep; see ``lm_joint_state``."""

    anchor: Array  #: (2, 3), of a and b
    force: Array  #: newtons on b
    torque: Array  #: N m on b
    apart: float  #: metres
    turned: float  #: radians


class Joint(_Thing):
    """Connects two ends; ``World.add_joint`` makes one."""

    _destroy = staticmethod(lib.lm_joint_destroy)

    def _info(self) -> Any:
        info = ffi.new("lm_joint_info *")
        self._do(lib.lm_joint_get_info, info)
        return info

    @property
    def kind(self) -> str:
        """ "glue", "ball", "hinge", "distance" or "slider"."""
        return word_of(self._info().kind, KINDS)

    @property
    def ends(self) -> tuple[JointEnd, JointEnd]:
        """What it connects, with the particles of patches and the anchors of now."""
        with self.world._lock:
            info, state = self._info(), self.state
            a, b = (self._end(info, n, state.anchor[n]) for n in range(2))
            return a, b

    def _end(self, info: Any, n: int, anchor: Array) -> JointEnd:
        def own(kind: Any, id: Any) -> Any:
            return kind(self.world, (id.slot, id.generation)) if id.slot else None

        body = own(Body, info.body[n])
        return JointEnd(
            body=body,
            anchor=anchor,
            particles=self._particles(info, n) if body is not None else None,
            mover=own(Mover, info.mover[n]),
            skeleton=own(Skeleton, info.skeleton[n]),
            bone=int(info.bone[n]),
        )

    def _particles(self, info: Any, n: int) -> Indices:
        particles = np.empty(info.particles[n], dtype=np.uint32)
        self._do(lib.lm_joint_get_particles, n, pointer("uint32_t", particles))
        return particles

    @property
    def state(self) -> JointState:
        """Where its anchors are, its force, and how far off what it holds is."""
        c = ffi.new("lm_joint_state *")
        self._do(lib.lm_joint_get_state, c)
        return record(JointState, c, anchor=np.array([to_array(anchor) for anchor in c.anchor]))

    @property
    def length(self) -> float:
        """Of a distance, metres."""
        return float(self._info().length)

    @length.setter
    def length(self, length: float) -> None:
        self._do(lib.lm_joint_set_length, number(length, "length"))

    @property
    def spring(self) -> tuple[float, float]:
        """Its frequency (hertz, 0: as stiff as can be) and its damping ratio."""
        info = self._info()
        return float(info.hertz), float(info.damping_ratio)

    @spring.setter
    def spring(self, spring: tuple[float, float]) -> None:
        hertz, damping_ratio = vector(spring, "spring", 2)
        self._do(lib.lm_joint_set_spring, hertz, damping_ratio)

    @property
    def strength(self) -> tuple[float, float]:
        """The force (newtons) and the torque (N m) beyond which it breaks."""
        info = self._info()
        return float(info.max_force), float(info.max_torque)

    @strength.setter
    def strength(self, strength: tuple[float, float]) -> None:
        max_force, max_torque = vector(strength, "strength", 2)
        self._do(lib.lm_joint_set_strength, max_force, max_torque)

    @property
    def enabled(self) -> bool:
        """Whether it holds anything; setting this mends one that has broken."""
        return bool(self._info().enabled)

    @enabled.setter
    def enabled(self, enabled: bool) -> None:
        self._do(lib.lm_joint_set_enabled, bool(enabled))

    @property
    def broken(self) -> bool:
        """Whether it has broken."""
        return bool(self._info().broken)

    @property
    def user_data(self) -> int:
        """A number of yours, 64 bits."""
        return int(self._info().user_data)

    @user_data.setter
    def user_data(self, user_data: int) -> None:
        self._do(lib.lm_joint_set_user_data, count(user_data, "user_data", 2**64 - 1))


def _fill_end(world: World, c: Any, end: JointEnd, at: Vector | None, keep: list[Any]) -> None:
    if sum(thing is not None for thing in (end.body, end.mover, end.skeleton)) > 1:
        raise ArgumentError("a joint: an end is a body, a mover or a bone, one of them")
    anchor = at if end.anchor is None else end.anchor
    if anchor is None:
        raise ArgumentError("a joint: an end has no anchor (expected `at`, or an anchor of each end)")
    c.anchor = vector(anchor, "anchor")
    if end.body is not None:
        c.body, c.radius = world._own(end.body), number(end.radius, "radius")
        if end.particles is not None:
            patch = indices(end.particles, 0, "particles")
            keep.append(pointer("uint32_t", patch))
            c.particles, c.particle_count = keep[-1], len(patch)
    elif end.mover is not None:
        c.mover = world._own(end.mover)
    elif end.skeleton is not None:
        c.skeleton, c.bone = world._own(end.skeleton), count(end.bone, "bone")


def joint_def(
    world: World,
    keep: list[Any],
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
) -> Any:
    """An ``lm_joint_def``; ``keep`` holds what it points to."""
    c = ffi.new("lm_joint_def *", lib.lm_joint_def_default())
    c.kind = choose(kind, KINDS, "kind")
    _fill_end(world, c.a, JointEnd.of(a), at, keep)
    _fill_end(world, c.b, JointEnd.of(b), at, keep)
    c.axis, c.length = vector(axis, "axis"), number(length, "length")
    c.hertz, c.damping_ratio = number(hertz, "hertz"), number(damping_ratio, "damping_ratio")
    if max_force is not None:
        c.max_force = number(max_force, "max_force")
    if max_torque is not None:
        c.max_torque = number(max_torque, "max_torque")
    c.user_data = count(user_data, "user_data", 2**64 - 1)
    return c
