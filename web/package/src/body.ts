/** Bodies. */
import type { Limber } from "./limber.js";
import type { Mesh, Vector } from "./mesh.js";
import { LM, type Address, type lm_body_info, type lm_material } from "./raw.js";
import type { Id, PoseOptions } from "./things.js";
import type { World } from "./world.js";

const MODES = { rigid: LM.LM_MODE_RIGID, linear: LM.LM_MODE_LINEAR, quadratic: LM.LM_MODE_QUADRATIC } as const;

/** As lm_material, with names for the mode and without underscores. What is left out stays as it is. */
export interface Material {
    /** A material by its name, "jelly" or "rubber" (limber.presets()); what else is given changes it. */
    preset?: string;
    mode?: keyof typeof MODES;
    /** Stiffness in one of four ways, the last that is given here counts. How fast a single region rings, hertz. */
    hertz?: number;
    /** Young's modulus, pascals. */
    young?: number;
    /** The share of its height by which it sinks under its own weight. */
    sag?: number;
    /** Poisson's ratio, with `young` and `sag`. */
    poisson?: number;
    dampingRatio?: number;
    /** Stiffness as the papers have it, with `damping`. */
    alpha?: number;
    damping?: number;
    regionalDamping?: boolean;
    /** Regional damping is made every so many substeps. */
    dampingEvery?: number;
    beta?: number;
    yield?: number;
    creep?: number;
    maxPlastic?: number;
    friction?: number;
    restitution?: number;
}

export interface BodyOptions extends PoseOptions {
    material?: Material;
    /** Kilograms in all; default 1. */
    mass?: number;
    /** Kilograms a cubic metre, instead of the mass. */
    density?: number;
    contactRadius?: number;
    /** Bits; default 1. */
    group?: number;
    /** Bits of groups that it touches; default all; 0: colliders only. */
    mask?: number;
    selfContact?: boolean;
    velocity?: Vector;
    spin?: Vector;
}

/** Views of the module's memory: valid until the next call that takes memory. Take them again in each frame. */
export interface Skin {
    positions: Float32Array;
    normals: Float32Array;
    /** The same array until the surface is cut or broken. */
    triangles: Uint32Array;
    /** For each vertex the one that was given whose colour it has; 0xffffffff on inner faces. */
    sources: Uint32Array;
    /** Another one when vertices or triangles are others. */
    shape: bigint;
}

/** State in the world's own memory, without a copy. Four floats for each place. */
export interface StateView {
    positions: Float32Array;
    velocities: Float32Array;
    /** Which particle is at a place; 0xffffffff: none. */
    particles: Uint32Array;
    /** Where a particle is. */
    places: Uint32Array;
    origin: [number, number, number];
}

export interface CutInfo {
    links: number;
    particles: number;
    parts: number;
}

const PLAIN = {
    hertz: "hertz", young: "young", poisson: "poisson", sag: "sag", dampingRatio: "damping_ratio", alpha: "alpha", damping: "damping", dampingEvery: "damping_every",
    beta: "beta", yield: "yield", creep: "creep", maxPlastic: "max_plastic", friction: "friction", restitution: "restitution",
} as const;
const WAYS = { hertz: LM.LM_STIFFNESS_HERTZ, young: LM.LM_STIFFNESS_YOUNG, sag: LM.LM_STIFFNESS_SAG, alpha: LM.LM_STIFFNESS_ALPHA } as const;

/** @internal */
export function fillMaterial(limber: Limber, material: lm_material, given: Material | undefined): lm_material {
    const m = given?.preset === undefined ? { ...material } : limber.preset(given.preset).material;
    if (!given) return m;
    if (given.mode !== undefined) {
        if (!(given.mode in MODES)) throw new TypeError(`limber: unknown mode ${given.mode}`);
        m.mode = MODES[given.mode];
    }
    for (const way of ["hertz", "young", "sag", "alpha"] as const) if (given[way] !== undefined) m.stiffness = WAYS[way];
    for (const [name, field] of Object.entries(PLAIN) as [keyof typeof PLAIN, (typeof PLAIN)[keyof typeof PLAIN]][]) {
        if (given[name] !== undefined) m[field] = given[name];
    }
    if (given.regionalDamping !== undefined) m.damping_kind = given.regionalDamping ? LM.LM_DAMPING_REGIONAL : LM.LM_DAMPING_GLOBAL;
    return m;
}

interface Surface {
    shape: bigint;
    at: Address; // positions, normals, triangles, sources
    vertices: number;
    triangles: number;
}

export class Body {
    private surface: Surface | null = null;
    /** Red, green, blue of each vertex of the surface as it was given, where the mesh had colours. */
    colours: Uint8Array | null = null;
    private idAt: Address;

