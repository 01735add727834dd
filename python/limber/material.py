"""Materials, sleep and poses: plain values that are handed to worlds and bodies."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from ._core import Array, ArgumentError, Vector, choose, ffi, lib, number, count, to_array, vector, word_of, words

MODES = words("lm_mode", "LM_MODE_")
STIFFNESSES = words("lm_stiffness", "LM_STIFFNESS_")
PRESETS = tuple(ffi.string(lib.lm_material_preset_name(n)).decode() for n in range(lib.LM_PRESET_COUNT))
DAMPINGS = words("lm_damping", "LM_DAMPING_")


@dataclasses.dataclass
class Material:
    """What a body is made of; see ``lm_material`` in the header for what each value does and its range.

    Stiffness is a frequency (``hertz``), a Young's modulus (``young``, with ``poisson``) or a ``sag``, whichever is above 0, and a
    damping ratio, whatever the time step. With ``stiffness="alpha"`` the papers' own ``alpha`` and ``damping`` count instead.
    """

    mode: str = "linear"  #: "rigid", "linear" or "quadratic"
    stiffness: str = "given"  #: "given", "hertz", "young", "sag" or "alpha"
    hertz: float = 0.0
    young: float = 0.0  #: Pa
    poisson: float = 0.3
    sag: float = 0.0  #: share of its height by which a body sinks under its own weight
    damping_ratio: float = 0.1
    alpha: float = 0.5
    damping: float = 0.0
    damping_kind: str = "global"  #: "global" or "regional"
    damping_every: int = 1
    beta: float = 0.5
    yield_: float = 0.0  #: strain above which the shape flows; 0: never (``yield`` is a word of Python)
    creep: float = 5.0
    max_plastic: float = 0.5
    friction: float = 0.5
    restitution: float = 0.0

    @classmethod
    def preset(cls, name: str) -> Material:
        """A material by its name: "jelly", "rubber", "foam", "clay" and others; see ``lm_material_preset``."""
        c = ffi.new("lm_material *")
        if not lib.lm_material_preset(name.encode(), c, ffi.NULL):
            raise ArgumentError(f"material: there is no preset {name!r} (expected one of {', '.join(PRESETS)})")
        return cls._from_c(c)

    def replace(self, **changes: Any) -> Material:
        """A copy with some values changed."""
        return dataclasses.replace(self, **changes)

    @staticmethod
    def _of(value: Any) -> Any:
        if not isinstance(value, Material):
            raise ArgumentError(f"material: is {value!r} (expected a limber.Material)")
        return value._to_c()

    def _to_c(self) -> Any:
        c = ffi.new("lm_material *")
        c.mode = choose(self.mode, MODES, "material.mode")
        c.stiffness = choose(self.stiffness, STIFFNESSES, "material.stiffness")
        c.damping_kind = choose(self.damping_kind, DAMPINGS, "material.damping_kind")
        c.damping_every = count(self.damping_every, "material.damping_every")
        for field in dataclasses.fields(self):
            if str(field.type) == "float":
                setattr(c, field.name.rstrip("_"), number(getattr(self, field.name), f"material.{field.name}"))
        return c

    @classmethod
    def _from_c(cls, c: Any) -> Material:
        values = {f.name: getattr(c, f.name.rstrip("_")) for f in dataclasses.fields(cls)}
        values["mode"] = word_of(c.mode, MODES)
        values["stiffness"] = word_of(c.stiffness, STIFFNESSES)
        values["damping_kind"] = word_of(c.damping_kind, DAMPINGS)
        return cls(**values)


@dataclasses.dataclass
class Sleep:
    """When bodies at rest are left out of the step: slower than ``speed`` (m/s) for ``seconds``."""

    enabled: bool = False
    speed: float = 0.05
    seconds: float = 0.5


class Pose(NamedTuple):
    """A rigid frame: first rotate (a quaternion, x y z w), then move."""

    position: Array
    rotation: Array

    @classmethod
    def at(cls, position: Vector = (0.0, 0.0, 0.0), rotation: Vector = (0.0, 0.0, 0.0, 1.0)) -> Pose:
        """A pose from any sequences of three and four numbers."""
        return cls(np.array(vector(position, "position")), np.array(vector(rotation, "rotation", 4)))

    @classmethod
    def turned(cls, axis: Vector, degrees: float, position: Vector = (0.0, 0.0, 0.0)) -> Pose:
        """A pose that is turned about an axis."""
        unit = np.array(vector(axis, "axis"))
        length = float(np.linalg.norm(unit))
        if not length > 0.0 or not np.isfinite(length):
            raise ArgumentError("axis: has no direction")
        half = np.radians(number(degrees, "degrees")) / 2.0
        return cls.at(position, np.concatenate([np.sin(half) * unit / length, [np.cos(half)]]))

    def _to_c(self) -> Any:
        return {"position": vector(self.position, "position"), "rotation": vector(self.rotation, "rotation", 4)}

    @classmethod
    def _from_c(cls, c: Any) -> Pose:
        return cls(to_array(c.position), to_array(c.rotation))


def default_material() -> Material:
    """The library's own defaults (equal to ``Material()``)."""
    c = ffi.new("lm_material *", lib.lm_material_default())
    return Material._from_c(c)
