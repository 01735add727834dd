/**
 * Helpers for three.js: surfaces of bodies, colliders, picking with the mouse, and particles.
 *
 *     const soft = softMesh(world, new TorusKnotGeometry(), { position: [0, 2, 0] });
 *     scene.add(soft);
 *     // each frame
 *     world.step();
 *     soft.update();
 */
import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import type { Body, Limber, LatticeOptions, World } from "./index.js";
import { Mesh as LimberMesh } from "./mesh.js";
import { LM, type Address } from "./raw.js";
import type { Id } from "./things.js";

const INNER = 0xffffffff;
const white = (): THREE.MeshStandardMaterial => new THREE.MeshStandardMaterial({ color: 0xf2b632, roughness: 0.45, side: THREE.DoubleSide, shadowSide: THREE.BackSide });

/** A mesh of the engine from any BufferGeometry, indexed or not. */
export function meshOf(geometry: THREE.BufferGeometry): LimberMesh {
    const position = geometry.getAttribute("position");
    const vertices = new Float32Array(3 * position.count);
    for (let n = 0; n < position.count; n++) vertices.set([position.getX(n), position.getY(n), position.getZ(n)], 3 * n);
    const triangles = geometry.index ? Uint32Array.from(geometry.index.array) : Uint32Array.from({ length: position.count }, (_, n) => n);
    return new LimberMesh(vertices, triangles);
}

export interface SoftMeshOptions {
    material?: THREE.Material;
    /** Red, green, blue (0 to 255) for each vertex of the surface as it was given, or one for all. */
    colours?: Uint8Array | null;
    /** Of faces that a cut or a break has opened. */
    innerColour?: readonly [number, number, number];
    /** Deform in the vertex shader: of a lattice that is not cut. Needs a MeshStandardMaterial or the like. Default false. */
    gpu?: boolean;
}

/** The surface of a body. Call update() after steps; cuts and breaks are followed. */
export class SoftMesh extends THREE.Mesh<THREE.BufferGeometry, THREE.Material> {
    private shape: bigint | null = null;
    private rider: GpuRider | null = null;
    private readonly given: { [name: string]: THREE.BufferAttribute | THREE.InterleavedBufferAttribute } = {};

    constructor(
        readonly body: Body,
        private readonly options: SoftMeshOptions = {},
        source?: THREE.BufferGeometry,
    ) {
        super(new THREE.BufferGeometry(), options.material ?? white());
        for (const name of ["uv", "color"]) if (source?.getAttribute(name)) this.given[name] = source.getAttribute(name) as THREE.BufferAttribute;
        this.frustumCulled = false;
        this.castShadow = this.receiveShadow = true;
        if (options.gpu && GpuRider.suits(body)) this.rider = new GpuRider(body, this);
        this.update();
    }

    /** Whether the vertex shader deforms it. */
    get onGpu(): boolean {
        return this.rider !== null;
    }

    update(): void {
        if (this.rider) {
            this.rider.update();
            return;
        }
        const skin = this.body.skin();
        if (skin.shape !== this.shape) this.rebuild(skin.triangles, skin.sources, skin.positions.length / 3);
        this.shape = skin.shape;
        for (const [name, values] of [["position", skin.positions], ["normal", skin.normals]] as const) {
            const attribute = this.geometry.getAttribute(name) as THREE.BufferAttribute;
            attribute.array = values; // the module's memory itself: nothing is copied on this side
            attribute.needsUpdate = true;
        }
    }

    private rebuild(triangles: Uint32Array, sources: Uint32Array, count: number): void {
        this.geometry.dispose();
        this.geometry = new THREE.BufferGeometry();
        this.geometry.setIndex(new THREE.BufferAttribute(triangles.slice(), 1));
        for (const name of ["position", "normal"]) {
            const attribute = new THREE.BufferAttribute(new Float32Array(3 * count), 3);
            this.geometry.setAttribute(name, attribute.setUsage(THREE.DynamicDrawUsage));
        }
        for (const [name, attribute] of Object.entries(this.given)) this.geometry.setAttribute(name, follow(attribute, sources));
        const { innerColour } = this.options, colours = this.options.colours === undefined ? this.body.colours : this.options.colours;
        if (colours && colours.length > 0) {
            this.geometry.setAttribute("color", colourAttribute(colours, sources, innerColour ?? [205, 90, 80]));
            (this.material as THREE.MeshStandardMaterial).vertexColors = true;
        }
    }