    constructor(
        readonly world: World,
        readonly id: Id,
    ) {
        this.idAt = world.limber.memory.allocate(32); // the id, and a base of zero for skins
        world.limber.memory.bytes.fill(0, this.idAt, this.idAt + 32);
        world.limber.memory.write("lm_body_id", this.idAt, id);
    }

    /** @internal */
    release(): void {
        const { memory } = this.world.limber;
        if (this.surface) memory.free(this.surface.at);
        this.surface = null;
        if (this.idAt) memory.free(this.idAt);
        this.idAt = 0;
    }

    private get limber() {
        return this.world.limber;
    }

    get isValid(): boolean {
        return !this.world.isFree && this.limber.raw.lm_body_is_valid(this.world.address, this.id);
    }

    /** Takes the body out of the world for good. */
    free(): void {
        if (this.isValid) this.limber.check(this.limber.raw.lm_body_destroy(this.world.address, this.id));
        this.world.forget(this.id);
        this.release();
    }

    [Symbol.dispose](): void {
        this.free();
    }

    info(): lm_body_info {
        const { memory, raw } = this.limber;
        return memory.scope(() => {
            const at = memory.scratchStruct("lm_body_info");
            this.limber.check(raw.lm_body_get_info(this.world.address, this.id, at));
            return memory.read("lm_body_info", at);
        });
    }

    get material(): lm_material {
        const { memory, raw } = this.limber;
        return memory.scope(() => {
            const at = memory.scratchStruct("lm_material");
            this.limber.check(raw.lm_body_get_material(this.world.address, this.id, at));
            return memory.read("lm_material", at);
        });
    }

    /** Changes what is given; the rest stays. */
    setMaterial(material: Material | lm_material): void {
        const whole = "damping_ratio" in material ? (material as lm_material) : fillMaterial(this.limber, this.material, material as Material);
        this.limber.check(this.limber.raw.lm_body_set_material(this.world.address, this.id, whole));
    }

    // ---- state ----

    private copy(name: "lm_body_get_positions" | "lm_body_get_velocities" | "lm_body_get_rest_positions"): Float32Array {
        const { memory, raw } = this.limber;
        return memory.scope(() => {
            const count = 3 * this.info().particles, at = memory.scratch(4 * count + 4);
            const zero = { x: 0, y: 0, z: 0 };
            const result = name === "lm_body_get_positions" ? raw[name](this.world.address, this.id, zero, at) : raw[name](this.world.address, this.id, at);
            this.limber.check(result);
            return memory.floats(at, count).slice();
        });
    }

    /** Copies of positions and velocities in world coordinates, in the order of particles. */
    positions(): Float32Array {
        return this.copy("lm_body_get_positions");
    }

    velocities(): Float32Array {
        return this.copy("lm_body_get_velocities");
    }

    restPositions(): Float32Array {
        return this.copy("lm_body_get_rest_positions");
    }

    /** Puts particles anywhere; velocities stay when they are left out. */
    setState(positions: Float32Array, velocities: Float32Array | null = null): void {
        this.limber.check(this.limber.raw.lm_body_set_state(this.world.address, this.id, { x: 0, y: 0, z: 0 }, positions, velocities));
    }

    view(): StateView {
        const { memory, raw } = this.limber;
        return memory.scope(() => {
            const at = memory.scratchStruct("lm_state_view");
            this.limber.check(raw.lm_body_view_state(this.world.address, this.id, at));
            const view = memory.read("lm_state_view", at);
            return {
                positions: memory.floats(view.positions, 4 * view.place_count),
                velocities: memory.floats(view.velocities, 4 * view.place_count),
                particles: memory.indices(view.particles, view.place_count),
                places: memory.indices(view.places, this.info().particles),
                origin: [view.origin.x, view.origin.y, view.origin.z],
            };
        });
    }

    /** Newton seconds at a point, as on a rigid body. */
    push([x, y, z]: Vector, at?: Vector): void {
        const c = this.info().centre;
        const point = at ? { x: at[0], y: at[1], z: at[2] } : c;
        this.limber.check(this.limber.raw.lm_body_add_impulse(this.world.address, this.id, { x, y, z }, point));
    }

    setVelocity([x, y, z]: Vector, spin: Vector = [0, 0, 0]): void {
        this.limber.check(this.limber.raw.lm_body_set_velocity(this.world.address, this.id, { x, y, z }, { x: spin[0], y: spin[1], z: spin[2] }));
    }

    /** A second body that is what this one is. */
    clone(): Body {
        const id = { slot: 0, generation: 0 };
        this.limber.check(this.limber.raw.lm_body_clone(this.world.address, this.id, id));
        return this.world.body(id);
    }

    // ---- surface ----

