"""Runs in a window: blender --factory-startup --enable-event-simulate --python window.py -- ADD-ON.zip FOLDER

Bakes with the button's own call, frame by frame while Blender stays awake; then again, and presses Esc.
"""

import os
import sys
import traceback

import bpy

ADDON, FOLDER = sys.argv[sys.argv.index("--") + 1 :][:2]
bpy.ops.preferences.addon_install(filepath=ADDON)
bpy.ops.preferences.addon_enable(module="limber_blender")
scene = bpy.context.scene
scene.frame_start, scene.frame_end = 1, 40
scene.limber.folder = FOLDER
cube = bpy.data.objects["Cube"]
cube.limber.kind = "SOFT"
cube.limber.particles = 100


def override():
    window = bpy.context.window_manager.windows[0]
    area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    return dict(window=window, screen=window.screen, area=area, region=area.regions[-1])


def begin():
    with bpy.context.temp_override(**override()):
        assert bpy.ops.limber.bake("INVOKE_DEFAULT") == {"RUNNING_MODAL"}


def story():
    begin()
    seen = set()
    for _ in range(2000):
        seen.add(scene.frame_current)
        if cube.limber.baked:
            break
        yield
    assert cube.limber.baked, "it was baked"
    assert len(seen) > 5, "frame by frame: " + str(seen)
    assert cube.modifiers[-1].name == "Limber cache"
    stamp = os.stat(os.path.join(FOLDER, "Cube.pc2")).st_mtime_ns
    begin()
    while scene.frame_current < 5:
        yield
    window = bpy.context.window_manager.windows[0]
    window.event_simulate(type="ESC", value="PRESS", x=200, y=200)
    for _ in range(500):
        if scene.frame_current == 1 and cube.limber.baked:
            break
        yield
    assert scene.frame_current == 1 and cube.limber.baked, "Esc ends it, and the result from before is shown again"
    assert os.stat(os.path.join(FOLDER, "Cube.pc2")).st_mtime_ns == stamp, "and its file was not touched"


steps = story()


def go_on():
    try:
        next(steps)
        return 0.01
    except StopIteration:
        print("window: ok", flush=True)
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)


bpy.app.timers.register(go_on, first_interval=1.0)