    override dispose(): void {
        super.dispose?.(); // newer releases have one
        this.geometry.dispose();
        this.rider?.dispose();
    }
}

/** An attribute of the vertices that were given, for those that there are now. */
function follow(given: THREE.BufferAttribute | THREE.InterleavedBufferAttribute, sources: Uint32Array): THREE.BufferAttribute {
    const array = new Float32Array(sources.length * given.itemSize);
    sources.forEach((source, n) => {
        for (let k = 0; k < given.itemSize && source !== INNER; k++) array[n * given.itemSize + k] = given.getComponent(source, k);
    });
    return new THREE.BufferAttribute(array, given.itemSize);
}

/** Colours of vertices, as linear numbers. */
export function colourAttribute(colours: Uint8Array, sources: Uint32Array, inner: readonly [number, number, number]): THREE.BufferAttribute {
    const array = new Uint8Array(3 * sources.length), one = colours.length === 3;
    const linear = Uint8Array.from({ length: 256 }, (_, n) => Math.round(255 * new THREE.Color().setRGB(n / 255, 0, 0, THREE.SRGBColorSpace).r));
    sources.forEach((source, n) => {
        for (let k = 0; k < 3; k++) array[3 * n + k] = linear[source === INNER ? inner[k]! : colours[(one ? 0 : 3 * source) + k]!]!;
    });
    return new THREE.BufferAttribute(array, 3, true);
}

/** Makes a soft body of any geometry, and the mesh that shows it. */
export function softMesh(
    world: World, geometry: THREE.BufferGeometry, options: LatticeOptions & { sampling?: "lattice" | "octree" } = {}, look: SoftMeshOptions = {},
): SoftMesh {
    const mesh = meshOf(geometry), { sampling, ...physics } = options;
    const body = sampling === "octree" ? world.addOctree(mesh, physics) : world.addLattice(mesh, physics);
    return new SoftMesh(body, look, geometry);
}

// ---- in the vertex shader ----

const RIDE = /* glsl */ `
uniform sampler2D limberPlaces;
uniform vec3 limberOrigin;
attribute vec4 limberRidersA, limberRidersB, limberWeightsA, limberWeightsB;
vec3 limberAt(float place) {
    int n = int(place + 0.5), width = textureSize(limberPlaces, 0).x;
    return texelFetch(limberPlaces, ivec2(n % width, n / width), 0).xyz;
}
`;
// The corners of a cell: bits 0, 1 and 2 of a corner's number are the sides along x, y and z.
const RIDE_CORNERS = /* glsl */ `
vec3 c0 = limberAt(limberRidersA.x), c1 = limberAt(limberRidersA.y), c2 = limberAt(limberRidersA.z), c3 = limberAt(limberRidersA.w);
vec3 c4 = limberAt(limberRidersB.x), c5 = limberAt(limberRidersB.y), c6 = limberAt(limberRidersB.z), c7 = limberAt(limberRidersB.w);
`;
const RIDE_NORMAL = /* glsl */ `
${RIDE_CORNERS}
vec3 share = vec3(limberWeightsA.y + limberWeightsA.w + limberWeightsB.y + limberWeightsB.w,
    limberWeightsA.z + limberWeightsA.w + limberWeightsB.z + limberWeightsB.w, dot(limberWeightsB, vec4(1.0)));
vec3 alongX = mix(mix(c1 - c0, c3 - c2, share.y), mix(c5 - c4, c7 - c6, share.y), share.z);
vec3 alongY = mix(mix(c2 - c0, c3 - c1, share.x), mix(c6 - c4, c7 - c5, share.x), share.z);
vec3 alongZ = mix(mix(c4 - c0, c5 - c1, share.x), mix(c6 - c2, c7 - c3, share.x), share.y);
vec3 objectNormal = normalize(cross(alongY, alongZ) * normal.x + cross(alongZ, alongX) * normal.y + cross(alongX, alongY) * normal.z);
`;
const RIDE_POSITION = /* glsl */ `
vec3 transformed = limberOrigin + limberAt(limberRidersA.x) * limberWeightsA.x + limberAt(limberRidersA.y) * limberWeightsA.y
    + limberAt(limberRidersA.z) * limberWeightsA.z + limberAt(limberRidersA.w) * limberWeightsA.w
    + limberAt(limberRidersB.x) * limberWeightsB.x + limberAt(limberRidersB.y) * limberWeightsB.y
    + limberAt(limberRidersB.z) * limberWeightsB.z + limberAt(limberRidersB.w) * limberWeightsB.w;
`;
const TEXELS = 256;

