"""Limber for Blender: soft bodies, colliders, skeletons inside flesh, and cuts, baked into caches.

docs/blender.md is the guide. The library is inside the add-on, as the Python package `limber`.
"""

bl_info = {
    "name": "Limber soft bodies",
    "author": "Limber",
    "version": (0, 1, 0),
    "blender": (3, 4, 0),
    "location": "Properties > Physics > Limber",
    "description": "Soft bodies by shape matching: fall, collide, jiggle, tear and are cut",
    "category": "Physics",
}

from . import bake, cache, panel, properties


def register():
    properties.register()
    bake.register()
    panel.register()
    cache.register()


def unregister():
    cache.unregister()
    panel.unregister()
    bake.unregister()
    properties.unregister()
