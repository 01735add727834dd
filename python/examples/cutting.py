"""A liver is cut by a blade that moves: cutting.py [FOLDER] writes cutting.png, and cutting.usda for other programs."""

import os
import sys
from pathlib import Path

import numpy as np

import limber

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
quick = "LIMBER_EXAMPLE_QUICK" in os.environ
mesh = limber.Mesh.shape("liver", size=1.0, detail=24 if quick else 48)

with limber.World(substeps=2) as world, limber.Renderer(400, 300) as renderer:
    world.add_collider("plane", friction=0.8)
    material = limber.Material(mode="rigid", hertz=6, damping_ratio=0.6)
    liver = world.add_octree(
        mesh, spacing=1 / 32, levels=2, position=(0, -mesh.vertices[:, 1].min() + 0.02, 0), material=material, self_contact=True
    )
    liver.prepare_cut()
    world.step(count=30)
    middle = liver.centre
    lower, upper = liver.info.lower, liver.info.upper
    pictures, before = [], liver.info.particles

    def look():
        # After a cut the skin has more vertices than the mesh; each knows whose colour it has, and inner faces are paler.
        camera = middle + [0.5, 1.3, 1.7], middle, 29
        pictures.append(renderer.draw(world, camera=camera, colours={liver: mesh.colours}).pixels)

    look()
    frames = 60
    with limber.Exporter(folder / "cutting.usda", world, frames=frames, bodies={"liver": liver}) as out:
        # The edge of the blade stands upright and goes through from front to back within half a second.
        x = middle[0] + 0.05
        for frame in range(frames):
            if frame < 30:
                ends = np.interp([frame / 30, (frame + 1) / 30], [0, 1], [upper[2] + 0.3, lower[2] - 0.3])
                edges = [np.array([[x, -1.0, z], [x, 2.0, z]]) for z in ends]
                info = liver.cut_sweep(*edges)
            if frame == 14:
                look()
            if frame == 30:
                # Pull the parts away from each other, so that the cut is seen.
                sides = liver.pieces == liver.pieces[np.argmax(liver.positions[:, 0])]
                for particle in np.flatnonzero(sides):
                    liver.add_impulse(np.array([1.2, 0.4, 0]) * liver.masses[particle], particle=int(particle))
            world.step()
            if frame == 45:
                look()
            out.add()
    look()
    print(f"{before} particles became {info.particles}, in {info.parts} parts; the skin has {len(liver.skin_faces)} triangles, {len(mesh.faces)} before")

rows = [np.hstack(pictures[:2]), np.hstack(pictures[2:])]
limber.Picture(np.vstack(rows)).save(folder / "cutting.png")