/** Particles in a texture; each vertex is the weighted sum of the corners of its cell. */
class GpuRider {
    private texture: THREE.DataTexture | null = null;
    private readonly uniforms = { limberPlaces: { value: null as THREE.DataTexture | null }, limberOrigin: { value: new THREE.Vector3() } };
    private readonly riders: Uint32Array;

    /** A lattice whose vertices all ride on the eight corners of a cell. */
    static suits(body: Body): boolean {
        const info = body.info();
        return info.spacing > 0 && info.broken_links === 0 && info.skin_vertices > 0 && GpuRider.offsets(body, info.skin_vertices)[info.skin_vertices] === 8 * info.skin_vertices;
    }

    private static offsets(body: Body, vertices: number): Uint32Array {
        const offsets = new Uint32Array(vertices + 1);
        body.world.limber.check(body.world.limber.raw.lm_body_get_skin_riders(body.world.address, body.id, offsets, null, null));
        return offsets;
    }

    constructor(
        private readonly body: Body,
        private readonly mesh: SoftMesh,
    ) {
        const { limber } = body.world, info = body.info(), v = info.skin_vertices, address = body.world.address;
        const rest = new Float32Array(3 * v), normals = new Float32Array(3 * v), triangles = new Uint32Array(3 * info.skin_triangles);
        const weights = new Float32Array(8 * v);
        this.riders = new Uint32Array(8 * v);
        limber.check(limber.raw.lm_body_get_skin_rest(address, body.id, rest));
        limber.check(limber.raw.lm_body_get_skin_rest_normals(address, body.id, normals));
        limber.check(limber.raw.lm_body_get_skin_triangles(address, body.id, triangles));
        limber.check(limber.raw.lm_body_get_skin_riders(address, body.id, null, this.riders, weights));
        const { geometry } = mesh;
        geometry.setIndex(new THREE.BufferAttribute(triangles, 1));
        geometry.setAttribute("position", new THREE.BufferAttribute(rest, 3));
        geometry.setAttribute("normal", new THREE.BufferAttribute(normals, 3));
        const half = (from: ArrayLike<number>, second: number): THREE.BufferAttribute =>
            new THREE.BufferAttribute(Float32Array.from({ length: 4 * v }, (_, n) => from[8 * (n >> 2) + 4 * second + (n & 3)]!), 4);
        geometry.setAttribute("limberWeightsA", half(weights, 0));
        geometry.setAttribute("limberWeightsB", half(weights, 1));
        const { places } = body.view();
        const at = Float32Array.from(this.riders, (rider) => places[rider]!);
        geometry.setAttribute("limberRidersA", half(at, 0));
        geometry.setAttribute("limberRidersB", half(at, 1));
        mesh.material.onBeforeCompile = (shader) => this.patch(shader, true);
        const depth = new THREE.MeshDepthMaterial({ depthPacking: THREE.RGBADepthPacking });
        depth.onBeforeCompile = (shader) => this.patch(shader, false);
        mesh.customDepthMaterial = depth;
    }

    private patch(shader: { vertexShader: string; uniforms: object }, lit: boolean): void {
        Object.assign(shader.uniforms, this.uniforms);
        let text = shader.vertexShader.replace("#include <common>", `#include <common>\n${RIDE}`);
        if (lit) text = text.replace("#include <beginnormal_vertex>", RIDE_NORMAL);
        shader.vertexShader = text.replace("#include <begin_vertex>", RIDE_POSITION);
    }

