"""Flesh on a character's bones: jiggle.py [FOLDER] writes jiggle.png.

The model "infant" has a skeleton. Its bones are moved as an animation would, by a hop and a turn of the whole figure with swinging arms;
the soft body between them lags behind and swings after. The plot compares the belly with where a rigid figure would have it.
"""

import os
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import limber

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
quick = "LIMBER_EXAMPLE_QUICK" in os.environ
mesh = limber.Mesh.shape("infant", size=1.0, detail=24 if quick else 40)
FLOOR = float(mesh.vertices[:, 1].min())


def quaternion(axis, angle):
    return np.append(np.sin(angle / 2) * np.asarray(axis, dtype=float), np.cos(angle / 2))


def multiply(a, b):
    """First b, then a."""
    (ax, ay, az, aw), (bx, by, bz, bw) = a, b
    return np.array(
        [
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
            aw * bw - ax * bx - ay * by - az * bz,
        ]
    )


def rotate(q, v):
    u, w = np.asarray(q[:3]), q[3]
    return v + 2 * np.cross(u, np.cross(u, v) + w * np.asarray(v))


def pose(time):
    """World poses of all bones: the parent's motion, then the bone's own turn at its joint."""
    hop = 0.12 * max(0.0, np.sin(2 * np.pi * 1.5 * time)) if 0.4 < time < 2.4 else 0.0
    root = quaternion((0, 1, 0), 0.5 * np.sin(2 * np.pi * 0.75 * time)), np.array([0, hop, 0])
    swing = 0.5 * np.sin(2 * np.pi * 1.5 * time)
    frames, poses = [], []
    for bone in mesh.bones:
        turned, moved = root if bone.parent < 0 else frames[bone.parent]
        angle = swing if "upper_arm" in bone.name else 0.0
        own = quaternion((0, 0, 1), angle if bone.head[0] >= 0 else -angle)
        # Around the joint: a point p at rest goes to moved + turned (head + own (p - head)).
        all_turned = multiply(turned, own)
        all_moved = moved + rotate(turned, bone.head) - rotate(all_turned, bone.head)
        frames.append((all_turned, all_moved))
        poses.append((rotate(all_turned, bone.head) + all_moved, all_turned))
    return poses, root


world = limber.World(substeps=4)
world.add_collider("plane", position=(0, FLOOR - 0.01, 0))
material = limber.Material(mode="rigid", hertz=12, damping_ratio=0.15, damping_kind="regional")
flesh = world.add_lattice(mesh, particles=1500 if quick else 2600, width=2, material=material)
bones = [limber.Bone(bone.head, tail=bone.tail - bone.head, radius=0.13 if bone.name == "head" else 0.03, fade=0.01) for bone in mesh.bones]
skeleton = world.add_skeleton(flesh, bones)
print(f"{flesh.info.particles} particles, {len(bones)} bones ({', '.join(b.name for b in mesh.bones)}), {skeleton.info.held} particles held")

# The vertex of the belly that is farthest in front of the bones, halfway up.
vertices = mesh.vertices
low, high = np.percentile(vertices[:, 1], [35, 55])
middle = (vertices[:, 1] > low) & (vertices[:, 1] < high) & (np.abs(vertices[:, 0]) < 0.1)
belly = int(np.flatnonzero(middle)[np.argmax(vertices[middle, 2])])

times, lag, pictures = [], [], []
with limber.Renderer(360, 480) as renderer:
    for frame in range(180):
        poses, root = pose(world.time + limber.FRAME)
        skeleton.move_to(poses)
        world.step()
        rigid = rotate(root[0], vertices[belly]) + root[1]
        times.append(world.time)
        lag.append(flesh.live.skin[belly] - rigid)
        if frame in (5, 38, 58, 78):
            camera = ((0.8, 0.35, 2.4), (0, 0.05, 0), 30)
            pictures.append(renderer.draw(world, camera=camera, colours={flesh: mesh.colours}).pixels)

lag = 1000 * np.array(lag)
figure, (top, bottom) = plt.subplots(2, 1, figsize=(9.5, 6.5), height_ratios=(3, 2))
top.imshow(np.hstack(pictures))
top.set_axis_off()
for axis, name in enumerate("xyz"):
    bottom.plot(times, lag[:, axis], label=name)
bottom.set(xlabel="time (s)", ylabel="mm", title="How far the belly is from where a rigid figure would have it")
bottom.legend()
figure.tight_layout()
figure.savefig(folder / "jiggle.png", dpi=100)
print(f"the belly is up to {np.linalg.norm(lag, axis=1).max():.1f} mm from where a rigid figure would have it")
