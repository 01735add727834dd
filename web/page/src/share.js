// Links, and what can be copied, saved and recorded.
import { Recorder } from "limber-physics";

/** "#scene=duck&set=a=1&set=b=2&view=strain&frame=60" as an object. */
export function readLink(hash = location.hash) {
    const values = new URLSearchParams(hash.replace(/^#/, ""));
    return {
        scene: values.get("scene"), sets: values.getAll("set"), view: values.get("view"), tool: values.get("tool"),
        frame: values.has("frame") ? Number(values.get("frame")) : null, paused: values.has("paused"),
    };
}

export function writeLink({ scene, sets = [], view, frame }) {
    const values = new URLSearchParams();
    if (scene) values.set("scene", scene);
    for (const set of sets) values.append("set", set);
    if (view && view !== "surface") values.set("view", view);
    if (frame) values.set("frame", String(frame));
    return "#" + values.toString().replaceAll("%5B", "[").replaceAll("%5D", "]");
}

export function download(name, bytes, type = "application/octet-stream") {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([bytes], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

export async function copy(text) {
    try {
        await navigator.clipboard.writeText(text);
    } catch {
        const area = document.createElement("textarea");
        area.value = text;
        document.body.append(area);
        area.select();
        document.execCommand("copy");
        area.remove();
    }
}

/** A scene's text with overrides put in, as JSON. */
export function sceneWithSets(text, sets) {
    const scene = JSON.parse(text);
    for (const set of sets) {
        const equals = set.indexOf("="), path = set.slice(0, equals), value = set.slice(equals + 1);
        const keys = path.match(/[^.[\]]+/g);
        let at = scene;
        for (const [n, key] of keys.entries()) {
            if (n < keys.length - 1) at = at[key] ??= /^\d+$/.test(keys[n + 1]) ? [] : {};
            else {
                try {
                    at[key] = JSON.parse(value);
                } catch {
                    at[key] = value;
                }
            }
        }
    }
    return JSON.stringify(scene, null, 2);
}

/** A program in C that goes on from a snapshot, and prints the hash that the page shows. */
export function asC({ name, file, frames, hash }) {
    return `/* Goes on with "${name}" from a snapshot, for ${frames} frames. The page says that the hash is then ${hash}
 * (when nothing but gravity, contacts and what is in the snapshot acts on it meanwhile).
 *
 *     cc -O2 game.c $(pkg-config --cflags --libs limber) && ./a.out
 */
#include <limber/limber.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    FILE *file = fopen("${file}", "rb"); /* "Save snapshot" on the page */
    if (file == NULL) return 1;
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    void *bytes = malloc(size);
    if (bytes == NULL || fread(bytes, 1, size, file) != size) return 1;
    fclose(file);

    lm_world_def def = lm_world_def_default();
    lm_world *world;
    if (lm_world_create(&def, &world) != LM_OK || lm_world_load(world, bytes, size) != LM_OK) return 1;
    free(bytes);
    for (int frame = 0; frame < ${frames}; frame++) lm_world_step(world, 1.0 / 60.0);
    printf("%016" PRIx64 "\\n", lm_world_hash(world));
    lm_world_destroy(world);
    return 0;
}
`;
}

/** Two seconds from now on as a GLB; the session is then where it was before. */
export function exportGlb(session, frames = 120) {
    const start = session.world.save(), marks = session.scene.marks(), { frame } = session, company = JSON.stringify(session.company);
    const bodies = session.scene.bodies().map(({ body, name }, n) => ({ body, name, colours: session.scene.colours(n) }));
    const recorder = new Recorder(session.world, bodies, { file: "/motion.glb", frames: frames / 2, rate: 30 });
    try {
        for (let n = 0; n < frames; n++) {
            if (n % 2 === 0) recorder.add();
            session.moveBalls();
            session.scene.step();
        }
        return recorder.finish();
    } finally {
        recorder.free();
        session.world.load(start);
        session.scene.setMarks(marks);
        session.scene.frame = frame;
        session.company = JSON.parse(company);
    }
}

/** Records the canvas as WebM until stop() is called. */
export class Film {
    constructor(canvas) {
        const type = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm"].find((one) => MediaRecorder.isTypeSupported(one));
        if (!type) throw new Error("This browser cannot record WebM.");
        this.parts = [];
        this.recorder = new MediaRecorder(canvas.captureStream(30), { mimeType: type, videoBitsPerSecond: 8e6 });
        this.recorder.ondataavailable = ({ data }) => this.parts.push(data);
        this.recorder.start(500);
    }

    stop() {
        return new Promise((done) => {
            this.recorder.onstop = () => done(new Blob(this.parts, { type: "video/webm" }));
            this.recorder.stop();
        });
    }
}

/** A scene for a mesh that was dropped. */
export function meshScene(file, { sampling, particles, hertz, mode, longest }) {
    const bodies = {
        lattice: { lattice: { particles, width: 3 } },
        octree: { octree: { spacing: longest / 32 } },
        tets: { tets: { particles } },
    }[sampling];
    return JSON.stringify({
        limber: 1, title: `${file} falls on a floor`, frames: 240, substeps: 3,
        camera: { at: [1.15 * longest, longest, 2.3 * longest], look_at: [0, 0.6 * longest, 0], field_of_view: 36 },
        bodies: [{
            name: "mesh", mesh: { file, longest, origin: "bottom" }, ...bodies,
            material: { mode: sampling === "lattice" ? mode : mode === "quadratic" ? "linear" : mode, hertz, damping_ratio: 0.1 },
            mask: 1, at: [0, 0.25 * longest, 0],
        }],
        colliders: [{ shape: "plane" }],
    }, null, 2);
}