    update(): void {
        const { positions, origin } = this.body.view();
        const rows = Math.ceil(positions.length / 4 / TEXELS);
        if (!this.texture) {
            this.texture = new THREE.DataTexture(new Float32Array(4 * TEXELS * rows), TEXELS, rows, THREE.RGBAFormat, THREE.FloatType);
            this.uniforms.limberPlaces.value = this.texture;
        }
        (this.texture.image.data as Float32Array).set(positions);
        this.texture.needsUpdate = true;
        this.uniforms.limberOrigin.value.set(...origin);
    }

    dispose(): void {
        this.texture?.dispose();
    }
}

// ---- many bodies as one ----

/** The surfaces of many bodies in one geometry: one draw call, and one copy to the graphics card. */
export class SoftCrowd extends THREE.Mesh<THREE.BufferGeometry, THREE.Material> {
    private at: Address = 0;
    private vertices = 0;
    private parts: { id: Address; first: number }[] = [];
    private structure: bigint | null = null;
    private bodies: { body: Body; colours: Uint8Array | null; inner?: readonly [number, number, number] }[] = [];
    /** Draw about so many triangles at most, by leaving out vertices that are near to others: for machines without a graphics card. */
    mostTriangles = Infinity;
    /** Where each body's vertices begin, in the order that they were given. */
    firsts: number[] = [];

    constructor(
        readonly world: World,
        material: THREE.Material = white(),
    ) {
        super(new THREE.BufferGeometry(), material);
        this.frustumCulled = false;
        this.castShadow = this.receiveShadow = true;
    }

    setBodies(bodies: { body: Body; colours: Uint8Array | null; inner?: readonly [number, number, number] }[]): void {
        this.bodies = bodies.filter(({ body }) => body.info().skin_vertices > 0);
        this.structure = null;
    }

    private release(): void {
        const { memory } = this.world.limber;
        if (this.at) memory.free(this.at);
        this.at = 0;
    }

    private rebuild(): void {
        const { memory, raw } = this.world.limber;
        this.release();
        const infos = this.bodies.map(({ body }) => body.info());
        this.vertices = infos.reduce((sum, info) => sum + info.skin_vertices, 0);
        const count = infos.reduce((sum, info) => sum + info.skin_triangles, 0);
        const ids = 24 * this.vertices;
        this.at = memory.allocate(ids + 8 * this.bodies.length + 32);
        memory.bytes.fill(0, this.at + ids, this.at + ids + 8 * this.bodies.length + 32);
        let index = new Uint32Array(3 * count);
        const colours = new Uint8Array(3 * this.vertices);
        this.parts = [];
        this.firsts = [];
        let first = 0, corner = 0;
        this.bodies.forEach(({ body, colours: own, inner }, n) => {
            const info = infos[n]!, id = this.at + ids + 32 + 8 * n;
            memory.write("lm_body_id", id, body.id);
            const triangles = new Uint32Array(3 * info.skin_triangles), sources = new Uint32Array(info.skin_vertices);
            this.world.limber.check(raw.lm_body_get_skin_triangles(this.world.address, body.id, triangles));
            this.world.limber.check(raw.lm_body_get_skin_sources(this.world.address, body.id, sources));
            const given = own && own.length > 0 ? own : PALETTE[n % PALETTE.length]!;
            const painted = colourAttribute(given, sources, inner ?? [205, 90, 80]).array as Uint8Array;
            colours.set(painted, 3 * first);
            const few = Math.max(600, (this.mostTriangles * info.skin_triangles) / count);
            const drawn = count > this.mostTriangles ? this.thinned(body, info, triangles, painted, few) : triangles;
            for (const vertex of drawn) index[corner++] = first + vertex;
            this.parts.push({ id, first });
            this.firsts.push(first);
            first += info.skin_vertices;
        });
        index = index.subarray(0, corner);
        this.geometry.dispose();
        this.geometry = new THREE.BufferGeometry();
        this.geometry.setIndex(new THREE.BufferAttribute(index, 1));
        for (const name of ["position", "normal"]) {
            this.geometry.setAttribute(name, new THREE.BufferAttribute(new Float32Array(3 * this.vertices), 3).setUsage(THREE.DynamicDrawUsage));
        }
        this.geometry.setAttribute("color", new THREE.BufferAttribute(colours, 3, true));
        this.ownColours = colours;
    }

