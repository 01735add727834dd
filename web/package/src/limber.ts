/** The engine as it was loaded: makes worlds, opens scenes, makes shapes and reads meshes. */
import { LimberError } from "./errors.js";
import type { Memory } from "./memory.js";
import { Mesh, type ReadOptions, type ShapeOptions } from "./mesh.js";
import type { Address, Raw, lm_material, lm_world_def } from "./raw.js";
import { Scene, type SceneOptions } from "./scene.js";
import type { Variant } from "./load.js";
import type { Files } from "./wasi.js";
import type { Workers } from "./workers.js";
import { World, type WorldOptions } from "./world.js";

export class Limber {
    /** Every function of the C interface, with plain objects for structures. The classes are made of these. */
    readonly raw: Raw;
    /** @internal */
    workers: Workers | null = null;

    constructor(
        readonly memory: Memory,
        /** Files that scenes, readers and exporters see. */
        readonly files: Files,
        readonly variant: Variant,
    ) {
        this.raw = memory.raw;
    }

    get version(): string {
        return this.raw.lm_version()!;
    }

    /** Threads that work on a step, this one among them. */
    get threads(): number {
        return 1 + (this.workers?.count ?? 0);
    }

    /** Throws an error with the last line of the log where a result is not LM_OK. */
    check(result: number, what = ""): void {
        if (result !== 0) throw this.error(result, what);
    }

    error(result: number, what = ""): LimberError {
        const line = this.raw.web_take_line();
        const words = line ?? this.raw.lm_result_text(result) ?? "unknown";
        return new LimberError(result, what && !line ? `${what}: ${words}` : words);
    }

    /** @internal */
    worldDef(options: WorldOptions, use: (def: Address) => void): void {
        const { memory, raw } = this;
        memory.scope(() => {
            const def = memory.scratchStruct("lm_world_def", raw.lm_world_def_default() as lm_world_def);
            raw.web_fill_def(def, options.threads ?? 0);
            const [x, y, z] = options.gravity ?? [0, -9.81, 0];
            memory.write("lm_world_def", def, { gravity: { x, y, z }, substeps: options.substeps ?? 1 });
            use(def);
        });
    }

    /** An empty world. */
    world(options: WorldOptions = {}): World {
        return new World(this, options);
    }

    /** Names of the built-in scenes. */
    sceneNames(): string[] {
        const names: string[] = [];
        for (let name; (name = this.raw.lm_scene_builtin_name(names.length)) !== null; ) names.push(name);
        return names;
    }

    /** Names of materials. */
    presets(): string[] {
        const names: string[] = [];
        for (let name; (name = this.raw.lm_material_preset_name(names.length)) !== null; ) names.push(name);
        return names;
    }

    /** A material by its name, and its density. */
    preset(name: string): { material: lm_material; density: number } {
        const material = this.raw.lm_material_default(), density = new Float32Array(1);
        if (!this.raw.lm_material_preset(name, material, density)) throw new TypeError(`limber: unknown material ${name}`);
        return { material, density: density[0]! };
    }

    /** The JSON text of a built-in scene; null when there is none of that name. */
    sceneText(name: string): string | null {
        return this.raw.lm_scene_builtin_text(name);
    }

    /** Opens a built-in scene, a scene or mesh in `files`, or a scene's own text (anything that begins with a brace). */
    scene(nameOrText: string, options: SceneOptions = {}): Scene {
        return new Scene(this, nameOrText, options);
    }

    shapeNames(): string[] {
        const names: string[] = [];
        for (let name; (name = this.raw.lm_shape_name(names.length)) !== null; ) names.push(name);
        return names;
    }

    /** A procedural model: "duck", "teddy", "hand", ... */
    shape(name: string, options: ShapeOptions = {}): Mesh {
        return Mesh.shape(this, name, options);
    }

    /** Reads OBJ, PLY, STL, glTF, GLB or the surface of a tetrahedral mesh. The ending of the name counts. */
    readMesh(name: string, bytes: Uint8Array | ArrayBuffer | string, options: ReadOptions = {}): Mesh {
        return Mesh.read(this, name, bytes, options);
    }

    /** The scene format as JSON Schema. */
    schema(): object {
        const at = this.memory.exports.lm_scene_schema!() >>> 0;
        const text = this.memory.text(at);
        this.memory.free(at);
        return JSON.parse(text);
    }

    /** Ends the workers. Memory goes with the object. */
    async free(): Promise<void> {
        await this.workers?.stop();
        this.workers = null;
    }

    [Symbol.asyncDispose](): Promise<void> {
        return this.free();
    }
}
