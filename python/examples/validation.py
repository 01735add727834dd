"""Does it do what physics says? validation.py [FOLDER] writes validation.png: four comparisons with formulas."""

import os
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import limber

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
quick = "LIMBER_EXAMPLE_QUICK" in os.environ
STEPS = np.arange(5) * 0.25
GRID = np.stack(np.meshgrid(STEPS, STEPS, STEPS, indexing="ij"), axis=-1).reshape(-1, 3) - 0.5


def thrown():
    """A spinning body in free flight: height, and what is lost of momentum and spin."""
    world = limber.World()
    body = world.add_points(GRID, clusters=(2, 2, 2), velocity=(3, 6, 0), spin=(0, 4, 1))
    rows = []
    for _ in range(72):
        world.step()
        rows.append((world.time, *body.centre[:2], np.linalg.norm(body.info.angular_momentum)))
    return np.array(rows)


def ringing(hertz):
    """The frequency with which a stretched rigid region rings, from the times at which it is as long as at rest."""
    world = limber.World(gravity=(0, 0, 0), substeps=8)
    material = limber.Material(mode="rigid", hertz=hertz, damping_ratio=0.0)
    body = world.add_points(GRID, material=material)
    body.set_state(GRID * [1.05, 1, 1])
    lengths = []
    for _ in range(240):
        world.step()
        lengths.append(np.ptp(body.positions[:, 0]) - 1.0)
    lengths = np.array(lengths)
    at = np.flatnonzero((lengths[:-1] < 0) != (lengths[1:] < 0))
    crossings = at + lengths[at] / (lengths[at] - lengths[at + 1])
    return 30.0 / np.diff(crossings).mean()


def sliding(friction, degrees):
    """The acceleration of a stiff block on a slope."""
    slope = np.radians(degrees)
    world = limber.World(gravity=(9.81 * np.sin(slope), -9.81 * np.cos(slope), 0), substeps=4)
    world.add_collider("plane", friction=friction)
    material = limber.Material(mode="rigid", stiffness="alpha", alpha=1.0, damping=20.0, friction=friction)
    body = world.add_points(GRID * [1, 0.3, 1], position=(0, 0.15, 0), material=material)
    world.step(count=60)
    start = body.info.velocity[0]
    world.step(count=30)
    return (body.info.velocity[0] - start) / 0.5


def sag(spacing):
    """How far a clamped bar hangs down, for several spacings of one material."""
    world = limber.World(substeps=8)
    mesh = limber.Mesh.shape("box", size=(1.0, 0.25, 0.25), detail=8)
    material = limber.Material(mode="rigid", hertz=12, damping_ratio=2.0, damping_kind="regional")
    bar = world.add_lattice(mesh, spacing=spacing, width_metres=0.2, material=material)
    rest = bar.rest_positions
    world.add_pin(bar, np.flatnonzero(rest[:, 0] < rest[:, 0].min() + 0.51 * spacing))
    world.step(count=120 if quick else 240)
    tip = rest[:, 0] > rest[:, 0].max() - 0.51 * spacing
    return -(bar.positions[tip, 1] - rest[tip, 1]).mean(), bar.info.particles


figure, axes = plt.subplots(2, 2, figsize=(11, 8))
flight = thrown()
time, centre, height, spin = flight.T
axes[0, 0].plot(time, height, "C0.", label="simulated height")
# The step is symplectic: positions are those of the velocity after the step, so the formula has an end correction of half a step.
axes[0, 0].plot(time, 6 * time - 0.5 * 9.81 * time * (time + 1 / 60), "k-", lw=0.8, label="$v t - g\\,t\\,(t + h) / 2$")
axes[0, 0].plot(time, 100 * (spin / spin[0] - 1), "C3-", label="angular momentum, change in %")
axes[0, 0].set(xlabel="time (s)", ylabel="m", title="Free flight of a spinning body")
error = np.abs(height - (6 * time - 0.5 * 9.81 * time * (time + 1 / 60))).max()

asked = np.array([1, 2, 4, 6, 8] if quick else [1, 2, 3, 4, 5, 6, 7, 8, 10])
found = np.array([ringing(f) for f in asked])
axes[0, 1].plot(asked, asked, "k-", lw=0.8, label="as asked")
axes[0, 1].plot(asked, found, "C0o", label="measured")
axes[0, 1].set(xlabel="hertz of the material", ylabel="Hz", title="Ringing of a single region")

degrees = np.arange(0, 61, 15 if quick else 5)
for n, friction in enumerate((0.2, 0.5, 0.8)):
    slope = np.radians(degrees)
    theory = np.maximum(0, 9.81 * (np.sin(slope) - friction * np.cos(slope)))
    axes[1, 0].plot(degrees, theory, f"C{n}-", lw=0.8)
    axes[1, 0].plot(degrees, [sliding(friction, d) for d in degrees], f"C{n}o", label=f"friction {friction}")
axes[1, 0].set(xlabel="slope (degrees)", ylabel="acceleration (m/s²)", title="Coulomb's law: points simulated, lines the formula")

spacings = [0.0625, 0.05] if quick else [0.0625, 0.05, 0.04, 0.03125, 0.025]
sags = [sag(s) for s in spacings]
axes[1, 1].plot([s[1] for s in sags], [100 * s[0] for s in sags], "C0o-")
axes[1, 1].set(xlabel="particles", ylabel="sag of the tip (cm)", title="One material at several spacings", ylim=(0, 80), xscale="log")

for axis in (axes[0, 0], axes[0, 1], axes[1, 0]):
    axis.legend()
figure.tight_layout()
figure.savefig(folder / "validation.png", dpi=90)
print(f"free flight: height within {1000 * error:.3f} mm of the formula, angular momentum within {100 * np.abs(spin / spin[0] - 1).max():.4f} %")
print("ringing:", ", ".join(f"{a} Hz asked, {f:.3f} found" for a, f in zip(asked, found)))
print("sag:", ", ".join(f"{1000 * s:.1f} mm with {n} particles" for s, n in sags))