    /**
     * Triangles between one vertex of each cell of a grid in the rest pose, which is made wider until there are few enough. Vertices of other
     * colours are kept apart, and triangles face the way that they faced.
     */
    private thinned(body: Body, info: { skin_vertices: number }, triangles: Uint32Array, colours: Uint8Array, most: number): Uint32Array {
        const rest = new Float32Array(3 * info.skin_vertices), chosen = new Uint32Array(info.skin_vertices);
        this.world.limber.check(this.world.limber.raw.lm_body_get_skin_rest(this.world.address, body.id, rest));
        const [low, high] = new LimberMesh(rest, triangles).bounds();
        const facing = (a: number, b: number, c: number): [number, number, number] => {
            const [i, j, k] = [3 * a, 3 * b, 3 * c] as const;
            const ux = rest[j]! - rest[i]!, uy = rest[j + 1]! - rest[i + 1]!, uz = rest[j + 2]! - rest[i + 2]!;
            const vx = rest[k]! - rest[i]!, vy = rest[k + 1]! - rest[i + 1]!, vz = rest[k + 2]! - rest[i + 2]!;
            return [uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx];
        };
        let cell = Math.max(high[0] - low[0], high[1] - low[1], high[2] - low[2]) / 90, kept = triangles;
        for (let attempt = 0; attempt < 12 && kept.length > 3 * most; attempt++, cell *= 1.25) {
            const cells = new Map<number, number>(), next: number[] = [];
            for (let n = 0; n < chosen.length; n++) {
                const i = Math.floor((rest[3 * n]! - low[0]) / cell), j = Math.floor((rest[3 * n + 1]! - low[1]) / cell), k = Math.floor((rest[3 * n + 2]! - low[2]) / cell);
                const colour = (colours[3 * n]! >> 6) + 4 * (colours[3 * n + 1]! >> 6) + 16 * (colours[3 * n + 2]! >> 6);
                const key = colour + 64 * (i + 256 * (j + 256 * k));
                const first = cells.get(key);
                if (first === undefined) cells.set(key, n);
                chosen[n] = first ?? n;
            }
            for (let n = 0; n < triangles.length; n += 3) {
                const a = chosen[triangles[n]!]!, b = chosen[triangles[n + 1]!]!, c = chosen[triangles[n + 2]!]!;
                if (a === b || b === c || c === a) continue;
                const was = facing(triangles[n]!, triangles[n + 1]!, triangles[n + 2]!), is = facing(a, b, c);
                if (was[0] * is[0] + was[1] * is[1] + was[2] * is[2] >= 0) next.push(a, b, c);
                else next.push(a, c, b);
            }
            kept = Uint32Array.from(next);
        }
        return kept;
    }

    private ownColours = new Uint8Array(0);

    /** After steps. True when the surface has other vertices than before. */
    update(): boolean {
        if (this.bodies.length === 0) return false;
        const { memory, raw } = this.world.limber;
        const structure = raw.lm_world_structure(this.world.address);
        const changed = structure !== this.structure;
        if (changed) this.rebuild();
        this.structure = structure;
        const zero = this.at + 24 * this.vertices, normals = this.at + 12 * this.vertices;
        for (const { id, first } of this.parts) {
            memory.exports.lm_body_get_skin!(this.world.address, id, zero, this.at + 12 * first, normals + 12 * first);
        }
        for (const [name, at] of [["position", this.at], ["normal", normals]] as const) {
            const attribute = this.geometry.getAttribute(name) as THREE.BufferAttribute;
            attribute.array = memory.floats(at, 3 * this.vertices);
            attribute.needsUpdate = true;
        }
        return changed;
    }

    /** Whether the module's memory has grown since update(): the arrays that were taken then are gone, and it has to be called again before drawing. */
    get isStale(): boolean {
        const position = this.geometry.getAttribute("position") as THREE.BufferAttribute | undefined;
        return position !== undefined && this.vertices > 0 && position.array.length === 0;
    }

