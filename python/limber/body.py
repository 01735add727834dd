"""Bodies."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, NamedTuple, Sequence

import numpy as np

from ._core import (
    Array,
    ArgumentError,
    Floats,
    Id,
    Indices,
    Vector,
    choose,
    count,
    ffi,
    floats,
    indices,
    lib,
    number,
    output,
    per,
    plain,
    pointer,
    record,
    to_array,
    vector,
    words,
)
from .material import Material, Pose
from .mesh import Mesh, MeshLike

if TYPE_CHECKING:
    from .things import Skeleton
    from .world import World

CLUSTERS = words("lm_cluster_kind", "LM_CLUSTERS_")
CONTACT_POINTS = words("lm_contact_points", "LM_CONTACT_")
LATTICE_MASSES = words("lm_lattice_mass", "LM_LATTICE_MASS_")
TETS_MASSES = words("lm_tets_mass", "LM_TETS_MASS_")
SCOPES = words("lm_example_scope", "LM_EXAMPLES_")
SKINS = words("lm_skin_kind", "LM_SKIN_")

ORIGIN = (0.0, 0.0, 0.0)
INNER = lib.LM_SKIN_INNER  #: in ``Body.skin_sources``: a vertex of an inner face
NO_GROUP = lib.LM_NO_GROUP  #: in the groups of ``Body.set_examples``: a region without examples


@dataclasses.dataclass
class BodyInfo:
    """What a body is and how it moves, as ``lm_body_info`` in the header says; vectors are arrays."""

    particles: int
    regions: int
    memberships: int
    tets: int
    octree_nodes: int
    summation_nodes: int
    skin_vertices: int
    skin_triangles: int
    pieces: int
    broken_links: int
    examples: int
    example_groups: int
    examples_forced: bool
    mass: float
    centre: Array
    velocity: Array
    angular_momentum: Array
    spin: Array
    kinetic_energy: float
    max_speed: float
    lower: Array
    upper: Array
    stiffness_limited: bool
    reached_hertz: float
    density: float
    young: float
    reached_young: float
    substeps_needed: int
    spacing: float
    width: int
    contact_radius: float
    contact_points: int
    contacts: int
    asleep: bool
    enabled: bool
    user_data: int
    shape_hash: int


@dataclasses.dataclass
class BodyFilter:
    """Which bodies and colliders a body touches, as bits; see ``lm_body_filter``."""

    group: int = 1
    mask: int = 0xFFFFFFFF
    collider_mask: int = 0xFFFFFFFF
    self_contact: bool = False


class SocketState(NamedTuple):
    """Where a socket is in the world, and how it moves: m/s and rad/s."""

    pose: Pose
    velocity: Array
    spin: Array


class Socket:
    """A frame at a point of a body, for what follows it: a hat, a sound, a camera. Made by ``Body.socket``."""

    def __init__(self, body: Body, position: Vector = ORIGIN, rotation: Vector = (0.0, 0.0, 0.0, 1.0)) -> None:
        self.body = body
        self._socket = ffi.new("lm_socket *")
        body._do(lib.lm_socket_make, Pose.at(position, rotation)._to_c(), self._socket)

    def read(self, body: Body | None = None) -> SocketState:
        """Where it is now, on its body or on another one of the same shape. Made again where that was cut, broken or refined."""
        state = ffi.new("lm_socket_state *")
        (self.body if body is None else body)._do(lib.lm_socket_read, self._socket, state)
        return SocketState(Pose._from_c(state.pose), to_array(state.velocity), to_array(state.spin))


@dataclasses.dataclass
class CutInfo:
    """What a cut did; see ``lm_cut_info``."""

    links: int
    particles: int
    parts: int
    regions_found: int


@dataclasses.dataclass
class PieceInfo:
    """A piece of a body; see ``lm_piece_info``."""

    together: int
    particles: int
    mass: float
    volume: float
    centre: Array
    momentum: Array
    angular_momentum: Array


@dataclasses.dataclass
class Dropped:
    """What was dropped, together; see ``lm_dropped``."""

    pieces: int
    particles: int
    mass: float
    volume: float
    momentum: Array
    angular_momentum: Array


@dataclasses.dataclass
class Fracture:
    """How a lattice breaks; see ``lm_fracture_def``."""

    limit: float = 0.1
    variation: float = 0.0
    seed: int = 1
    grain: float = 0.0
    grain_strength: float = 0.3


@dataclasses.dataclass
class Detail:
    """What an octree decides its cells by; see ``lm_detail``."""

    touch_size: float = 0.0
    touch_radius: float = 0.0
    eye_angle: float = 0.0
    finest: float = 0.0
    coarsest: float = 0.0
    budget: int = 0
    per_step: int = 64
    hold: float = 0.5


class Body:
    """A soft body of a world; made by ``World.add_points``, ``add_lattice``, ``add_tets`` or ``add_octree``.

    Arrays that its properties give are the caller's own. Methods take ``out``, an array that is filled instead; ``live`` looks at the
    library's memory. A body that was destroyed raises ``IdError``.
    """

    def __init__(self, world: World, id: Id) -> None:
        self.world = world
        self.id = id
        self._live: LiveState | None = None

    def __repr__(self) -> str:
        return f"<limber.Body {self.id[0]}.{self.id[1]}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Body) and other.world is self.world and other.id == self.id

    def __hash__(self) -> int:
        return hash((id(self.world), self.id))

    def __reduce__(self) -> Any:
        return Body, (self.world, self.id)

    def _do(self, function: Any, *arguments: Any) -> None:
        self.world._do(function, self.id, *arguments)

    # ---- what it is ----

    @property
    def valid(self) -> bool:
        """Whether it is alive."""
        return bool(self.world._ask(lib.lm_body_is_valid, self.id))

    def destroy(self) -> None:
        """Destroys it, with its pins, drags, skeleton and skin."""
        self._do(lib.lm_body_destroy)

    @property
    def info(self) -> BodyInfo:
        """Counts and sums, measured now."""
        return record(BodyInfo, self._info())

    def _info(self) -> Any:
        info = ffi.new("lm_body_info *")
        self._do(lib.lm_body_get_info, info)
        return info

    @property
    def material(self) -> Material:
        """What it is made of. A copy: assign one to change it."""
        material = ffi.new("lm_material *")
        self._do(lib.lm_body_get_material, material)
        return Material._from_c(material)

    @material.setter
    def material(self, material: Material) -> None:
        self._do(lib.lm_body_set_material, Material._of(material))

    @property
    def centre(self) -> Array:
        """Centre of mass, in the world, float64."""
        return self.info.centre

    # ---- what its definition set ----

    @property
    def pose(self) -> Pose:
        """Where it is as a whole and how it is turned: the rigid motion that takes its rest shape nearest to its particles. Assign
        (position, rotation) to put it elsewhere, deformed as it is."""
        pose = ffi.new("lm_pose *")
        self._do(lib.lm_body_get_pose, pose)
        return Pose._from_c(pose)

    @pose.setter
    def pose(self, pose: Any) -> None:
        self.set_pose(*pose)

    def set_pose(
        self, position: Vector = ORIGIN, rotation: Vector = (0.0, 0.0, 0.0, 1.0), *, keep_shape: bool = True
    ) -> None:
        """Puts it elsewhere at once, deformed as it is, or in its rest shape."""
        self._do(lib.lm_body_set_pose, Pose.at(position, rotation)._to_c(), bool(keep_shape))

    def set_velocity(self, velocity: Vector, spin: Vector = ORIGIN) -> None:
        """Gives all particles the velocities of a rigid motion, m/s and rad/s."""
        self._do(lib.lm_body_set_velocity, vector(velocity, "velocity"), vector(spin, "spin"))

    @property
    def filter(self) -> BodyFilter:
        """Which bodies and colliders it touches. A copy: assign one to change it."""
        c = ffi.new("lm_body_filter *")
        self._do(lib.lm_body_get_filter, c)
        return record(BodyFilter, c)

    @filter.setter
    def filter(self, filter: BodyFilter) -> None:
        c = ffi.new("lm_body_filter *")
        c.group, c.mask = count(filter.group, "group"), count(filter.mask, "mask")
        c.collider_mask, c.self_contact = count(filter.collider_mask, "collider_mask"), bool(filter.self_contact)
        self._do(lib.lm_body_set_filter, c)

    @property
    def contact_radius(self) -> float:
        """Metres by which what touches is kept away from colliders."""
        return float(self._info().contact_radius)

    @contact_radius.setter
    def contact_radius(self, metres: float) -> None:
        self._do(lib.lm_body_set_contact_radius, number(metres, "contact_radius"))

    @property
    def penalty(self) -> float:
        """The constant of the penalty force, N/m."""
        penalty = ffi.new("float *")
        self._do(lib.lm_body_get_penalty, penalty)
        return float(penalty[0])

    @penalty.setter
    def penalty(self, penalty: float) -> None:
        self._do(lib.lm_body_set_penalty, number(penalty, "penalty"))

    @property
    def mass(self) -> float:
        """Kilograms in all. Assign another to scale the mass of every particle."""
        return float(self._info().mass)

    @mass.setter
    def mass(self, mass: float) -> None:
        self._do(lib.lm_body_set_mass, number(mass, "mass"))

    @property
    def user_data(self) -> int:
        """A number of yours, 64 bits."""
        return int(self._info().user_data)

    @user_data.setter
    def user_data(self, user_data: int) -> None:
        self._do(lib.lm_body_set_user_data, count(user_data, "user_data", 2**64 - 1))

    @property
    def enabled(self) -> bool:
        """Whether it takes part in the world. Assign False to take it out without destroying it."""
        return bool(self._info().enabled)

    @enabled.setter
    def enabled(self, enabled: bool) -> None:
        self._do(lib.lm_body_set_enabled, bool(enabled))

    def clone(self) -> Body:
        """A copy at the same place, with its state; without pins, drags, forces and skeleton."""
        made = ffi.new("lm_body_id *")
        self._do(lib.lm_body_clone, made)
        return Body(self.world, (made.slot, made.generation))

    def socket(self, position: Vector = ORIGIN, rotation: Vector = (0.0, 0.0, 0.0, 1.0)) -> Socket:
        """A frame at a place of the rest shape, which follows the body."""
        return Socket(self, position, rotation)

    # ---- state ----

    def _read(self, function: Any, out: Array | None, base: Vector | None, length: int) -> Floats:
        out = output(out, (length, 3), np.float32)
        arguments = (vector(base, "base"),) if base is not None else ()
        self._do(function, *arguments, pointer("lm_vec3", out))
        return out

    def get_positions(self, out: Array | None = None, base: Vector = ORIGIN) -> Floats:
        """Positions of the particles, (n, 3) float32, metres from ``base``. ``out``: an array to fill instead of a new one."""
        with self.world._lock:
            return self._read(lib.lm_body_get_positions, out, base, self._info().particles)

    def get_velocities(self, out: Array | None = None) -> Floats:
        """Velocities of the particles, m/s."""
        with self.world._lock:
            return self._read(lib.lm_body_get_velocities, out, None, self._info().particles)

    @property
    def positions(self) -> Floats:
        """Positions of the particles in the world, (n, 3) float32: a new array at each use (``live`` and ``out`` make none)."""
        return self.get_positions()

    @property
    def velocities(self) -> Floats:
        """Velocities of the particles, (n, 3) float32: a new array at each use."""
        return self.get_velocities()

    @property
    def rest_positions(self) -> Floats:
        """Rest positions in the body's own frame."""
        with self.world._lock:
            return self._read(lib.lm_body_get_rest_positions, None, None, self._info().particles)

    @property
    def masses(self) -> Floats:
        """Of the particles, kilograms."""
        with self.world._lock:
            masses = np.empty(self._info().particles, dtype=np.float32)
            self._do(lib.lm_body_get_masses, pointer("float", masses))
            return masses

    @masses.setter
    def masses(self, masses: Any) -> None:
        with self.world._lock:
            values = per(masses, self._info().particles, "masses", "particle")
            self._do(lib.lm_body_set_masses, pointer("float", values))

    def get_goals(self, out: Array | None = None, base: Vector = ORIGIN) -> Floats:
        """Where the particles were being pulled to in the last substep. Of clusters and tetrahedra."""
        with self.world._lock:
            return self._read(lib.lm_body_get_goals, out, base, self._info().particles)

    def get_contact_points(self, out: Array | None = None, base: Vector = ORIGIN) -> Floats:
        """Where the points that touch are now."""
        with self.world._lock:
            return self._read(lib.lm_body_get_contact_points, out, base, self._info().contact_points)

    def set_state(self, positions: Any, velocities: Any = None, base: Vector = ORIGIN) -> None:
        """Puts the particles anywhere, with these velocities (None: unchanged)."""
        with self.world._lock:
            particles = self._info().particles
            arrays = [floats(positions, 3, "positions")]
            if velocities is not None:
                arrays.append(floats(velocities, 3, "velocities"))
            for array, name in zip(arrays, ("positions", "velocities")):
                if len(array) != particles:
                    raise ArgumentError(f"{name}: has {len(array)} rows (expected {particles}, one for each particle)")
            pointers = [pointer("lm_vec3", array) for array in arrays] + [ffi.NULL]
            self._do(lib.lm_body_set_state, vector(base, "base"), pointers[0], pointers[1])

    @property
    def live(self) -> LiveState:
        """The state as the library has it in its memory, without a copy."""
        if self._live is None:
            self._live = LiveState(self)
        return self._live

    # ---- regions ----

    @property
    def regions(self) -> tuple[Indices, Indices]:
        """Offsets (regions + 1) and members: region n has the particles ``members[offsets[n]:offsets[n + 1]]``."""
        with self.world._lock:
            info = self._info()
            offsets = np.empty(info.regions + 1, dtype=np.uint32)
            members = np.empty(info.memberships, dtype=np.uint32)
            self._do(lib.lm_body_get_regions, pointer("uint32_t", offsets), pointer("uint32_t", members))
            return offsets, members

    @property
    def tets(self) -> Indices:
        """The tetrahedra, (n, 4)."""
        with self.world._lock:
            tets = np.empty((self._info().tets, 4), dtype=np.uint32)
            self._do(lib.lm_body_get_tets, pointer("uint32_t", tets))
            return tets

    def _get_floats(self, function: Any, length: int) -> Floats:
        values = np.empty(length, dtype=np.float32)
        self._do(function, pointer("float", values))
        return values

    @property
    def cell_sizes(self) -> Floats:
        """The side of each particle's cell, metres. Of an octree."""
        with self.world._lock:
            return self._get_floats(lib.lm_body_get_cells, self._info().particles)

    @property
    def widths(self) -> Floats:
        """Widths of an octree's regions, metres, one for each particle."""
        with self.world._lock:
            return self._get_floats(lib.lm_body_get_widths, self._info().particles)

    @widths.setter
    def widths(self, metres: Any) -> None:
        with self.world._lock:
            values = per(metres, self._info().particles, "widths", "particle")
            self._do(lib.lm_body_set_widths, pointer("float", values))

    @property
    def region_stiffness(self) -> Floats:
        """Shares of the body's own pull, 0 to 1, one for each region. Assign None for 1 everywhere."""
        with self.world._lock:
            return self._get_floats(lib.lm_body_get_region_stiffness, self._info().regions)

    @region_stiffness.setter
    def region_stiffness(self, shares: Any) -> None:
        with self.world._lock:
            if shares is None:
                self._do(lib.lm_body_set_region_stiffness, ffi.NULL)
                return
            values = per(shares, self._info().regions, "region_stiffness", "region")
            self._do(lib.lm_body_set_region_stiffness, pointer("float", values))

    def set_particle_stiffness(self, values: Any) -> None:
        """The same from values for each particle."""
        with self.world._lock:
            array = per(values, self._info().particles, "values", "particle")
            self._do(lib.lm_body_set_particle_stiffness, pointer("float", array))

    @property
    def plastic(self) -> Floats:
        """The lasting deformation of each region, (n, 3, 3)."""
        with self.world._lock:
            return self._get_floats(lib.lm_body_get_plastic, self._info().regions * 9).reshape(-1, 3, 3)

    @property
    def stress(self) -> Floats:
        """The Cauchy stress of each particle, Pa: xx yy zz xy yz zx along the world's axes, (n, 6)."""
        with self.world._lock:
            stress = np.empty((self._info().particles, 6), dtype=np.float32)
            self._do(lib.lm_body_get_stress, pointer("float", stress), ffi.NULL)
            return stress

    @property
    def von_mises(self) -> Floats:
        """The von Mises stress of each particle, Pa."""
        with self.world._lock:
            values = np.empty(self._info().particles, dtype=np.float32)
            self._do(lib.lm_body_get_stress, ffi.NULL, pointer("float", values))
            return values

    def reset_plastic(self) -> None:
        """Forgets all lasting deformation."""
        self._do(lib.lm_body_reset_plastic)

    @property
    def slowest_mode(self) -> float:
        """How slow the slowest deformation is, as a share; see ``lm_body_get_slowest_mode``. Takes a while."""
        share = ffi.new("float *")
        self._do(lib.lm_body_get_slowest_mode, share)
        return float(share[0])

    @property
    def pieces(self) -> Indices:
        """The piece that each particle belongs to, from 0 on."""
        with self.world._lock:
            pieces = np.empty(self._info().particles, dtype=np.uint32)
            self._do(lib.lm_body_get_pieces, pointer("uint32_t", pieces))
            return pieces

    # ---- examples ----

    def set_examples(
        self, poses: Any | None, *, scope: str = "body", groups: Any = None, group_count: int = 0, beta: float = 0.95
    ) -> None:
        """Poses that the body likes to deform into: (count, particles, 3). None: no examples any more."""
        if poses is None:
            self._do(lib.lm_body_set_examples, ffi.NULL)
            return
        with self.world._lock:
            info = self._info()
            array = np.asarray(poses)
            if array.ndim != 3 or array.shape[1:] != (info.particles, 3):
                raise ArgumentError(f"poses: has the shape {array.shape} (expected (count, {info.particles}, 3))")
            flat = floats(array.reshape(-1, 3), 3, "poses")
            definition = ffi.new("lm_examples_def *", lib.lm_examples_def_default())
            definition.poses = pointer("lm_vec3", flat)
            definition.count = len(array)
            definition.particles = info.particles
            definition.scope = choose(scope, SCOPES, "scope")
            definition.beta = number(beta, "beta")
            if scope == "groups":
                numbers = indices(groups, 0, "groups")
                if len(numbers) != info.regions:
                    raise ArgumentError(f"groups: has {len(numbers)} values (expected {info.regions}, one for each region)")
                definition.groups = numbers_pointer = pointer("uint32_t", numbers)
                definition.group_count = count(group_count, "group_count")
                self._do(lib.lm_body_set_examples, definition)
                del numbers_pointer
                return
            self._do(lib.lm_body_set_examples, definition)

    @property
    def example_beta(self) -> float:
        """How much of the mix of examples counts, 0 to 1."""
        beta = ffi.new("float *")
        self._do(lib.lm_body_get_example_beta, beta)
        return float(beta[0])

    @example_beta.setter
    def example_beta(self, beta: float) -> None:
        self._do(lib.lm_body_set_example_beta, number(beta, "beta"))

    @property
    def example_weights(self) -> Floats:
        """The mix of examples, (groups, examples). Assign weights to force them, None to let the body find them again."""
        with self.world._lock:
            info = self._info()
            weights = np.zeros((info.example_groups, info.examples), dtype=np.float32)
            self._do(lib.lm_body_get_example_weights, pointer("float", weights))
            return weights

    @example_weights.setter
    def example_weights(self, weights: Any) -> None:
        with self.world._lock:
            if weights is None:
                self._do(lib.lm_body_set_example_weights, ffi.NULL)
                return
            info = self._info()
            values = floats(np.asarray(weights).reshape(-1), 0, "weights")
            if len(values) != info.example_groups * info.examples:
                raise ArgumentError(f"weights: expected the shape ({info.example_groups}, {info.examples})")
            self._do(lib.lm_body_set_example_weights, pointer("float", values))

    def carry_pose(self, pose: Any, rest: Any = None) -> Floats:
        """A pose for the particles from one of a surface: ``rest`` and ``pose`` are its vertices; None: those of the skin."""
        with self.world._lock:
            info = self._info()
            target = floats(pose, 3, "pose")
            source = None if rest is None else floats(rest, 3, "rest")
            vertices = info.skin_vertices if source is None else len(source)
            if len(target) != vertices:
                raise ArgumentError(f"pose: has {len(target)} vertices (expected {vertices})")
            positions = np.empty((info.particles, 3), dtype=np.float32)
            self._do(
                lib.lm_body_carry_pose,
                ffi.NULL if source is None else pointer("lm_vec3", source),
                pointer("lm_vec3", target),
                vertices,
                pointer("lm_vec3", positions),
            )
            return positions

    def carry_values(self, values: Any, vertices: Any = None) -> Floats:
        """Values for particles from values for the vertices of a surface, (vertices, channels); None: those of the skin."""
        with self.world._lock:
            info = self._info()
            given = np.asarray(values)
            array = floats(given.reshape(len(given), -1), max(1, given.reshape(len(given), -1).shape[1]), "values")
            source = None if vertices is None else floats(vertices, 3, "vertices")
            length = info.skin_vertices if source is None else len(source)
            if len(array) != length:
                raise ArgumentError(f"values: has {len(array)} rows (expected {length}, one for each vertex)")
            carried = np.empty((info.particles, array.shape[1]), dtype=np.float32)
            self._do(
                lib.lm_body_carry_values,
                ffi.NULL if source is None else pointer("lm_vec3", source),
                length,
                pointer("float", array),
                array.shape[1],
                pointer("float", carried),
            )
            return carried[:, 0] if given.ndim == 1 else carried

    # ---- forces ----

    def add_force(self, force: Vector, particle: int | None = None) -> None:
        """Newtons during the next step, on the whole body or one particle."""
        if particle is None:
            self._do(lib.lm_body_add_force, vector(force, "force"))
        else:
            self._do(lib.lm_body_add_particle_force, count(particle, "particle"), vector(force, "force"))

    def add_impulse(self, impulse: Vector, point: Vector | None = None, particle: int | None = None) -> None:
        """Newton seconds at once: at a point of the world (None: at the centre), or on one particle."""
        if particle is not None:
            self._do(lib.lm_body_add_particle_impulse, count(particle, "particle"), vector(impulse, "impulse"))
            return
        at = vector(self.centre if point is None else point, "point")
        self._do(lib.lm_body_add_impulse, vector(impulse, "impulse"), at)

    # ---- sleep ----

    @property
    def awake(self) -> bool:
        """Whether it takes part in steps."""
        return bool(self.world._ask(lib.lm_body_is_awake, self.id))

    def wake(self) -> None:
        """Wakes it and those that sleep with it."""
        self._do(lib.lm_body_wake)

    @property
    def may_sleep(self) -> bool:
        """Whether it may sleep."""
        return bool(self.world._ask(lib.lm_body_may_sleep, self.id))

    @may_sleep.setter
    def may_sleep(self, may_sleep: bool) -> None:
        self.set_may_sleep(may_sleep)

    def set_may_sleep(self, may_sleep: bool) -> None:
        """Allows or forbids it to sleep."""
        self._do(lib.lm_body_set_may_sleep, bool(may_sleep))

    @property
    def skeleton(self) -> Skeleton | None:
        """Its skeleton, if it has one."""
        from .things import Skeleton

        found = ffi.new("lm_skeleton_id *")
        self._do(lib.lm_body_get_skeleton, found)
        return Skeleton(self.world, (found.slot, found.generation)) if found.slot else None

    # ---- fracture, cuts, detail ----

    def set_fracture(self, fracture: Fracture | None, factors: Any = None) -> None:
        """Lets a lattice break; None: what holds holds from now on. ``factors``: for each particle a factor of its limits."""
        if fracture is None:
            self._do(lib.lm_body_set_fracture, ffi.NULL)
            return
        with self.world._lock:
            definition = ffi.new("lm_fracture_def *", lib.lm_fracture_def_default())
            for field in dataclasses.fields(fracture):
                setattr(definition, field.name, plain(getattr(fracture, field.name), field.name))
            if factors is not None:
                values = per(factors, self._info().particles, "factors", "particle")
                definition.factors = keep = pointer("float", values)
            self._do(lib.lm_body_set_fracture, definition)

    @property
    def fracture(self) -> Fracture | None:
        """How it breaks; None when it does not."""
        breaks, definition = ffi.new("bool *"), ffi.new("lm_fracture_def *")
        self._do(lib.lm_body_get_fracture, breaks, definition)
        return record(Fracture, definition) if breaks[0] else None

    def break_links(self, centre: Vector, radius: float) -> int:
        """Breaks links whose middles at rest are in a ball; how many."""
        broken = ffi.new("uint32_t *")
        self._do(lib.lm_body_break, vector(centre, "centre"), number(radius, "radius"), broken)
        return int(broken[0])

    def cut(self, blade: MeshLike, finest: float = 0.0, pieces: Any = None) -> CutInfo:
        """Cuts with a blade of triangles in the world: a strip, or a closed surface, which stamps its shape out.

        ``pieces`` has a truth value for each piece (as ``Body.pieces`` numbers them): those that are cut. None: all.
        """
        mesh = Mesh.of(blade)
        vertices = np.ascontiguousarray(mesh.vertices, dtype=np.float64)
        c_vertices, c_faces = pointer("lm_dvec3", vertices), pointer("uint32_t", mesh.faces)
        definition = ffi.new("lm_blade *", lib.lm_blade_default())
        definition.vertices, definition.vertex_count = c_vertices, len(vertices)
        definition.triangles, definition.triangle_count = c_faces, len(mesh.faces)
        definition.finest = number(finest, "finest")
        chosen = None if pieces is None else np.ascontiguousarray(np.asarray(pieces, dtype=bool).reshape(-1), dtype=np.uint8)
        if chosen is not None:
            definition.pieces, definition.piece_count = pointer("uint8_t", chosen), len(chosen)
        info = ffi.new("lm_cut_info *")
        self._do(lib.lm_body_cut, definition, info)
        return record(CutInfo, info)

    def slice(self, point: Vector, normal: Vector, count: int = 1, distance: float = 0.1) -> CutInfo:
        """Cuts along parallel planes: one through ``point``, the others each ``distance`` metres further along ``normal``."""
        info = ffi.new("lm_cut_info *")
        self._do(
            lib.lm_body_slice, vector(point, "point"), vector(normal, "normal"), count, number(distance, "distance"), info
        )
        return record(CutInfo, info)

    @property
    def piece_infos(self) -> list[PieceInfo]:
        """Mass, volume, centre and momentum of each piece, in their order; ``together``: which can leave only together."""
        with self.world._lock:
            infos = ffi.new("lm_piece_info[]", self._info().pieces)
            self._do(lib.lm_body_get_piece_infos, infos)
        return [record(PieceInfo, info) for info in infos]

    def split(self, groups: Any = None) -> list[Body]:
        """Makes bodies of pieces, and returns them; this one keeps the rest.

        ``groups`` has a number for each piece: 0 stays, 1 goes to the first new body, and so on. None: the heaviest stays,
        and each of the others becomes a body.
        """
        with self.world._lock:
            pieces = self._info().pieces
            of = None if groups is None else np.ascontiguousarray(np.asarray(groups).reshape(-1), dtype=np.uint32)
            if of is not None and len(of) != pieces:
                raise ArgumentError(f"groups: has {len(of)} numbers (expected {pieces}, one for each piece)")
            made, count = ffi.new("lm_body_id[]", pieces), ffi.new("uint32_t *")
            self._do(lib.lm_body_split, ffi.NULL if of is None else pointer("uint32_t", of), made, pieces, count)
            return [Body(self.world, (made[n].slot, made[n].generation)) for n in range(count[0])]

    def drop_pieces(self, least_mass: float = 0.0, least_volume: float = 0.0, most: int = 0) -> Dropped:
        """Destroys pieces that are too small, or beyond the ``most`` heaviest, and says what is gone. The heaviest stays."""
        limits = ffi.new("lm_piece_limits *", lib.lm_piece_limits_default())
        limits.least_mass, limits.least_volume = number(least_mass, "least_mass"), number(least_volume, "least_volume")
        limits.most = most
        dropped = ffi.new("lm_dropped *")
        self._do(lib.lm_body_drop_pieces, limits, dropped)
        return record(Dropped, dropped)

    def cut_sweep(self, start: Any, end: Any) -> CutInfo:
        """Cuts with an edge, a chain of points, on its way from ``start`` to ``end``."""
        a, b = floats(start, 3, "start", np.float64), floats(end, 3, "end", np.float64)
        if len(a) != len(b):
            raise ArgumentError(f"end: has {len(b)} points (expected {len(a)}, as many as the start)")
        info = ffi.new("lm_cut_info *")
        self._do(lib.lm_body_cut_sweep, pointer("lm_dvec3", a), pointer("lm_dvec3", b), len(a), info)
        return record(CutInfo, info)

    def prepare_cut(self) -> None:
        """Makes the skin of an octree ready, so that the first cut does not have to."""
        self._do(lib.lm_body_prepare_cut)

    def set_detail(self, detail: Detail | None) -> None:
        """What an octree decides its cells by; None: they stay as they are."""
        if detail is None:
            self._do(lib.lm_body_set_detail, ffi.NULL)
            return
        definition = ffi.new("lm_detail *", lib.lm_detail_default())
        for field in dataclasses.fields(detail):
            setattr(definition, field.name, plain(getattr(detail, field.name), field.name))
        self._do(lib.lm_body_set_detail, definition)

    @property
    def detail(self) -> tuple[Detail, int]:
        """What was set, and how many cells are still waiting to change."""
        detail, waiting = ffi.new("lm_detail *"), ffi.new("uint32_t *")
        self._do(lib.lm_body_get_detail, detail, waiting)
        return record(Detail, detail), int(waiting[0])

    def refine(self, centre: Vector, radius: float, size: float) -> int:
        """Within a ball, cells are divided down to ``size`` metres or joined up to it; how many."""
        changed = ffi.new("uint32_t *")
        arguments = vector(centre, "centre"), number(radius, "radius"), number(size, "size")
        self._do(lib.lm_body_refine, *arguments, changed)
        return int(changed[0])

    # ---- skin ----

    def set_skin(self, mesh: MeshLike, kind: str = "particles") -> None:
        """Gives the body a surface, in its rest pose and own frame. ``kind``: "particles" or "regions"."""
        surface = Mesh.of(mesh)
        vertices, faces = pointer("lm_vec3", surface.vertices), pointer("uint32_t", surface.faces)
        definition = ffi.new("lm_skin_def *", lib.lm_skin_def_default())
        definition.kind = choose(kind, SKINS, "kind")
        definition.vertices, definition.vertex_count = vertices, len(surface.vertices)
        definition.triangles, definition.triangle_count = faces, len(surface.faces)
        self._do(lib.lm_body_set_skin, definition)

    def get_skin(self, out: Array | None = None, normals: Array | None = None, base: Vector = ORIGIN) -> Floats:
        """Vertices of the skin as it is now, (n, 3) float32. ``normals``: an array that is filled with unit normals as well."""
        with self.world._lock:
            shape = (self._info().skin_vertices, 3)
            out = output(out, shape, np.float32)
            filled = ffi.NULL if normals is None else pointer("lm_vec3", output(normals, shape, np.float32, "normals"))
            self._do(lib.lm_body_get_skin, vector(base, "base"), pointer("lm_vec3", out), filled)
            return out

    @property
    def skin(self) -> Mesh:
        """The surface as it is now, with normals."""
        with self.world._lock:
            normals = np.empty((self._info().skin_vertices, 3), dtype=np.float32)
            return Mesh(self.get_skin(normals=normals), self.skin_faces, normals=normals)

    @property
    def skin_faces(self) -> Indices:
        """Triangles of the skin, (n, 3)."""
        with self.world._lock:
            faces = np.empty((self._info().skin_triangles, 3), dtype=np.uint32)
            self._do(lib.lm_body_get_skin_triangles, pointer("uint32_t", faces))
            return faces

    @property
    def skin_sources(self) -> Indices:
        """For each vertex the one of the surface as it was given; ``INNER`` on inner faces."""
        with self.world._lock:
            sources = np.empty(self._info().skin_vertices, dtype=np.uint32)
            self._do(lib.lm_body_get_skin_sources, pointer("uint32_t", sources))
            return sources

    @property
    def skin_cuts(self) -> tuple[Floats, Indices]:
        """Of faces that blades have cut into a lattice: metres on the blade, (vertices, 2), and the blade's material id; 0 elsewhere."""
        with self.world._lock:
            count = self._info().skin_vertices
            uvs, materials = np.empty((count, 2), dtype=np.float32), np.empty(count, dtype=np.uint32)
            self._do(lib.lm_body_get_skin_cuts, pointer("float", uvs), pointer("uint32_t", materials))
            return uvs, materials

    def skin_uvs(self, faces: Any, uvs: Any) -> Floats:
        """Texture coordinates for each corner of ``skin_faces``, (n, 3, 2), also after cuts and breaks. ``faces`` (m, 3) and ``uvs`` (m, 3, 2):
        the triangles of the surface as it was given, and those of their corners. Inner faces have 0."""
        given, corners = indices(faces, 3, "faces"), np.asarray(uvs)
        if corners.shape != (len(given), 3, 2):
            raise ArgumentError(f"uvs: has the shape {corners.shape} (expected ({len(given)}, 3, 2))")
        flat = floats(corners.reshape(-1, 2), 2, "uvs")
        with self.world._lock:
            skin, sources, rest = self.skin_faces, self.skin_sources, self.skin_rest
        surface = ffi.new("lm_seams_surface *")
        surface.triangles, surface.uvs = pointer("uint32_t", given), pointer("float", flat)
        surface.triangle_count, surface.vertex_count = len(given), int(given.max()) + 1 if len(given) else 0
        made = ffi.new("lm_seams *")
        try:
            arrays = pointer("uint32_t", sources), pointer("lm_vec3", rest), pointer("uint32_t", skin)
            if not lib.lm_seams_make(surface, *arrays[:2], len(sources), arrays[2], len(skin), made):
                raise MemoryError("texture coordinates")
            found = np.frombuffer(ffi.buffer(made.uvs, made.vertex_count * 8), dtype=np.float32).reshape(-1, 2)
            order = np.frombuffer(ffi.buffer(made.triangles, len(skin) * 12), dtype=np.uint32)
            return found[order].reshape(-1, 3, 2).copy()
        finally:
            lib.lm_seams_free(made)

    @property
    def skin_rest(self) -> Floats:
        """Vertices of the skin in the rest pose."""
        with self.world._lock:
            return self._read(lib.lm_body_get_skin_rest, None, None, self._info().skin_vertices)

    @property
    def skin_rest_normals(self) -> Floats:
        """Unit normals in the rest pose."""
        with self.world._lock:
            return self._read(lib.lm_body_get_skin_rest_normals, None, None, self._info().skin_vertices)

    @property
    def skin_riders(self) -> tuple[Indices, Indices, Floats]:
        """What vertices ride on: offsets (vertices + 1), riders and weights; see ``lm_body_get_skin_riders``."""
        with self.world._lock:
            offsets = np.zeros(self._info().skin_vertices + 1, dtype=np.uint32)
            self._do(lib.lm_body_get_skin_riders, pointer("uint32_t", offsets), ffi.NULL, ffi.NULL)
            riders = np.empty(int(offsets[-1]), dtype=np.uint32)
            weights = np.empty(int(offsets[-1]), dtype=np.float32)
            self._do(lib.lm_body_get_skin_riders, ffi.NULL, pointer("uint32_t", riders), pointer("float", weights))
            return offsets, riders, weights

    def get_region_transforms(self, base: Vector = ORIGIN, out: Array | None = None) -> Array:
        """Where regions carry the rest pose: a structured array with ``centre``, ``constant``, ``linear`` and ``quadratic``."""
        with self.world._lock:
            transforms = output(out, (self._info().regions,), TRANSFORM)
            where = pointer("lm_region_transform", transforms)
            self._do(lib.lm_body_get_region_transforms, vector(base, "base"), where)
            return transforms


