/** Worlds. */
import { Body, fillMaterial, type BodyOptions, type Material } from "./body.js";
import { closed } from "./errors.js";
import type { Limber } from "./limber.js";
import type { Mesh, Vector } from "./mesh.js";
import { LM, type Address, type lm_stats, type lm_totals } from "./raw.js";
import { Collider, Drag, Field, Mover, Pin, poseOf, type ColliderOptions, type DragOptions, type FieldOptions, type Id, type MoverOptions } from "./things.js";

export interface WorldOptions {
    /** Metres a second squared; default [0, -9.81, 0]. */
    gravity?: Vector;
    /** Of each step; default 1. */
    substeps?: number;
    /** That work on a step; default: all that were loaded. The result does not depend on it. */
    threads?: number;
}

export interface LatticeOptions extends BodyOptions {
    /** Side of a cell, metres; or `particles`, about how many. Default: 500 particles. */
    spacing?: number;
    particles?: number;
    /** Of regions, in cells, 1 to 8; default 2. */
    width?: number;
    /** Only cells that the mesh touches. */
    shell?: boolean;
    /** Give it the mesh as a surface; default true. */
    skin?: boolean;
}

export interface OctreeOptions extends BodyOptions {
    /** Side of the finest cells, metres; default: 1/24 of the longest extent. */
    spacing?: number;
    /** About how many; default: as many as thin parts need. */
    particles?: number;
    /** Of regions, metres; default: six of the finest cells. */
    width?: number;
    skin?: boolean;
}

export interface ClusterOptions extends BodyOptions {
    /** The bounding box divided into cells that overlap; default [1, 1, 1]. */
    counts?: Vector;
    overlap?: number;
    /** Or one region for each element: `elements` are particles, `elementSize` of them each. */
    elements?: Uint32Array;
    elementSize?: number;
    /** Or one region around each particle: itself and all that share an element with it. */
    rings?: boolean;
    masses?: Float32Array;
    /** A surface; "regions" rides on regions, as sheets and strings need. */
    skin?: Mesh;
    skinKind?: "particles" | "regions";
}

export interface Hit {
    body: Body;
    particle: number;
    point: [number, number, number];
    normal: [number, number, number];
    distance: number;
}

export interface ContactEvent {
    phase: "began" | "persists" | "ended";
    body: Body;
    other: Body | null;
    collider: Collider | null;
    point: [number, number, number];
    normal: [number, number, number];
    impulse: [number, number, number];
    approach: number;
}

const PHASES = ["began", "persists", "ended"] as const;
const list = (v: { x: number; y: number; z: number }): [number, number, number] => [v.x, v.y, v.z];

export class World {
    private pointer: Address = 0;
    private readonly made = new Map<string, Body>();
    /** The scene that drives the world, if one made it. */
    readonly onFree: (() => void)[] = [];

    constructor(
        readonly limber: Limber,
        options: WorldOptions | Address,
    ) {
        if (typeof options === "number") {
            this.pointer = options;
            return;
        }
        const { memory } = limber;
        limber.worldDef(options, (def) => {
            const out = memory.scratch(4);
            limber.check(limber.raw.lm_world_create(def, out), "a world");
            this.pointer = memory.indices(out, 1)[0]!;
        });
    }

    /** The lm_world, for functions of `limber.raw`. */
    get address(): Address {
        if (this.pointer === 0) throw closed("world");
        return this.pointer;
    }

    get isFree(): boolean {
        return this.pointer === 0;
    }

    free(): void {
        if (this.pointer !== 0) {
            for (const body of this.made.values()) body.release();
            this.made.clear();
            this.limber.raw.lm_world_destroy(this.pointer);
            this.pointer = 0;
            for (const one of this.onFree) one();
        }
    }

    [Symbol.dispose](): void {
        this.free();
    }

    // ---- time ----

    /** Advances by seconds, above 0 and at most 1. */
    step(seconds = 1 / 60): void {
        this.limber.check(this.limber.memory.exports.lm_world_step!(this.address, seconds), "a step");
    }

    get time(): number {
        return this.limber.raw.lm_world_get_time(this.address);
    }

    get gravity(): [number, number, number] {
        return list(this.limber.raw.lm_world_get_gravity(this.address));
    }

    set gravity([x, y, z]: Vector) {
        this.limber.check(this.limber.raw.lm_world_set_gravity(this.address, { x, y, z }));
    }

    get substeps(): number {
        return this.limber.raw.lm_world_get_substeps(this.address);
    }

    set substeps(count: number) {
        this.limber.check(this.limber.raw.lm_world_set_substeps(this.address, count));
    }

    /** Bodies at rest are left out of steps. */
    setSleep(enabled: boolean, speed = 0.05, seconds = 0.5): void {
        this.limber.check(this.limber.raw.lm_world_set_sleep(this.address, { enabled, speed, seconds }));
    }

