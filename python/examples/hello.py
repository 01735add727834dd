"""A soft duck falls on a floor: hello.py [FOLDER] writes hello.png, four moments side by side."""

import sys
from pathlib import Path

import numpy as np

import limber

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
duck_mesh = limber.Mesh.shape("duck", size=1.0, detail=32)

with limber.World() as world, limber.Renderer(480, 360) as renderer:
    world.add_collider("plane")
    duck = world.add_lattice(
        duck_mesh,
        particles=800,
        width=3,
        position=(0, 1.5, 0),
        rotation=limber.Pose.turned((0, 0, 1), 60).rotation,
        material=limber.Material(hertz=8, damping_ratio=0.2),
    )
    pictures = []
    for frame in range(91):
        if frame in (0, 30, 40, 90):
            look = renderer.draw(world, camera=((1.0, 1.3, 4.0), (0, 0.85, 0), 32), colours={duck: duck_mesh.colours})
            pictures.append(look.pixels)
        world.step()
    print(f"after {world.time:.1f} s the duck's centre is {duck.centre[1]:.3f} m above the floor; hash {world.hash:016x}")

limber.Picture(np.hstack(pictures)).save(folder / "hello.png")
