"""What users set: on objects and on the scene."""

import bpy

from .simulate import limber

# Values of limber.Material that a preset stands for.
PRESETS = {
    "JELLY": dict(mode="linear", hertz=6.0, damping_ratio=0.1, beta=0.5),
    "RUBBER": dict(mode="rigid", hertz=12.0, damping_ratio=0.15),
    "FIRM": dict(mode="rigid", hertz=25.0, damping_ratio=0.5),
    "CLAY": dict(mode="rigid", hertz=15.0, damping_ratio=1.0, yield_=0.05, creep=20.0),
    "FLESH": dict(mode="rigid", hertz=12.0, damping_ratio=0.15, damping_kind="regional"),
}


# Materials of the library by their names, in pascals: the sliders of stiffness and damping do not count for these.
LIBRARY = {f"LIMBER_{name.upper().replace(' ', '_')}": name for name in (limber.material.PRESETS if limber else ())}


def take_preset(settings, _context):
    for name, value in PRESETS.get(settings.preset, {}).items():
        if name == "hertz":
            settings.hertz = value
        elif name == "damping_ratio":
            settings.damping_ratio = value


class LimberObject(bpy.types.PropertyGroup):
    kind: bpy.props.EnumProperty(
        name="Kind",
        items=[
            ("NONE", "None", "Not a part of the simulation"),
            ("SOFT", "Soft body", "It deforms"),
            ("COLLIDER", "Collider", "Soft bodies do not enter it; it may be animated"),
            ("FLOOR", "Floor", "An infinite plane through the origin of the object, facing along its Z axis"),
            ("BLADE", "Blade", "Its faces cut soft bodies at one frame"),
        ],
    )
    sampling: bpy.props.EnumProperty(
        name="Sampling",
        items=[
            ("LATTICE", "Lattice", "Cubic cells of one size"),
            ("OCTREE", "Octree", "Small cells where the mesh is thin; for cuts"),
            ("TETS", "Tetrahedra", "Tetrahedra made of the mesh"),
        ],
    )
    particles: bpy.props.IntProperty(name="Particles", default=1000, min=8, max=1000000, description="About how many")
    width: bpy.props.IntProperty(name="Width", default=2, min=1, max=8, description="Of a lattice's regions, in cells; wider is stiffer")
    shell: bpy.props.BoolProperty(name="Shell", description="Only where the mesh is, not what it encloses; for sheets of cloth")
    preset: bpy.props.EnumProperty(
        name="Preset",
        items=[(name, name.capitalize(), "") for name in PRESETS]
        + [(key, name.capitalize() + " (Pa)", "As in docs/materials.md") for key, name in LIBRARY.items()],
        default="RUBBER",
        update=take_preset,
    )
    hertz: bpy.props.FloatProperty(name="Stiffness", default=12.0, min=0.0, max=1000.0, description="Frequency of a region, Hz")
    damping_ratio: bpy.props.FloatProperty(name="Damping", default=0.15, min=0.0, max=10.0, description="1 is critical")
    mass: bpy.props.FloatProperty(name="Mass", default=1.0, min=1e-6, description="Of the whole body, kg")
    friction: bpy.props.FloatProperty(name="Friction", default=0.5, min=0.0, max=100.0)
    restitution: bpy.props.FloatProperty(name="Bounce", default=0.0, min=0.0, max=1.0)
    margin: bpy.props.FloatProperty(name="Margin", default=0.0, min=0.0, max=100.0, subtype="DISTANCE", description="Kept from colliders")
    touches: bpy.props.BoolProperty(name="Touches bodies", default=True, description="It touches other soft bodies")
    self_contact: bpy.props.BoolProperty(name="Touches itself")
    pins: bpy.props.StringProperty(name="Pins", description="Vertex group: what is above half moves with the object")
    stiffness: bpy.props.StringProperty(name="Stiffness map", description="Vertex group: share of the stiffness")
    detail: bpy.props.StringProperty(name="Detail", description="Vertex group: small cells where it is 1 (octrees)")
    use_armature: bpy.props.BoolProperty(name="Skeleton", description="Bones of its armature hold the flesh around them")
    bone_radius: bpy.props.FloatProperty(name="Bone radius", default=0.15, min=0.0, max=10.0, description="Held around a bone, as a share of its length")
    breaks: bpy.props.BoolProperty(name="Breaks", description="A lattice that is stretched too far breaks")
    limit: bpy.props.FloatProperty(name="Limit", default=0.2, min=0.0, max=100.0, description="Strain at which it breaks")
    cut_frame: bpy.props.IntProperty(name="Frame", default=10, description="When the blade cuts")
    baked: bpy.props.BoolProperty(options={"HIDDEN"})


class LimberScene(bpy.types.PropertyGroup):
    substeps: bpy.props.IntProperty(name="Substeps", default=4, min=0, max=1024, description="Of each frame; 0: as many as the materials need")
    folder: bpy.props.StringProperty(
        name="Cache", subtype="DIR_PATH", default="//limber_cache", description="Where point caches go; // is the folder of the file"
    )


CLASSES = (LimberObject, LimberScene)


def register():
    for kind in CLASSES:
        bpy.utils.register_class(kind)
    bpy.types.Object.limber = bpy.props.PointerProperty(type=LimberObject)
    bpy.types.Scene.limber = bpy.props.PointerProperty(type=LimberScene)


def unregister():
    del bpy.types.Scene.limber
    del bpy.types.Object.limber
    for kind in reversed(CLASSES):
        bpy.utils.unregister_class(kind)