#: ``lm_region_transform`` as numpy sees it.
TRANSFORM = np.dtype(
    [("centre", np.float32, 3), ("constant", np.float32, 3), ("linear", np.float32, (3, 3)), ("quadratic", np.float32, (3, 6))]
)


class LiveState:
    """A look into a body's state: arrays that are the library's own memory, read only.

    ``positions`` and ``velocities`` are (places, 3) float32. Positions are relative to ``origin``. Particles lie in an order of the
    library's own: particle n is at ``places[n]``, ``particles[place]`` is the other way round (2^32 - 1: no particle is there).

        body.live.positions[body.live.places] + body.live.origin    # the same as body.positions, in float64

    While nothing is added, cut or loaded, arrays that were got once follow every step. Ask again after such a change: an old array
    then keeps the values that it had and stays safe to read. Do not read while another thread steps the world.

    ``skin``, ``normals`` and ``regions`` are not kept by the library, which makes them when they are asked for: here they are one array
    each, filled again at every use and the same as long as the number of vertices or regions is.
    """

    def __init__(self, body: Body) -> None:
        self._body = body
        self._arrays: dict[str, tuple[int, int, Array]] = {}
        self._skin: Floats | None = None
        self._normals: Floats | None = None
        self._regions: Array | None = None

    def _view(self) -> Any:
        view = ffi.new("lm_state_view *")
        self._body._do(lib.lm_body_view_state, view)
        return view

    def _array(self, name: str, start: Any, length: int, item: int, dtype: Any) -> Array:
        """An array over the library's memory, which stays readable as long as the array lives."""
        address = int(ffi.cast("uintptr_t", start))
        known = self._arrays.get(name)
        if known is not None and known[:2] == (address, length):
            return known[2]
        world = self._body.world
        held = lib.host_look(world._host, start)
        if held == ffi.NULL:
            raise MemoryError("a view of the state")
        owner = ffi.gc(ffi.cast("char *", start), lambda _: lib.host_drop_view(held))
        memory = memoryview(ffi.buffer(owner, length * item)).toreadonly()
        array = np.frombuffer(memory, dtype=dtype)
        if item == 16:
            array = array.reshape(length, 4)[:, :3]
        self._arrays[name] = (address, length, array)
        return array

    @property
    def positions(self) -> Floats:
        """(places, 3), relative to ``origin``. Not a copy."""
        with self._body.world._lock:
            view = self._view()
            return self._array("positions", view.positions, view.place_count, 16, np.float32)

    @property
    def velocities(self) -> Floats:
        """(places, 3), m/s. Not a copy."""
        with self._body.world._lock:
            view = self._view()
            return self._array("velocities", view.velocities, view.place_count, 16, np.float32)

    @property
    def places(self) -> Indices:
        """Where each particle is. Not a copy."""
        with self._body.world._lock:
            view = self._view()
            return self._array("places", view.places, self._body._info().particles, 4, np.uint32)

    @property
    def particles(self) -> Indices:
        """Which particle is at each place. Not a copy."""
        with self._body.world._lock:
            view = self._view()
            return self._array("particles", view.particles, view.place_count, 4, np.uint32)

    @property
    def origin(self) -> Array:
        """What positions are relative to, float64; a step may move it."""
        view = self._view()
        return np.array([view.origin.x, view.origin.y, view.origin.z])

    def _fill(self) -> None:
        vertices = self._body._info().skin_vertices
        if self._skin is None or self._normals is None or len(self._skin) != vertices:
            self._skin = np.empty((vertices, 3), dtype=np.float32)
            self._normals = np.empty((vertices, 3), dtype=np.float32)
        self._body.get_skin(self._skin, self._normals)

    @property
    def skin(self) -> Floats:
        """Vertices of the skin in the world: one array that is filled again at every use."""
        with self._body.world._lock:
            self._fill()
            assert self._skin is not None
            return self._skin

    @property
    def normals(self) -> Floats:
        """Normals of the skin: one array that is filled again at every use."""
        with self._body.world._lock:
            self._fill()
            assert self._normals is not None
            return self._normals

    @property
    def regions(self) -> Array:
        """Where regions carry the rest pose, as ``Body.get_region_transforms`` says: one array that is filled again at every use."""
        with self._body.world._lock:
            if self._regions is None or len(self._regions) != self._body._info().regions:
                self._regions = np.empty(self._body._info().regions, dtype=TRANSFORM)
            return self._body.get_region_transforms(out=self._regions)


