"""Many worlds at once, for learning and fitting; and gradients by finite differences."""

from __future__ import annotations

import os
from typing import Any, Callable, Iterator, Sequence

import numpy as np

from ._core import Array, ArgumentError, CapacityError, ClosedError, Floats, count, error_of, ffi, floats, lib, number, output, pointer
from .body import Body
from .world import FRAME, World


class WorldBatch:
    """Worlds that are stepped over all cores in one call.

        batch = limber.WorldBatch(world, 64)      # 64 copies
        batch.reset()
        for _ in range(100):
            batch.push(forces)                    # (64, bodies, 3) newtons, for the next step
            batch.step()
            seen = batch.observe("bodies", out)   # (64, bodies, 9): centre, velocity, spin

    ``worlds`` is one world, of which ``copies`` are made, or a list of worlds that the batch takes as they are. Each world is stepped by one
    thread, so give worlds of a list ``workers=1``. Results are the same as those of single worlds, to the last bit. Worlds on an OpenCL device
    can be in a batch too; each is stepped there by itself.
    """

    def __init__(self, worlds: World | Sequence[World], copies: int | None = None, *, threads: int = 0) -> None:
        if isinstance(worlds, World):
            snapshot = worlds.save()
            settings: dict[str, Any] = {**worlds._host_settings, "workers": 1}
            self.worlds = [World(**settings) for _ in range(count(1 if copies is None else copies, "copies"))]
            for world in self.worlds:
                world.load(snapshot)
        else:
            if copies is not None:
                raise ArgumentError("copies: only of a single world")
            self.worlds = list(worlds)
        if len(set(map(id, self.worlds))) != len(self.worlds):
            raise ArgumentError("worlds: the same world twice")
        self.threads = count(threads, "threads") or len(os.sched_getaffinity(0))
        self._start = [world.save() for world in self.worlds]

    def __len__(self) -> int:
        return len(self.worlds)

    def __getitem__(self, index: int) -> World:
        return self.worlds[index]

    def __iter__(self) -> Iterator[World]:
        return iter(self.worlds)

    def close(self) -> None:
        """Closes all worlds."""
        for world in self.worlds:
            world.close()

    def __enter__(self) -> WorldBatch:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _run(self, function: Callable[..., bool], *arguments: Any, chosen: Any = None) -> None:
        """Calls a function of the library with all worlds, each of which is this call's alone meanwhile."""
        taken = sorted(self.worlds, key=id)  # in one order for all batches, so that none waits for another in a circle
        for world in taken:
            world._lock.acquire()
        try:
            if any(world.closed for world in self.worlds):
                raise ClosedError("a world of the batch was closed")
            worlds = ffi.new("lm_world *[]", [world._pointer() for world in self.worlds])
            results = ffi.new("lm_result[]", max(1, len(self.worlds)))
            batch = ffi.new("host_batch *")
            batch.worlds, batch.count, batch.threads, batch.results = worlds, len(self.worlds), self.threads, results
            keep = None
            if chosen is not None:
                keep = ffi.from_buffer("uint8_t[]", chosen)
                batch.chosen = keep
            if not function(batch, *arguments):
                raise MemoryError("a batch")
            for n, world in enumerate(self.worlds):
                if results[n]:
                    line = world._take_line()
                    raise error_of(results[n], f"world {n}: {line}" if line else "")
        finally:
            for world in taken:
                world._lock.release()

    def _mask(self, which: Any) -> Array | None:
        if which is None:
            return None
        mask = np.asarray(which)
        if mask.dtype != np.bool_ or mask.shape != (len(self),):
            raise ArgumentError(f"which: expected {len(self)} of True or False")
        return np.ascontiguousarray(mask, dtype=np.uint8)

    def mark(self) -> None:
        """From now on ``reset`` returns to the state of now."""
        self._start = [world.save() for world in self.worlds]

    def reset(self, which: Any = None) -> None:
        """Returns to the beginning: all worlds, or those where ``which`` is True."""
        states = [ffi.from_buffer(state) for state in self._start]
        sizes = ffi.new("size_t[]", [len(state) for state in self._start])
        self._run(lib.host_batch_load, ffi.new("void *[]", states), sizes, chosen=self._mask(which))

    def step(self, seconds: float = FRAME, count: int = 1, which: Any = None) -> None:
        """Steps all worlds, or those where ``which`` is True, ``count`` times."""
        from ._core import count as whole

        if any(world._substep is not None for world in self.worlds):
            raise ArgumentError("a world of the batch has a substep function, which the threads of a batch cannot call")
        self._run(lib.host_batch_step, number(seconds, "seconds"), whole(count, "count"), chosen=self._mask(which))

    def push(self, forces: Any) -> None:
        """Forces on bodies as a whole during the next step, newtons: (worlds, bodies, 3), bodies in the order of their slots."""
        array = np.asarray(forces)
        if array.ndim != 3 or array.shape[0] != len(self) or array.shape[2] != 3:
            raise ArgumentError(f"forces: has the shape {array.shape} (expected ({len(self)}, bodies, 3))")
        flat = floats(array.reshape(-1, 3), 3, "forces")
        self._run(lib.host_batch_push, pointer("lm_vec3", flat), array.shape[1])

    def observe(self, what: str = "positions", out: Array | None = None) -> Floats:
        """One array of what all worlds show: "positions" or "velocities" of particles, (worlds, particles, 3) float32, bodies one after
        the other in the order of their slots; or "bodies", (worlds, bodies, 9): centre, velocity, spin. All worlds must have as many as the
        first. ``out``: an array to fill instead of a new one."""
        kinds = {"positions": lib.HOST_POSITIONS, "velocities": lib.HOST_VELOCITIES, "bodies": lib.HOST_BODIES}
        if what not in kinds:
            raise ArgumentError(f"what: is {what!r} (expected one of {', '.join(kinds)})")
        if not self.worlds:
            return output(out, (0, 0, 3), np.float32)
        stats = self.worlds[0].stats
        shape = (len(self), stats.bodies, 9) if what == "bodies" else (len(self), stats.particles, 3)
        out = output(out, shape, np.float32)
        try:
            self._run(lib.host_batch_observe, kinds[what], pointer("float", out), shape[1] * shape[2])
        except CapacityError:
            raise CapacityError(f"observe: the worlds do not all have {shape[1]} {'bodies' if what == 'bodies' else 'particles'}") from None
        return out


