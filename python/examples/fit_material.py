"""Which material sags as one that was measured? fit_material.py [FOLDER] writes fit_material.png.

A bar is clamped at one end and hangs down by its own weight. The height of its tip was measured at five times after it was let go. Stiffness
and damping are found so that the simulated bar does the same: Gauss-Newton, with derivatives by finite differences of whole runs. The
"measurement" here is a run with values that the fit is not told, rounded to half a millimetre, so that the answer can be checked.
"""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import limber

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
BAR = limber.Mesh.shape("box", size=(0.6, 0.2, 0.2), detail=12)
TIMES = np.array([0.1, 0.2, 0.35, 0.6, 1.0])  # s


def hang(hertz, damping_ratio, seconds=TIMES[-1]):
    """A world with the bar in it, and the height of its tip after each frame."""
    world = limber.World(workers=1, substeps=4)
    material = limber.Material(hertz=hertz, damping_ratio=damping_ratio, beta=0.0, mode="rigid", damping_kind="regional")
    bar = world.add_lattice(BAR, spacing=0.05, width_metres=0.2, material=material)
    clamped = np.flatnonzero(bar.rest_positions[:, 0] < -0.29)
    tip = np.flatnonzero(bar.rest_positions[:, 0] > 0.29)
    world.add_pin(bar, clamped)
    heights = []
    for _ in range(round(seconds * 60)):
        world.step()
        heights.append(bar.positions[tip, 1].mean())
    return world, np.array(heights)


def measure(logarithms):
    """Heights at the times of the measurement, for logarithms of the two parameters."""
    world, heights = hang(*np.exp(logarithms))
    world.close()
    return heights[np.round(TIMES * 60).astype(int) - 1]


def derivatives(at, step=0.05):
    """As limber.gradient, with the runs on several threads: worlds are independent, and steps release Python's lock."""
    moved = [at + sign * step * axis for axis in np.eye(len(at)) for sign in (1, -1)]
    with ThreadPoolExecutor() as pool:
        ends = list(pool.map(measure, moved))
    return np.array([(a - b) / (2 * step) for a, b in zip(ends[::2], ends[1::2])]).T


truth = (20.0, 0.3)
measured = np.round(measure(np.log(truth)) * 2000) / 2000
guess = np.log([12.0, 0.1])
path = [guess]
for _ in range(20):
    error = measure(guess) - measured
    if np.abs(error).max() < 0.0005:
        break
    change = np.linalg.lstsq(derivatives(guess), -error, rcond=None)[0]
    change *= min(1.0, 0.7 / np.abs(change).max())  # at most twice or half of each: far from the answer the slopes mislead
    # Half as far, and again, until it is nearer than before.
    for _ in range(6):
        if np.linalg.norm(measure(guess + change) - measured) < np.linalg.norm(error):
            break
        change /= 2
    guess = guess + change
    path.append(guess)
    print(f"{1000 * np.abs(error).max():.1f} mm off; next {np.exp(guess)[0]:.2f} Hz, damping ratio {np.exp(guess)[1]:.3f}")
found = np.exp(guess)
print(f"found {found[0]:.2f} Hz and {found[1]:.3f}; the measurement was made with {truth[0]} Hz and {truth[1]}")

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), width_ratios=(3, 2))
for logarithms, style, label in ((path[0], "C7--", "first guess"), (path[-1], "C0-", "fitted")):
    world, heights = hang(*np.exp(logarithms), seconds=1.5)
    left.plot(np.arange(1, len(heights) + 1) / 60, 100 * heights, style, label=f"{label}: {np.exp(logarithms)[0]:.1f} Hz, {np.exp(logarithms)[1]:.2f}")
left.plot(TIMES, 100 * measured, "ko", label="measured")
left.set(xlabel="time (s)", ylabel="height of the tip (cm)", title="A bar is let go")
left.legend()
right.imshow(limber.render(world, (640, 480), camera=((0.5, 0.25, 1.7), (0, -0.1, 0), 35)).pixels)
right.set_axis_off()
right.set_title("the fitted bar after 1.5 s")
figure.tight_layout()
figure.savefig(folder / "fit_material.png", dpi=100)
