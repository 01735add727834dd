/** Triangle meshes: plain arrays of JavaScript's own, which need not be freed. */
import { LimberError } from "./errors.js";
import type { Limber } from "./limber.js";
import { LM } from "./raw.js";

export type Vector = readonly [number, number, number];

export interface ShapeOptions {
    /** Extents, metres; a number is the longest one. Default: natural proportions, the longest 1. */
    size?: number | Vector;
    /** Edges along the longest extent; default 12. */
    detail?: number;
}

export interface ReadOptions {
    /** Vertices at most this far from an earlier one become that one, metres; negative: none. Default 0. */
    weld?: number;
    /** The file's Z points up. */
    zUp?: boolean;
}

export class Mesh {
    constructor(
        /** x, y, z of each vertex, metres. */
        readonly vertices: Float32Array,
        /** Three vertices each. */
        readonly triangles: Uint32Array,
        /** Red, green, blue of each vertex (sRGB), or null. */
        readonly colours: Uint8Array | null = null,
        readonly name = "mesh",
        /** Named parts of a shape: how much each vertex belongs to it. */
        readonly groups: ReadonlyMap<string, Float32Array> = new Map(),
    ) {}

    get vertexCount(): number {
        return this.vertices.length / 3;
    }

    get triangleCount(): number {
        return this.triangles.length / 3;
    }

    /** [lowest, highest] corner of the box around it. */
    bounds(): [[number, number, number], [number, number, number]] {
        const low: [number, number, number] = [Infinity, Infinity, Infinity];
        const high: [number, number, number] = [-Infinity, -Infinity, -Infinity];
        this.vertices.forEach((value, n) => {
            low[n % 3] = Math.min(low[n % 3]!, value);
            high[n % 3] = Math.max(high[n % 3]!, value);
        });
        return [low, high];
    }

    /** The same mesh, scaled about the origin and moved. */
    placed(scale: number, move: Vector = [0, 0, 0]): Mesh {
        const vertices = this.vertices.map((value, n) => value * scale + move[n % 3]!);
        return new Mesh(vertices, this.triangles, this.colours, this.name, this.groups);
    }

    /** The same mesh with its middle at the origin and its longest extent `size`. */
    fitted(size: number): Mesh {
        const [low, high] = this.bounds();
        const extent = Math.max(high[0] - low[0], high[1] - low[1], high[2] - low[2]);
        const scale = size / extent;
        return this.placed(scale, [0, 1, 2].map((n) => (-scale * (low[n]! + high[n]!)) / 2) as unknown as Vector);
    }

    /** @internal */
    static shape(limber: Limber, name: string, options: ShapeOptions): Mesh {
        const { memory, raw } = limber;
        const natural = raw.lm_shape_natural_size(name);
        const size = options.size ?? 1;
        const [x, y, z] = typeof size === "number" ? [natural.x * size, natural.y * size, natural.z * size] : size;
        return memory.scope(() => {
            const mesh = memory.scratchStruct("lm_shape_mesh");
            const def = memory.scratchStruct("lm_shape_def", { name, size: { x, y, z }, detail: options.detail ?? 12 });
            const result = raw.lm_shape_make_mesh(def, mesh);
            if (result !== 0) throw new LimberError(result, `shape ${name}: ${raw.lm_result_text(result)}`);
            const made = memory.read("lm_shape_mesh", mesh);
            const groups = new Map<string, Float32Array>();
            for (let n = 0; n < made.group_count; n++) {
                const group = memory.read("lm_shape_group", made.groups + n * memory.size("lm_shape_group"));
                groups.set(memory.text(group.name), memory.floats(group.weights, made.vertex_count).slice());
            }
            const copy = new Mesh(
                memory.floats(made.vertices, 3 * made.vertex_count).slice(),
                memory.indices(made.triangles, 3 * made.triangle_count).slice(),
                memory.bytes.slice(made.colours, made.colours + 3 * made.vertex_count),
                name,
                groups,
            );
            raw.lm_shape_mesh_free(mesh);
            return copy;
        });
    }

    /** @internal */
    static read(limber: Limber, name: string, given: Uint8Array | ArrayBuffer | string, options: ReadOptions): Mesh {
        const { memory, raw } = limber;
        const bytes = typeof given === "string" ? new TextEncoder().encode(given) : new Uint8Array(given as ArrayBuffer);
        return memory.scope(() => {
            const mesh = memory.scratchStruct("lm_mesh_data"), error = memory.scratchStruct("lm_mesh_error");
            const settings = memory.scratchStruct("lm_mesh_options", { weld: options.weld ?? 0, z_up: options.zUp ?? false, surface: true });
            if (!raw.lm_mesh_parse(name, bytes as Uint8Array, bytes.length, settings, mesh, error)) {
                throw new LimberError(LM.LM_ERROR_FORMAT, memory.read("lm_mesh_error", error).text);
            }
            const made = memory.read("lm_mesh_data", mesh);
            const copy = new Mesh(
                memory.floats(made.positions, 3 * made.vertex_count).slice(),
                memory.indices(made.triangles, 3 * made.triangle_count).slice(),
                made.colours ? memory.bytes.slice(made.colours, made.colours + 3 * made.vertex_count) : null,
                name,
            );
            raw.lm_mesh_free(mesh);
            return copy;
        });
    }
}