    // ---- bodies ----

    /** @internal */
    body(id: Id): Body {
        const key = `${id.slot}:${id.generation}`;
        let body = this.made.get(key);
        if (!body) this.made.set(key, (body = new Body(this, { ...id })));
        return body;
    }

    /** @internal */
    forget(id: Id): void {
        this.made.delete(`${id.slot}:${id.generation}`);
    }

    /** All bodies, in slot order. */
    bodies(): Body[] {
        return this.ids("lm_world_get_bodies").map((id) => this.body(id));
    }

    colliders(): Collider[] {
        return this.ids("lm_world_get_colliders").map((id) => new Collider(this, id));
    }

    private ids(name: "lm_world_get_bodies" | "lm_world_get_colliders"): Id[] {
        const { memory, raw } = this.limber;
        return memory.scope(() => {
            const count = raw[name](this.address, null, 0);
            const at = memory.scratch(8 * count + 8);
            raw[name](this.address, at, count);
            const words = memory.indices(at, 2 * count);
            return Array.from({ length: count }, (_, n) => ({ slot: words[2 * n]!, generation: words[2 * n + 1]! }));
        });
    }

    private create(options: BodyOptions, special: object): Body {
        const { memory, raw } = this.limber;
        return memory.scope(() => {
            const def = raw.lm_body_def_default() as unknown as Record<string, any>;
            const merge = (to: Record<string, any>, from: Record<string, any>): void => {
                for (const [key, value] of Object.entries(from)) {
                    if (value === undefined) continue;
                    if (value && typeof value === "object" && !ArrayBuffer.isView(value) && !Array.isArray(value)) merge(to[key], value);
                    else to[key] = value;
                }
            };
            const [vx, vy, vz] = options.velocity ?? [0, 0, 0], [sx, sy, sz] = options.spin ?? [0, 0, 0];
            merge(def, {
                mass: options.mass,
                density: options.density ?? (options.material?.preset !== undefined && options.mass === undefined ? this.limber.preset(options.material.preset).density : undefined),
                contact_radius: options.contactRadius,
                group: options.group,
                mask: options.mask,
                self_contact: options.selfContact,
                pose: poseOf(options),
                velocity: { x: vx, y: vy, z: vz },
                spin: { x: sx, y: sy, z: sz },
            });
            merge(def, special);
            def["material"] = fillMaterial(this.limber, def["material"], options.material);
            const id = { slot: 0, generation: 0 };
            this.limber.check(raw.lm_body_create(this.address, def as never, id), "a body");
            return this.body(id);
        });
    }

    /** A body of points in overlapping regions. `points`: x, y, z of each, metres. */
    addBody(points: Float32Array, options: ClusterOptions = {}): Body {
        const clusters: Record<string, unknown> = { overlap: options.overlap };
        if (options.counts) clusters["counts"] = [...options.counts];
        if (options.elements) {
            clusters["kind"] = options.rings ? LM.LM_CLUSTERS_RINGS : LM.LM_CLUSTERS_ELEMENTS;
            clusters["elements"] = options.elements;
            clusters["element_size"] = options.elementSize ?? 4;
            clusters["element_count"] = options.elements.length / (options.elementSize ?? 4);
        }
        const body = this.create(options, { points, point_count: points.length / 3, masses: options.masses, clusters });
        if (options.skin) body.setSkin(options.skin, options.skinKind);
        return body;
    }

    /** A body from any mesh: cubic cells, with a region around every corner. */
    addLattice(mesh: Mesh, options: LatticeOptions = {}): Body {
        const body = this.create(options, {
            lattice: {
                ...surfaceOf(mesh),
                spacing: options.spacing,
                particles: options.spacing ? undefined : (options.particles ?? 500),
                width: options.width ?? 2,
                shell: options.shell,
            },
        });
        if (options.skin !== false) body.setSkin(mesh);
        return body;
    }

    /** A body from any mesh: cells of several sizes, which can be cut and refined. */
    addOctree(mesh: Mesh, options: OctreeOptions = {}): Body {
        const [low, high] = mesh.bounds();
        const extent = Math.max(high[0] - low[0], high[1] - low[1], high[2] - low[2]);
        const spacing = options.spacing ?? extent / 24;
        const body = this.create(options, { octree: { ...surfaceOf(mesh), spacing, particles: options.particles, width: options.width ?? 6 * spacing } });
        if (options.skin !== false) body.setSkin(mesh);
        return body;
    }

    // ---- other things ----

    addCollider(options: ColliderOptions = {}): Collider {
        return Collider.create(this, options);
    }

    addMover(options: MoverOptions = {}): Mover {
        return Mover.create(this, options);
    }