    /** Other colours for all vertices: a value of 0 to 1 each, through `map`; null: their own again. */
    paint(kind: "strain" | "speed" | "region" | "piece" | "width" | null, map?: (value: number) => readonly [number, number, number]): void {
        const attribute = this.geometry.getAttribute("color") as THREE.BufferAttribute | undefined;
        if (!attribute) return;
        const colours = kind === null ? this.ownColours : new Uint8Array(3 * this.vertices);
        if (kind !== null && map) {
            this.bodies.forEach(({ body }, n) => {
                body.values(kind).forEach((value, k) => {
                    const [r, g, b] = map(value), at = 3 * (this.firsts[n]! + k);
                    colours[at] = r;
                    colours[at + 1] = g;
                    colours[at + 2] = b;
                });
            });
        }
        attribute.array = colours;
        attribute.needsUpdate = true;
    }

    override dispose(): void {
        super.dispose?.(); // newer releases have one
        this.geometry.dispose();
        if (!this.world.isFree) this.release();
    }
}

const PALETTE = ["f2b632", "e4572e", "4f9d69", "3d7dca", "8e6bbf", "d96a9b", "3aa6a0", "c98b4a"].map((hex) =>
    Uint8Array.of(parseInt(hex.slice(0, 2), 16), parseInt(hex.slice(2, 4), 16), parseInt(hex.slice(4), 16)));

// ---- colliders ----

function colliderGeometry(limber: Limber, def: any): THREE.BufferGeometry {
    const { memory } = limber;
    switch (def.shape) {
        case LM.LM_SHAPE_SPHERE: return new THREE.SphereGeometry(def.radius, 32, 20);
        case LM.LM_SHAPE_CAPSULE: return new THREE.CapsuleGeometry(def.radius, 2 * def.half_length, 10, 28);
        case LM.LM_SHAPE_BOX: return new THREE.BoxGeometry(2 * def.half_extents.x, 2 * def.half_extents.y, 2 * def.half_extents.z);
        case LM.LM_SHAPE_HEIGHTS: {
            const [nx, nz] = def.heights.counts as [number, number], s = def.heights.spacing;
            const heights = memory.floats(def.heights.heights, nx * nz), places = new Float32Array(3 * nx * nz), index: number[] = [];
            for (let k = 0; k < nz; k++) {
                for (let i = 0; i < nx; i++) {
                    const n = k * nx + i;
                    places.set([(i - (nx - 1) / 2) * s, heights[n]!, (k - (nz - 1) / 2) * s], 3 * n);
                    if (i + 1 < nx && k + 1 < nz) index.push(n, n + nx, n + nx + 1, n, n + nx + 1, n + 1);
                }
            }
            return shaded(places, index);
        }
        case LM.LM_SHAPE_MESH: {
            const m = def.mesh;
            return shaded(memory.floats(m.vertices, 3 * m.vertex_count).slice(), Array.from(memory.indices(m.triangles, 3 * m.triangle_count)));
        }
        default: return new THREE.CircleGeometry(400, 64).rotateX(-Math.PI / 2);
    }
}

function shaded(places: Float32Array, index: number[]): THREE.BufferGeometry {
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(places, 3));
    geometry.setIndex(index);
    geometry.computeVertexNormals();
    return geometry;
}

/** All colliders of a world. update() moves those on movers, and finds new ones. */
export class ColliderGroup extends THREE.Group {
    private readonly shown = new Map<string, THREE.Mesh>();

    constructor(
        readonly world: World,
        private readonly materialOf: (id: Id, isPlane: boolean) => THREE.Material = () => new THREE.MeshStandardMaterial({ color: 0xb8bec8, roughness: 0.9, side: THREE.DoubleSide }),
    ) {
        super();
        this.update();
    }

    update(): void {
        const there = new Set<string>();
        for (const collider of this.world.colliders()) {
            const key = `${collider.id.slot}:${collider.id.generation}`;
            there.add(key);
            let mesh = this.shown.get(key);
            if (!mesh) {
                const def = collider.definition, isPlane = def.shape === LM.LM_SHAPE_PLANE;
                mesh = new THREE.Mesh(colliderGeometry(this.world.limber, def), this.materialOf(collider.id, isPlane));
                mesh.receiveShadow = true;
                mesh.castShadow = !isPlane;
                mesh.userData["plane"] = isPlane;
                this.shown.set(key, mesh);
                this.add(mesh);
            }
            const { position: p, rotation: q } = collider.pose;
            mesh.position.set(p.x, p.y, p.z);
            mesh.quaternion.set(q.x, q.y, q.z, q.w);
        }
        for (const [key, mesh] of this.shown) {
            if (!there.has(key)) {
                this.remove(mesh);
                mesh.geometry.dispose();
                this.shown.delete(key);
            }
        }
    }
}

