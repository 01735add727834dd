/** Motion into files of other programs: GLB, USD, point caches, ParaView, CSV. */
import type { Body } from "./body.js";
import { LimberError } from "./errors.js";
import { LM, type Address } from "./raw.js";
import type { World } from "./world.js";

export interface RecordedBody {
    body: Body;
    name: string;
    /** Red, green, blue for each vertex as it was given, or one for all. */
    colours?: Uint8Array;
}

export interface RecorderOptions {
    /** The ending says the format: .glb, .usda, .pc2, .vtu, .csv */
    file: string;
    /** Frames that will be added. */
    frames: number;
    /** In a second; default 60. */
    rate?: number;
    /** GLB: exact and large, or joints (default): compact. */
    morphs?: boolean;
}

export class Recorder {
    private readonly kept: Address[] = [];
    private capture: Address = 0;
    private exporter: Address = 0;

    constructor(
        private readonly world: World,
        bodies: readonly RecordedBody[],
        private readonly options: RecorderOptions,
    ) {
        const { memory, raw } = world.limber, size = memory.size("lm_capture_body");
        const list = this.keep(new Uint8Array(size * bodies.length + 1));
        bodies.forEach(({ body, name, colours }, n) => {
            const nameAt = this.keep(new TextEncoder().encode(name + "\0"));
            const coloursAt = colours && colours.length > 0 ? this.keep(colours) : 0;
            const count = colours ? colours.length / 3 : 0;
            memory.write("lm_capture_body", list + n * size, { id: body.id, name: nameAt, colours: coloursAt, colour_count: count });
        });
        this.capture = raw.lm_capture_create(list, bodies.length);
        memory.scope(() => {
            const settings = memory.scratchStruct("lm_export_options", {
                ...raw.lm_export_options_default(),
                frame_count: options.frames, rate: options.rate ?? 60, motion: options.morphs ? LM.LM_EXPORT_MORPHS : LM.LM_EXPORT_JOINTS,
            });
            const error = memory.scratchStruct("lm_export_error");
            this.exporter = raw.lm_export_open(options.file, settings, error);
            if (this.exporter === 0) {
                const { text } = memory.read("lm_export_error", error);
                this.free();
                throw new LimberError(LM.LM_ERROR_ARGUMENT, text);
            }
        });
    }

    private keep(bytes: Uint8Array): Address {
        const { memory } = this.world.limber, at = memory.allocate(bytes.length + 1);
        memory.bytes.set(bytes, at);
        this.kept.push(at);
        return at;
    }

    /** Adds the bodies as they are now. */
    add(): void {
        const { limber } = this.world, { memory, raw } = limber;
        memory.scope(() => {
            const frame = memory.scratchStruct("lm_export_frame"), error = memory.scratchStruct("lm_export_error");
            limber.check(raw.lm_capture_take(this.capture, this.world.address, raw.lm_export_wants(this.exporter), false, frame));
            if (!raw.lm_export_add(this.exporter, frame, error)) throw new LimberError(LM.LM_ERROR_ARGUMENT, memory.read("lm_export_error", error).text);
        });
    }

    /** Completes the file, and gives its bytes. */
    finish(): Uint8Array {
        const { limber } = this.world, { memory, raw } = limber;
        return memory.scope(() => {
            const error = memory.scratchStruct("lm_export_error"), exporter = this.exporter;
            this.exporter = 0;
            const whole = raw.lm_export_finish(exporter, null, error);
            this.free();
            if (!whole) throw new LimberError(LM.LM_ERROR_ARGUMENT, memory.read("lm_export_error", error).text);
            const bytes = limber.files.read(this.options.file)!;
            limber.files.remove(this.options.file);
            return bytes;
        });
    }

    /** Without finishing: leaves nothing behind. */
    free(): void {
        const { memory, raw } = this.world.limber;
        if (this.exporter) raw.lm_export_abandon(this.exporter);
        if (this.capture) raw.lm_capture_destroy(this.capture);
        this.exporter = this.capture = 0;
        for (const at of this.kept.splice(0)) memory.free(at);
    }

    [Symbol.dispose](): void {
        this.free();
    }
}
