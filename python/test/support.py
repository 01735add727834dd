"""What the tests share."""

import os
import subprocess

import numpy as np

import limber

SOURCE = os.environ["LIMBER_SOURCE"]
TOOL = os.environ["LIMBER_TOOL"]

CUBE = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=np.float32)


def grid(n, spacing=0.1):
    """n x n x n points."""
    steps = np.arange(n) * spacing
    return np.stack(np.meshgrid(steps, steps, steps, indexing="ij"), axis=-1).reshape(-1, 3).astype(np.float32)


def box(size=1.0, detail=4):
    return limber.Mesh.shape("box", size=(size, size, size), detail=detail)


def bar():
    """A lattice in mid-air."""
    return limber.Mesh.shape("box", size=(1.0, 0.25, 0.25), detail=8)


def tool(*arguments, check=True):
    done = subprocess.run([TOOL, *arguments], capture_output=True, text=True)
    if check and done.returncode:
        raise AssertionError(done.stderr)
    return done
