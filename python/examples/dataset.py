"""A dataset of 1,000 random drops: dataset.py [FOLDER] writes dataset.npz and dataset.png.

A soft cube falls on a floor, turned, thrown and spun at random, a thousand times. Worlds are copies of one that differ in how the cube starts, and
are stepped over all cores in one call each frame. What is kept: how each began, and where its centre was in every frame.
"""

import os
import sys
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import limber

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
DROPS, AT_ONCE, FRAMES = (100 if "LIMBER_EXAMPLE_QUICK" in os.environ else 1000), 100, 90
random = np.random.default_rng(7)

world = limber.World(workers=1, substeps=2)
world.add_collider("plane", friction=0.6)
side = np.linspace(-0.25, 0.25, 4)
points = np.stack(np.meshgrid(side, side, side, indexing="ij"), axis=-1).reshape(-1, 3)
material = limber.Material(mode="rigid", hertz=14, damping_ratio=0.2, restitution=0.3)
surface = limber.Mesh.shape("box", size=0.5, detail=8)
cube = world.add_points(points, clusters=(2, 2, 2), overlap=0.5, material=material, skin=surface)


def turn(quaternions):
    """Matrices of rotations."""
    x, y, z, w = quaternions.T
    return np.stack(
        [
            np.stack([1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)], axis=-1),
            np.stack([2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)], axis=-1),
            np.stack([2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)], axis=-1),
        ],
        axis=-2,
    )


rotations = random.normal(size=(DROPS, 4))
rotations /= np.linalg.norm(rotations, axis=1, keepdims=True)
velocities = random.uniform([-1, -1, -1], [1, 1, 1], size=(DROPS, 3))
spins = random.uniform(-6, 6, size=(DROPS, 3))
heights = random.uniform(0.8, 1.6, size=DROPS)
centres = np.empty((DROPS, FRAMES, 3), dtype=np.float32)

begin = time.perf_counter()
with limber.WorldBatch(world, AT_ONCE) as batch:
    seen = np.empty((AT_ONCE, 1, 9), dtype=np.float32)
    for first in range(0, DROPS, AT_ONCE):
        batch.reset()
        chosen = slice(first, first + AT_ONCE)
        turned = points @ turn(rotations[chosen]).swapaxes(1, 2)
        for copy, shape, velocity, spin, height in zip(batch, turned, velocities[chosen], spins[chosen], heights[chosen]):
            copy.bodies[0].set_state(shape + [0, height, 0], velocity + np.cross(spin, shape))
        for frame in range(FRAMES):
            batch.step()
            centres[chosen, frame] = batch.observe("bodies", seen)[:, 0, :3]
    seconds = time.perf_counter() - begin
    print(f"{DROPS} drops of {FRAMES} frames in {seconds:.1f} s: {DROPS * FRAMES / seconds:.0f} steps a second on {batch.threads} threads")
    resting = [limber.render(batch[n], (240, 180), camera=((0.2, 1.6, 3.2), (0, 0.2, 0), 28)).pixels for n in range(6)]

np.savez_compressed(folder / "dataset.npz", rotation=rotations, velocity=velocities, spin=spins, height=heights, centres=centres)

figure, axes = plt.subplots(1, 3, figsize=(13, 4.2))
for path in centres[:60]:
    axes[0].plot(np.arange(FRAMES) / 60, path[:, 1], lw=0.6)
axes[0].set(xlabel="time (s)", ylabel="height of the centre (m)", title="60 of the drops")
points_at = axes[1].scatter(centres[:, -1, 0], centres[:, -1, 2], c=np.linalg.norm(spins, axis=1), s=8)
axes[1].set(xlabel="x (m)", ylabel="z (m)", title=f"where {DROPS} cubes are after 1.5 s", aspect="equal")
figure.colorbar(points_at, ax=axes[1], label="spin at the start (rad/s)")
axes[2].imshow(np.vstack([np.hstack(resting[:3]), np.hstack(resting[3:])]))
axes[2].set_axis_off()
axes[2].set_title("six of the last hundred")
figure.tight_layout()
figure.savefig(folder / "dataset.png", dpi=90)