// ---- particles ----

/** A debug view: the particles of bodies as small balls. */
export class ParticleCloud extends THREE.Points<THREE.BufferGeometry, THREE.PointsMaterial> {
    constructor(
        readonly world: World,
        size = 0.02,
    ) {
        super(new THREE.BufferGeometry(), new THREE.PointsMaterial({ size, vertexColors: true }));
        this.material.onBeforeCompile = (shader) => {
            shader.fragmentShader = shader.fragmentShader.replace("#include <color_fragment>", `#include <color_fragment>
                vec2 from = 2.0 * gl_PointCoord - 1.0;
                float square = dot(from, from);
                if (square > 1.0) discard;
                diffuseColor.rgb *= 0.55 + 0.45 * dot(vec3(from.x, -from.y, sqrt(1.0 - square)), vec3(-0.3, 0.6, 0.74));`);
        };
        this.frustumCulled = false;
    }

    update(): void {
        const bodies = this.world.bodies().map((body) => body.positions());
        const count = bodies.reduce((sum, positions) => sum + positions.length, 0);
        const old = this.geometry.getAttribute("position") as THREE.BufferAttribute | undefined;
        if (!old || old.array.length !== count) {
            this.geometry.dispose();
            this.geometry = new THREE.BufferGeometry();
            this.geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(count), 3).setUsage(THREE.DynamicDrawUsage));
            const colours = new Uint8Array(count);
            let at = 0;
            bodies.forEach((positions, n) => {
                for (let k = 0; k < positions.length; k++) colours[at++] = PALETTE[n % PALETTE.length]![k % 3]!;
            });
            this.geometry.setAttribute("color", new THREE.BufferAttribute(colours, 3, true));
        }
        const attribute = this.geometry.getAttribute("position") as THREE.BufferAttribute;
        let at = 0;
        for (const positions of bodies) {
            attribute.array.set(positions, at);
            at += positions.length;
        }
        attribute.needsUpdate = true;
    }
}

// ---- hands ----

const GRAB_SHARE = 0.45;

/** Lets the mouse, a finger or a pen take hold of bodies. Give it orbit controls, and it switches them off meanwhile. */
export class Grabber {
    private held: { drag: { target: readonly [number, number, number]; free(): void }; plane: THREE.Plane } | null = null;
    private readonly caster = new THREE.Raycaster();

    constructor(
        readonly world: World,
        readonly camera: THREE.Camera,
        readonly element: HTMLElement,
        readonly controls: { enabled: boolean } | null = null,
    ) {
        element.style.touchAction = "none";
        element.addEventListener("pointerdown", this.press, { capture: true });
        element.addEventListener("pointermove", this.move);
        element.addEventListener("pointerup", this.release);
        element.addEventListener("pointercancel", this.release);
    }

    /** What is under a place of the element. */
    pick(clientX: number, clientY: number) {
        this.aim(clientX, clientY);
        const { origin, direction } = this.caster.ray;
        return this.world.pick(origin.toArray(), direction.toArray());
    }

    private aim(clientX: number, clientY: number): void {
        const box = this.element.getBoundingClientRect();
        const at = new THREE.Vector2((2 * (clientX - box.left)) / box.width - 1, 1 - (2 * (clientY - box.top)) / box.height);
        this.caster.setFromCamera(at, this.camera);
    }

    private readonly press = (event: PointerEvent): void => {
        const hit = event.button === 0 ? this.pick(event.clientX, event.clientY) : null;
        if (!hit) return;
        const { lower, upper } = hit.body.info();
        const extent = Math.max(upper.x - lower.x, upper.y - lower.y, upper.z - lower.z);
        const drag = this.world.addDrag(hit.body, { particle: hit.particle, target: hit.point, radius: GRAB_SHARE * extent });
        const normal = this.camera.getWorldDirection(new THREE.Vector3());
        this.held = { drag, plane: new THREE.Plane().setFromNormalAndCoplanarPoint(normal, new THREE.Vector3(...hit.point)) };
        if (this.controls) this.controls.enabled = false;
        this.element.setPointerCapture(event.pointerId);
    };

