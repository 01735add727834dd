"""The operators: bake, with progress and cancelling, and clear."""

import bpy
import numpy as np

from . import cache
from .simulate import BakeError, Simulation


class Baking:
    """One bake, frame by frame. Nothing is changed on any object before it is complete."""

    def __init__(self, context):
        self.context = context
        self.scene = context.scene
        self.was_at = self.scene.frame_current
        self.baked = [found.name for found in self.scene.objects if found.limber.baked]
        for name in self.baked:
            cache.suspend(self.scene.objects[name])
        self.simulation = None
        try:
            self.simulation = Simulation(context)
        except Exception:
            self.close()
            raise
        self.frame = self.simulation.first
        self.frames = {soft.name: [self.simulation.surface(soft)] for soft in self.simulation.softs}

    @property
    def done(self):
        return self.frame >= self.simulation.last

    def step(self):
        self.frame += 1
        self.simulation.step(self.frame)
        for soft in self.simulation.softs:
            self.frames[soft.name].append(self.simulation.surface(soft))

    def write(self):
        """The point caches of bodies whose topology stays: paths by the names of the objects. All of them or none."""
        files, paths, name = cache.Files(self.scene), {}, ""
        try:
            for name, frames in self.frames.items():
                if all(faces is None for _, faces, _ in frames):
                    paths[name] = files.add(name, np.array([vertices for vertices, _, _ in frames]))
            files.keep()
        except OSError as error:
            raise BakeError(f"{name}: {error}") from None
        finally:
            files.drop()
        return paths

    def finish(self):
        paths = self.write()
        for name in self.baked:
            cache.clear(self.scene.objects[name])
        self.baked = []
        for soft in self.simulation.softs:
            found, frames = self.scene.objects[soft.name], self.frames[soft.name]
            if soft.name in paths:
                cache.put_points(self.scene, found, paths[soft.name])
            else:
                cache.put_meshes(self.scene, found, frames, soft.given, soft.looks)
        told = f"{len(self.simulation.softs)} soft bodies, {len(frames)} frames"
        self.close()
        return told

    def close(self):
        """Also before the end: then everything is as it was."""
        if self.simulation is not None:
            self.simulation.close()
        for name in self.baked:
            cache.resume(self.scene.objects[name])
        self.scene.frame_set(self.was_at)


class LIMBER_OT_bake(bpy.types.Operator):
    """Simulate all frames of the scene and keep the result on the objects"""

    bl_idname = "limber.bake"
    bl_label = "Bake"
    bl_options = {"REGISTER", "UNDO"}

    def begin(self, context):
        try:
            self.baking = Baking(context)
            return True
        except BakeError as error:
            self.report({"ERROR"}, str(error))
            return False

    def execute(self, context):
        """All frames at once: scripts, and Blender without a window."""
        if not self.begin(context):
            return {"CANCELLED"}
        try:
            while not self.baking.done:
                self.baking.step()
            self.report({"INFO"}, self.baking.finish())
            return {"FINISHED"}
        except BakeError as error:
            self.baking.close()
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}

    def invoke(self, context, _event):
        if bpy.app.background:
            return self.execute(context)
        if not self.begin(context):
            return {"CANCELLED"}
        manager = context.window_manager
        manager.progress_begin(self.baking.frame, self.baking.simulation.last)
        self.timer = manager.event_timer_add(0.001, window=context.window)
        manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def end(self, context):
        manager = context.window_manager
        manager.event_timer_remove(self.timer)
        manager.progress_end()
        context.workspace.status_text_set(None)

    def modal(self, context, event):
        if event.type == "ESC":
            self.end(context)
            self.baking.close()
            self.report({"INFO"}, "Cancelled; nothing was changed")
            return {"CANCELLED"}
        if event.type != "TIMER":
            return {"RUNNING_MODAL"}
        try:
            if self.baking.done:
                self.end(context)
                self.report({"INFO"}, self.baking.finish())
                return {"FINISHED"}
            self.baking.step()
        except BakeError as error:
            self.end(context)
            self.baking.close()
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        context.window_manager.progress_update(self.baking.frame)
        context.workspace.status_text_set(f"Limber: frame {self.baking.frame} of {self.baking.simulation.last}, Esc cancels")
        return {"RUNNING_MODAL"}


class LIMBER_OT_clear(bpy.types.Operator):
    """Take the results off all soft bodies of the scene"""

    bl_idname = "limber.clear"
    bl_label = "Clear"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context):
        for found in context.scene.objects:
            if found.limber.baked:
                cache.clear(found)
        return {"FINISHED"}


CLASSES = (LIMBER_OT_bake, LIMBER_OT_clear)


def register():
    for kind in CLASSES:
        bpy.utils.register_class(kind)


def unregister():
    for kind in reversed(CLASSES):
        bpy.utils.unregister_class(kind)
