"""Limber: real-time deformable bodies by shape matching.

    import limber

    with limber.World() as world:
        world.add_collider("plane")
        duck = world.add_lattice(limber.Mesh.shape("duck"), particles=500, position=(0, 1, 0))
        for frame in range(120):
            world.step()
        print(duck.centre)

docs/python.md is the guide. ``limber.lib`` and ``limber.ffi`` are the library itself, all of its header, for what is missing here.
"""

from ._core import (
    ArgumentError,
    CapacityError,
    ClosedError,
    FormatError,
    IdError,
    LimberError,
    LimitError,
    OutOfMemoryError,
    UnsupportedError,
    VersionError,
    ffi,
    lib,
    text as _text,
)
from .batch import SharedBatch, WorldBatch, gradient
from .body import (
    INNER,
    NO_GROUP,
    Body,
    BodyFilter,
    BodyInfo,
    CutInfo,
    Detail,
    Dropped,
    Fracture,
    LiveState,
    PieceInfo,
    Socket,
    SocketState,
)
from .cache import Cache
from .export import Exporter, Loss, export, formats
from .joints import Joint, JointEnd, JointState
from .material import Material, Pose, Sleep
from .mesh import Mesh, ShapeBone, TetMesh, shape_points, shapes
from .picture import Picture, Renderer, render, view, views
from .scene import Scene, scenes, schema
from .things import Bone, Collider, Drag, Field, Mover, Pin, Skeleton, SkeletonInfo, Wrench
from .world import (
    COMBINED,
    FRAME,
    Break,
    ContactEvent,
    ContactStats,
    Device,
    Hit,
    Split,
    Stats,
    Totals,
    World,
    devices,
    instruction_sets,
)

__version__: str = _text(lib.lm_version())

__all__ = [
    "ArgumentError",
    "Body",
    "BodyFilter",
    "BodyInfo",
    "Bone",
    "Break",
    "COMBINED",
    "Cache",
    "CapacityError",
    "ClosedError",
    "Collider",
    "ContactEvent",
    "ContactStats",
    "CutInfo",
    "Detail",
    "Device",
    "Drag",
    "Dropped",
    "Exporter",
    "FRAME",
    "Field",
    "FormatError",
    "Fracture",
    "Hit",
    "INNER",
    "IdError",
    "Joint",
    "JointEnd",
    "JointState",
    "LimberError",
    "LimitError",
    "LiveState",
    "Loss",
    "Material",
    "Mesh",
    "Mover",
    "NO_GROUP",
    "OutOfMemoryError",
    "Picture",
    "PieceInfo",
    "Pin",
    "Pose",
    "Renderer",
    "Scene",
    "ShapeBone",
    "SharedBatch",
    "Skeleton",
    "SkeletonInfo",
    "Sleep",
    "Socket",
    "SocketState",
    "Split",
    "Stats",
    "TetMesh",
    "Totals",
    "UnsupportedError",
    "VersionError",
    "World",
    "WorldBatch",
    "Wrench",
    "devices",
    "export",
    "ffi",
    "formats",
    "gradient",
    "instruction_sets",
    "lib",
    "render",
    "scenes",
    "schema",
    "shape_points",
    "shapes",
    "view",
    "views",
]