def fill_body_def(
    definition: Any,
    keep: list[Any],
    *,
    material: Material | None = None,
    mass: float = 1.0,
    density: float = 0.0,
    masses: Any = None,
    position: Vector = ORIGIN,
    rotation: Vector = (0.0, 0.0, 0.0, 1.0),
    velocity: Vector = ORIGIN,
    spin: Vector = ORIGIN,
    contact_radius: float = 0.0,
    contact_points: str = "auto",
    group: int = 1,
    mask: int = 0xFFFFFFFF,
    self_contact: bool = False,
    penalty: float = 0.0,
    collider_mask: int = 0xFFFFFFFF,
    may_sleep: bool = True,
    user_data: int = 0,
) -> None:
    """What bodies of all kinds have in common, into an ``lm_body_def``."""
    if material is not None:
        definition.material = Material._of(material)[0]
    definition.mass = number(mass, "mass")
    definition.density = number(density, "density")
    if masses is not None:
        array = floats(masses, 0, "masses")
        keep.append(pointer("float", array))
        definition.masses = keep[-1]
    definition.pose = {"position": vector(position, "position"), "rotation": vector(rotation, "rotation", 4)}
    definition.velocity = vector(velocity, "velocity")
    definition.spin = vector(spin, "spin")
    definition.contact_radius = number(contact_radius, "contact_radius")
    definition.contact_points = choose(contact_points, CONTACT_POINTS, "contact_points")
    definition.group, definition.mask = count(group, "group"), count(mask, "mask")
    definition.self_contact, definition.may_sleep = bool(self_contact), bool(may_sleep)
    definition.penalty = number(penalty, "penalty")
    definition.collider_mask = count(collider_mask, "collider_mask")
    definition.user_data = count(user_data, "user_data", 2**64 - 1)