    /** Holds particles where they are, or on a mover. */
    addPin(body: Body, particles: Uint32Array | number[], mover?: Mover): Pin {
        return Pin.create(this, body, particles, mover);
    }

    /** A spring that pulls a particle and what is around it. */
    addDrag(body: Body, options: DragOptions): Drag {
        return Drag.create(this, body, options);
    }

    addField(options: FieldOptions): Field {
        return Field.create(this, options);
    }

    // ---- queries ----

    /** The nearest body on a ray. */
    pick(origin: Vector, direction: Vector, maxDistance = Infinity): Hit | null {
        const { memory, raw } = this.limber;
        return memory.scope(() => {
            const at = memory.scratchStruct("lm_ray_hit");
            const [x, y, z] = origin, [dx, dy, dz] = direction;
            const ray = raw.lm_ray_default({ x, y, z }, { x: dx, y: dy, z: dz });
            if (!raw.lm_world_cast_ray(this.address, { ...ray, max_distance: maxDistance, collider_groups: 0 }, at)) return null;
            const hit = memory.read("lm_ray_hit", at);
            return { body: this.body(hit.body), particle: hit.particle, point: list(hit.point), normal: list(hit.normal), distance: hit.distance };
        });
    }

    /** Whether steps keep account of who touches whom. */
    set contactEvents(on: boolean) {
        this.limber.check(this.limber.raw.lm_world_set_contact_events(this.address, on));
    }

    events(): ContactEvent[] {
        const { memory, raw } = this.limber;
        return memory.scope(() => {
            const count = raw.lm_world_get_contact_events(this.address, null, 0), size = memory.size("lm_contact_event");
            const at = memory.scratch(count * size + 8);
            raw.lm_world_get_contact_events(this.address, at, count);
            return Array.from({ length: count }, (_, n) => {
                const e = memory.read("lm_contact_event", at + n * size);
                return {
                    phase: PHASES[e.phase as 0 | 1 | 2],
                    body: this.body(e.body),
                    other: e.other.slot ? this.body(e.other) : null,
                    collider: e.collider.slot ? new Collider(this, e.collider) : null,
                    point: list(e.point), normal: list(e.normal), impulse: list(e.impulse), approach: e.approach,
                };
            });
        });
    }

    stats(): lm_stats {
        const { memory, raw } = this.limber;
        return memory.scope(() => {
            const at = memory.scratchStruct("lm_stats");
            raw.lm_world_get_stats(this.address, at);
            return memory.read("lm_stats", at);
        });
    }

    totals(): lm_totals {
        const { memory, raw } = this.limber;
        return memory.scope(() => {
            const at = memory.scratchStruct("lm_totals");
            raw.lm_world_get_totals(this.address, at);
            return memory.read("lm_totals", at);
        });
    }

    // ---- snapshots ----

    /** Of the state: sixteen hexadecimal digits, the same on every machine. */
    hash(): string {
        return this.limber.raw.lm_world_hash(this.address).toString(16).padStart(16, "0");
    }

    /** Everything that the future depends on. */
    save(): Uint8Array {
        const { memory, raw } = this.limber;
        const size = raw.lm_world_save_size(this.address);
        const at = memory.allocate(size);
        try {
            this.limber.check(raw.lm_world_save(this.address, at, size));
            return memory.bytes.slice(at, at + size);
        } finally {
            memory.free(at);
        }
    }

    load(snapshot: Uint8Array): void {
        this.give(snapshot, (at) => this.limber.raw.lm_world_load(this.address, at, snapshot.length));
    }

    /** Stands for the structure; state can be loaded while it is the same. */
    get structure(): bigint {
        return this.limber.raw.lm_world_structure(this.address);
    }

    /** State alone, for rollback. */
    saveState(): Uint8Array {
        const { memory, raw } = this.limber;
        const capacity = raw.lm_world_state_size(this.address);
        const at = memory.allocate(capacity + 8);
        try {
            this.limber.check(raw.lm_world_save_state(this.address, at + 8, capacity, at));
            const size = memory.indices(at, 1)[0]!;
            return memory.bytes.slice(at + 8, at + 8 + size);
        } finally {
            memory.free(at);
        }
    }

    loadState(state: Uint8Array): void {
        this.give(state, (at) => this.limber.raw.lm_world_load_state(this.address, at, state.length));
    }

    private give(bytes: Uint8Array, take: (at: Address) => number): void {
        const { memory } = this.limber;
        const at = memory.allocate(bytes.length + 1);
        try {
            memory.bytes.set(bytes, at);
            this.limber.check(take(at), "a snapshot");
        } finally {
            memory.free(at);
        }
    }
}

function surfaceOf(mesh: Mesh): object {
    return { vertices: mesh.vertices, vertex_count: mesh.vertexCount, triangles: mesh.triangles, triangle_count: mesh.triangleCount };
}

export type { Material };