    /** Gives it a triangle mesh in the rest pose that moves with it. */
    setSkin(mesh: Mesh, kind: "particles" | "regions" = "particles"): void {
        const { raw } = this.limber;
        this.limber.check(
            raw.lm_body_set_skin(this.world.address, this.id, {
                ...raw.lm_skin_def_default(),
                kind: kind === "regions" ? LM.LM_SKIN_REGIONS : LM.LM_SKIN_PARTICLES,
                vertices: mesh.vertices, vertex_count: mesh.vertexCount,
                triangles: mesh.triangles, triangle_count: mesh.triangleCount,
            }),
        );
        this.colours = mesh.colours;
    }

    private prepare(info: lm_body_info): Surface {
        const { memory, raw } = this.limber;
        const [v, t] = [info.skin_vertices, info.skin_triangles];
        if (this.surface) memory.free(this.surface.at);
        this.surface = null;
        const at = memory.allocate(12 * v + 12 * v + 12 * t + 4 * v);
        this.surface = { shape: info.shape_hash, at, vertices: v, triangles: t };
        this.limber.check(raw.lm_body_get_skin_triangles(this.world.address, this.id, at + 24 * v));
        this.limber.check(raw.lm_body_get_skin_sources(this.world.address, this.id, at + 24 * v + 12 * t));
        return this.surface;
    }

    /** The deformed surface now. `changed`: it may have been cut or broken since the last call; leave it true where that can happen. */
    skin(changed = true): Skin {
        const { memory } = this.limber;
        let s = this.surface;
        if (!s || changed) {
            const info = this.info();
            if (info.skin_vertices === 0) throw new Error("limber: the body has no surface");
            if (!s || s.shape !== info.shape_hash || s.vertices !== info.skin_vertices) s = this.prepare(info);
        }
        const { at, vertices: v, triangles: t } = s;
        this.limber.check(memory.exports.lm_body_get_skin!(this.world.address, this.idAt, this.idAt + 8, at, at + 12 * v));
        return {
            positions: memory.floats(at, 3 * v),
            normals: memory.floats(at + 12 * v, 3 * v),
            triangles: memory.indices(at + 24 * v, 3 * t),
            sources: memory.indices(at + 24 * v + 12 * t, v),
            shape: s.shape,
        };
    }

    /** "strain", "speed", "region", "piece" or "width" of each vertex of the surface, or of each particle of a body without. */
    values(kind: "strain" | "speed" | "region" | "piece" | "width"): Float32Array {
        const { memory, raw } = this.limber;
        const kinds = { strain: LM.WEB_STRAIN, speed: LM.WEB_SPEED, region: LM.WEB_REGION, piece: LM.WEB_PIECE, width: LM.WEB_WIDTH };
        return memory.scope(() => {
            const info = this.info(), count = info.skin_vertices || info.particles, at = memory.scratch(4 * count);
            this.limber.check(raw.web_get_values(this.world.address, this.id, kinds[kind], at));
            return memory.floats(at, count).slice();
        });
    }

    // ---- cuts, breaks, detail ----

    /** Cuts with a soup of triangles in the world. */
    cut(vertices: Float64Array, triangles: Uint32Array, material = 0): CutInfo {
        const { raw } = this.limber;
        const info = { links: 0, particles: 0, parts: 0, regions_found: 0 };
        this.limber.check(
            raw.lm_body_cut(this.world.address, this.id, {
                ...raw.lm_blade_default(), vertices, vertex_count: vertices.length / 3, triangles, triangle_count: triangles.length / 3, material,
            }, info),
        );
        return info;
    }

    /** Of faces that blades have cut into a lattice: metres on the blade, two for each vertex of the skin, and the blade's material; 0 elsewhere. */
    skinCuts(): { uvs: Float32Array; materials: Uint32Array } {
        const count = this.info().skin_vertices, uvs = new Float32Array(2 * count), materials = new Uint32Array(count);
        this.limber.check(this.limber.raw.lm_body_get_skin_cuts(this.world.address, this.id, uvs, materials));
        return { uvs, materials };
    }

    /** Lets a lattice break where links are stretched beyond `limit`. */
    setFracture(limit = 0.1, variation = 0.3, grain = 0): void {
        const { raw } = this.limber;
        this.limber.check(raw.lm_body_set_fracture(this.world.address, this.id, { ...raw.lm_fracture_def_default(), limit, variation, grain }));
    }

    /** Divides (or joins) cells of an octree within a ball down (or up) to `size` metres. */
    refine([x, y, z]: Vector, radius: number, size: number): number {
        const changed = new Uint32Array(1);
        this.limber.check(this.limber.raw.lm_body_refine(this.world.address, this.id, { x, y, z }, radius, size, changed));
        return changed[0]!;
    }
}