    private readonly move = (event: PointerEvent): void => {
        if (!this.held) return;
        this.aim(event.clientX, event.clientY);
        const point = this.caster.ray.intersectPlane(this.held.plane, new THREE.Vector3());
        if (point) this.held.drag.target = point.toArray();
    };

    private readonly release = (): void => {
        this.held?.drag.free();
        this.held = null;
        if (this.controls) this.controls.enabled = true;
    };

    free(): void {
        this.release();
        this.element.removeEventListener("pointerdown", this.press, { capture: true });
        this.element.removeEventListener("pointermove", this.move);
        this.element.removeEventListener("pointerup", this.release);
        this.element.removeEventListener("pointercancel", this.release);
    }
}

// ---- a whole picture ----

export interface Show {
    scene: THREE.Scene;
    camera: THREE.PerspectiveCamera;
    renderer: THREE.WebGLRenderer;
    crowd: SoftCrowd;
    /** Called before each step. */
    beforeStep: (() => void) | null;
    stop(): void;
}

/** Shows a world in an element and steps it: light, shadows, a camera that turns, bodies that can be grabbed. */
export function show(world: World, element: HTMLElement, options: { at?: readonly [number, number, number]; lookAt?: readonly [number, number, number] } = {}): Show {
    const renderer = new THREE.WebGLRenderer({ antialias: true });
    renderer.shadowMap.enabled = true;
    element.append(renderer.domElement);
    const scene = new THREE.Scene();
    scene.background = new THREE.Color(0xf1f0ee);
    scene.fog = new THREE.Fog(0xf1f0ee, 8, 40);
    const camera = new THREE.PerspectiveCamera(40, 1, 0.05, 500);
    camera.position.set(...(options.at ?? [2.2, 1.6, 3]));
    const controls = new OrbitControls(camera, renderer.domElement);
    controls.target.set(...(options.lookAt ?? [0, 0.5, 0]));
    scene.add(new THREE.HemisphereLight(0xffffff, 0xb0a898, 1.6));
    const sun = new THREE.DirectionalLight(0xfff2dd, 2.4);
    sun.position.set(3, 8, 4);
    sun.castShadow = true;
    sun.shadow.mapSize.set(1024, 1024);
    sun.shadow.normalBias = 0.03;
    Object.assign(sun.shadow.camera, { left: -5, right: 5, top: 5, bottom: -5, far: 30 });
    scene.add(sun);
    const crowd = new SoftCrowd(world, new THREE.MeshStandardMaterial({ vertexColors: true, roughness: 0.5, side: THREE.DoubleSide, shadowSide: THREE.BackSide }));
    const colliders = new ColliderGroup(world, (_, isPlane) => new THREE.MeshStandardMaterial({ color: isPlane ? 0xe9e7e3 : 0xaab4c4, roughness: 0.95, side: THREE.DoubleSide }));
    scene.add(crowd, colliders);
    const grabber = new Grabber(world, camera, renderer.domElement, controls);
    let known = "";
    const result: Show = {
        scene, camera, renderer, crowd, beforeStep: null,
        stop(): void {
            renderer.setAnimationLoop(null);
            grabber.free();
            crowd.dispose();
            renderer.dispose();
            renderer.domElement.remove();
        },
    };
    const resize = (): void => {
        const width = element.clientWidth || window.innerWidth, height = element.clientHeight || window.innerHeight;
        if (renderer.domElement.width === width && renderer.domElement.height === height) return;
        renderer.setSize(width, height);
        camera.aspect = width / height;
        camera.updateProjectionMatrix();
    };
    renderer.setAnimationLoop(() => {
        resize();
        result.beforeStep?.();
        world.step();
        const bodies = world.bodies(), now = bodies.map(({ id }) => `${id.slot}:${id.generation}`).join();
        if (now !== known) crowd.setBodies(bodies.map((body) => ({ body, colours: body.colours })));
        known = now;
        crowd.update();
        colliders.update();
        controls.update();
        renderer.render(scene, camera);
    });
    return result;
}
