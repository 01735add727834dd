/** Scenes: JSON (docs/scene-format.md) that becomes a world and drives it. */
import type { Body } from "./body.js";
import { closed, LimberError } from "./errors.js";
import type { Limber } from "./limber.js";
import type { Vector } from "./mesh.js";
import { LM, type Address } from "./raw.js";
import type { Id } from "./things.js";
import { World, type WorldOptions } from "./world.js";

export interface SceneOptions {
    /** "bodies[0].material.hertz=12" */
    sets?: readonly string[];
    /** What messages call a scene that was given as text; default "scene". */
    name?: string;
    /** Surfaces that are finer than the particles, for drawing; the simulation stays the same. Default false. */
    fine?: boolean;
    /** Measure the expectations while stepping; default false. */
    watch?: boolean;
}

export interface SceneView {
    at: [number, number, number];
    lookAt: [number, number, number];
    fieldOfView: number;
}

export class Scene {
    private pointer: Address;
    private worldOf: World | null = null;
    /** Steps since the start. */
    frame = 0;

    constructor(
        readonly limber: Limber,
        nameOrText: string,
        options: SceneOptions = {},
    ) {
        const { memory, raw } = limber;
        this.pointer = memory.scope(() => {
            const error = memory.scratchStruct("lm_scene_error"), sets = options.sets ?? [];
            const list = memory.scratch(4 * sets.length + 4);
            sets.forEach((set, n) => {
                const at = memory.scratchText(set);
                memory.indices(list, sets.length)[n] = at;
            });
            const isText = /^\s*\{/.test(nameOrText);
            let at: Address;
            if (isText) {
                const bytes = new TextEncoder().encode(nameOrText), text = memory.scratchArray(bytes);
                at = raw.lm_scene_open_text(options.name ?? "scene", text, bytes.length, list, sets.length, error);
            } else {
                at = raw.lm_scene_open(nameOrText, list, sets.length, error);
            }
            if (at === 0) throw new LimberError(LM.LM_ERROR_FORMAT, memory.read("lm_scene_error", error).text);
            return at;
        });
        raw.lm_scene_watch(this.address, options.watch ?? false);
        raw.lm_scene_want_fine_surfaces(this.address, options.fine ?? false);
    }

    get address(): Address {
        if (this.pointer === 0) throw closed("scene");
        return this.pointer;
    }

    get title(): string {
        return this.limber.raw.lm_scene_title(this.address)!;
    }

    /** The figure that it reproduces, or "". */
    get figure(): string {
        return this.limber.raw.lm_scene_figure(this.address)!;
    }

    /** How many frames it runs by default. */
    get frames(): number {
        return this.limber.raw.lm_scene_frames(this.address);
    }

    /** What was decided for the user (a mesh in other units was scaled), or "". */
    get note(): string {
        return this.limber.raw.lm_scene_note(this.address)!;
    }

    /** Its camera, or null. */
    get view(): SceneView | null {
        const { memory, raw } = this.limber;
        return memory.scope(() => {
            const at = memory.scratchStruct("lm_scene_view");
            if (!raw.lm_scene_get_view(this.address, at)) return null;
            const v = memory.read("lm_scene_view", at);
            return { at: [v.at.x, v.at.y, v.at.z], lookAt: [v.look_at.x, v.look_at.y, v.look_at.z], fieldOfView: v.field_of_view };
        });
    }

    /** Makes the scene's world, at its start. Frees the one before. */
    makeWorld(options: WorldOptions = {}): World {
        const { limber } = this, { memory, raw } = limber;
        this.worldOf?.free();
        this.frame = 0;
        limber.worldDef(options, (def) => {
            const out = memory.scratch(4), error = memory.scratchStruct("lm_scene_error");
            memory.indices(out, 1)[0] = 0;
            const result = raw.lm_scene_make_world(this.address, def, out, error);
            if (result !== 0) throw new LimberError(result, memory.read("lm_scene_error", error).text || raw.lm_result_text(result)!);
            this.worldOf = new World(limber, memory.indices(out, 1)[0]!);
        });
        const made = this.worldOf!;
        made.onFree.push(() => {
            if (this.worldOf === made) this.worldOf = null;
        });
        return made;
    }

    /** The world that makeWorld made. */
    get world(): World {
        if (!this.worldOf) throw new Error("limber: the scene has no world yet");
        return this.worldOf;
    }

    /** Applies the scene's events for this frame, then steps. */
    step(): void {
        this.limber.check(this.limber.raw.lm_scene_step(this.address, this.world.address, this.frame), "a step");
        this.frame++;
    }

    /** The bodies that the scene made, with their names. */
    bodies(): { body: Body; name: string; label: string | null }[] {
        const { memory, raw } = this.limber;
        return Array.from({ length: raw.lm_scene_body_count(this.address) }, (_, n) => {
            const b = raw.lm_scene_get_body(this.address, n) as unknown as { id: Id; name: Address; label: Address };
            return { body: this.world.body(b.id), name: memory.text(b.name), label: b.label ? memory.text(b.label) : null };
        });
    }

    /** Red, green, blue of each vertex of a body's surface as it was given, or a single colour, or none. */
    colours(index: number): Uint8Array {
        const c = this.limber.raw.lm_scene_get_colours(this.address, index) as unknown as { rgb: Address; count: number };
        return this.limber.memory.bytes.slice(c.rgb, c.rgb + 3 * c.count);
    }

    /** Colliders that the scene made, with their colour or null. */
    colliders(): { id: Id; colour: [number, number, number] | null }[] {
        const { memory, raw } = this.limber;
        const { colliders } = raw.lm_scene_get_contents(this.address);
        return Array.from({ length: colliders }, (_, n) => {
            const c = raw.lm_scene_get_collider(this.address, n) as unknown as { id: Id; colour: { rgb: Address; count: number } };
            const b = memory.bytes, at = c.colour.rgb;
            return { id: c.id, colour: c.colour.count > 0 ? [b[at]!, b[at + 1]!, b[at + 2]!] : null };
        });
    }

    /** One more body like the one of that index. */
    addAgain(index: number, [x, y, z]: Vector): Body {
        const { memory, raw } = this.limber;
        return memory.scope(() => {
            const id = { slot: 0, generation: 0 }, error = memory.scratchStruct("lm_scene_error");
            const result = raw.lm_scene_add_again(this.address, this.world.address, index, { x, y, z }, id, error);
            if (result !== 0) throw new LimberError(result, memory.read("lm_scene_error", error).text);
            return this.world.body(id);
        });
    }

    /** What the scene itself remembers of the run, beside the world's snapshot. */
    marks(): Uint8Array {
        const { memory, raw } = this.limber;
        return memory.scope(() => {
            const size = raw.lm_scene_marks_size(this.address), at = memory.scratch(size + 1);
            raw.lm_scene_get_marks(this.address, at);
            return memory.bytes.slice(at, at + size);
        });
    }

    setMarks(marks: Uint8Array): void {
        this.limber.raw.lm_scene_set_marks(this.address, marks);
    }

    /** Checks the expect block (open with `watch`): lines, and how many failed. */
    check(): { failed: number; lines: string[] } {
        const { memory, raw } = this.limber;
        return memory.scope(() => {
            const size = 16384, at = memory.scratch(size);
            const failed = raw.web_check_scene(this.address, this.world.address, at, size);
            return { failed, lines: memory.text(at).split("\n").filter(Boolean) };
        });
    }

    free(): void {
        if (this.pointer !== 0) {
            this.worldOf?.free();
            this.limber.raw.lm_scene_close(this.pointer);
            this.pointer = 0;
        }
    }

    [Symbol.dispose](): void {
        this.free();
    }
}
