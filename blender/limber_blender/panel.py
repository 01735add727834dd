"""The panel in the physics properties."""

import bpy


class LIMBER_PT_object(bpy.types.Panel):
    bl_label = "Limber"
    bl_idname = "LIMBER_PT_object"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "physics"

    @classmethod
    def poll(cls, context):
        return context.object is not None

    def draw(self, context):
        layout, found = self.layout, context.object
        settings, scene = found.limber, context.scene.limber
        layout.use_property_split = True
        layout.prop(settings, "kind")
        if settings.kind == "SOFT" and found.type == "MESH":
            self.draw_soft(layout, found, settings)
        elif settings.kind in ("COLLIDER", "FLOOR"):
            layout.prop(settings, "friction")
            layout.prop(settings, "restitution")
        elif settings.kind == "BLADE":
            layout.prop(settings, "cut_frame")
        box = layout.box()
        box.label(text="All of the scene")
        box.prop(scene, "substeps")
        box.prop(scene, "folder")
        row = box.row()
        row.operator("limber.bake")
        row.operator("limber.clear")

    def draw_soft(self, layout, found, settings):
        for name in ("sampling", "particles"):
            layout.prop(settings, name)
        if settings.sampling == "LATTICE":
            layout.prop(settings, "width")
            layout.prop(settings, "shell")
        for name in ("preset", "hertz", "damping_ratio", "mass", "friction", "restitution", "margin", "touches", "self_contact"):
            layout.prop(settings, name)
        for name in ("pins", "stiffness") + (("detail",) if settings.sampling == "OCTREE" else ()):
            layout.prop_search(settings, name, found, "vertex_groups")
        layout.prop(settings, "use_armature")
        if settings.use_armature:
            layout.prop(settings, "bone_radius")
        if settings.sampling == "LATTICE":
            layout.prop(settings, "breaks")
            if settings.breaks:
                layout.prop(settings, "limit")


def register():
    bpy.utils.register_class(LIMBER_PT_object)


def unregister():
    bpy.utils.unregister_class(LIMBER_PT_object)