def fill_clusters(
    definition: Any,
    keep: list[Any],
    particles: int,
    *,
    clusters: Sequence[int] | int | None = None,
    cell_size: float | None = None,
    lists: Sequence[Any] | None = None,
    elements: Any = None,
    kind: str | None = None,
    overlap: float = 0.25,
    rings: int = 1,
) -> None:
    """How points are divided into regions, into an ``lm_clusters``."""
    definition.overlap = number(overlap, "overlap")
    definition.rings = count(rings, "rings")
    if elements is not None:
        array = np.asarray(elements)
        if array.ndim != 2:
            raise ArgumentError(f"elements: has the shape {array.shape} (expected (n, particles of each))")
        numbers = indices(array, array.shape[1], "elements")
        keep.append(pointer("uint32_t", numbers))
        definition.elements, definition.element_count, definition.element_size = keep[-1], len(numbers), array.shape[1]
        definition.kind = choose(kind or "elements", CLUSTERS, "kind")
    if lists is not None:
        given = [indices(members, 0, "lists") for members in lists]
        offsets = np.zeros(len(given) + 1, dtype=np.uint32)
        offsets[1:] = np.cumsum([len(members) for members in given])
        members = np.concatenate(given) if given else np.empty(0, dtype=np.uint32)
        keep += [pointer("uint32_t", offsets), pointer("uint32_t", members)]
        definition.kind = lib.LM_CLUSTERS_LISTS
        definition.offsets, definition.members, definition.list_count = keep[-2], keep[-1], len(given)
    elif cell_size is not None:
        definition.kind = lib.LM_CLUSTERS_SIZE
        definition.cell_size = number(cell_size, "cell_size")
    elif isinstance(clusters, (int, np.integer)):
        definition.kind = lib.LM_CLUSTERS_KMEANS
        definition.count = count(clusters, "clusters")
    elif clusters is not None:
        counts = indices(clusters, 0, "clusters")
        if len(counts) != 3:
            raise ArgumentError("clusters: expected a number of groups, or three numbers of cells along the axes")
        definition.counts = [int(n) for n in counts]