class SharedBatch:
    """Copies of a small scene side by side in one world, so that one launch on a device steps all of them.

        def build(world, at):                      # one copy, at the place `at`
            return world.add_lattice(mesh, spacing=0.1, position=at + (0, 1, 0))

        batch = limber.SharedBatch(build, 256, device="gpu", ground=lambda world: world.add_collider("plane"))
        batch.step()
        seen = batch.observe("bodies")             # (256, bodies, 9), as if each were at the origin

    ``build`` makes the bodies of one copy, and what holds or stops them, and gives the body or the list of bodies; ``ground`` makes what all
    have in common. ``spacing``: metres from one copy to the next along x and z, on a square grid; nothing may reach from one to another.
    Positions are relative to bodies inside the library, so that a copy far from the origin loses no precision: results agree with those of
    single worlds to rounding (the tests allow 1e-4 of the size after a second). What a world cannot do on a device the CPU does; ``world``
    says so (``log_line``). Unlike ``WorldBatch``, all copies are stepped and reset together.
    """

    def __init__(
        self,
        build: Callable[[World, Array], Any],
        copies: int,
        *,
        spacing: float = 16.0,
        ground: Callable[[World], Any] | None = None,
        **settings: Any,
    ) -> None:
        self.copies = count(copies, "copies")
        distance, side = number(spacing, "spacing"), int(np.ceil(np.sqrt(max(1, self.copies))))
        if not distance > 0.0:
            raise ArgumentError("spacing: expected a number above 0")
        self.places = np.array([[distance * (n % side), 0.0, distance * (n // side)] for n in range(self.copies)]).reshape(-1, 3)
        self.world = World(**settings)
        self.bodies: list[list[Body]] = []
        if ground is not None:
            ground(self.world)
        for place in self.places:
            made = build(self.world, place)
            self.bodies.append([made] if isinstance(made, Body) else list(made))
            if len(self.bodies[-1]) != len(self.bodies[0]):
                raise ArgumentError(f"build: made {len(self.bodies[-1])} bodies (expected {len(self.bodies[0])}, as for the first copy)")
        self.mark()

    def __len__(self) -> int:
        return self.copies

    def close(self) -> None:
        """Frees the world."""
        self.world.close()

    def __enter__(self) -> SharedBatch:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def mark(self) -> None:
        """From now on ``reset`` returns to the state of now."""
        self._start = self.world.save()

    def reset(self) -> None:
        """Returns all copies to the beginning."""
        self.world.load(self._start)

    def step(self, seconds: float = FRAME, count: int = 1) -> None:
        """Steps all copies ``count`` times."""
        self.world.step(seconds, count)

    def push(self, forces: Any) -> None:
        """Forces on bodies as a whole during the next step, newtons: (copies, bodies, 3)."""
        array = np.asarray(forces)
        shape = (self.copies, len(self.bodies[0]) if self.bodies else 0, 3)
        if array.shape != shape:
            raise ArgumentError(f"forces: has the shape {array.shape} (expected {shape})")
        for bodies, rows in zip(self.bodies, array):
            for body, force in zip(bodies, rows):
                body.add_force(force)

    def observe(self, what: str = "positions", out: Array | None = None) -> Floats:
        """"positions" or "velocities" of particles, (copies, particles, 3) float32, or "bodies", (copies, bodies, 9): centre, velocity,
        spin. Positions and centres are relative to the place of each copy."""
        if what not in ("positions", "velocities", "bodies"):
            raise ArgumentError(f"what: is {what!r} (expected one of positions, velocities, bodies)")
        first = self.bodies[0] if self.bodies else []
        with self.world._lock:
            rows = len(first) if what == "bodies" else sum(body._info().particles for body in first)
            out = output(out, (self.copies, rows, 9 if what == "bodies" else 3), np.float32)
            for place, bodies, to in zip(self.places, self.bodies, out):
                if what == "bodies":
                    for body, row in zip(bodies, to):
                        info = body.info
                        row[:] = np.concatenate([info.centre - place, info.velocity, info.spin])
                    continue
                read = [b.get_positions(base=place) if what == "positions" else b.get_velocities() for b in bodies]
                found = np.concatenate(read) if read else to
                if found.shape != to.shape:
                    raise CapacityError(f"observe: the copies do not all have {rows} particles")
                to[:] = found
        return out


def gradient(function: Callable[[Array], Any], at: Any, step: Any = 1e-3) -> Array:
    """The derivative of ``function`` by central differences: 2 n calls for n parameters.

    The step of a world has no derivative of its own: contacts, plasticity and limits have corners. Differences are all there is, and they are
    as good as the step: too small a one measures rounding (positions are float32), too large a one the curve. ``function`` takes an array
    of parameters and gives a number or an array; the result has the shape of that, then that of the parameters. ``step`` is one for all,
    or an array like the parameters.
    """
    point = np.asarray(at, dtype=np.float64)
    steps = np.broadcast_to(np.asarray(step, dtype=np.float64), point.shape)
    if not np.all(steps > 0.0):
        raise ArgumentError("step: expected numbers above 0")
    columns = []
    for index in np.ndindex(point.shape):
        ends = []
        for sign in (1.0, -1.0):
            moved = point.copy()
            moved[index] += sign * steps[index]
            ends.append(np.asarray(function(moved), dtype=np.float64))
        columns.append((ends[0] - ends[1]) / (2.0 * steps[index]))
    return np.moveaxis(np.array(columns), 0, -1).reshape(columns[0].shape + point.shape)
