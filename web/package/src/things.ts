/** What else is in a world: colliders, movers, pins, drags, fields. */
import type { Body } from "./body.js";
import type { Mesh, Vector } from "./mesh.js";
import { LM, type lm_pose } from "./raw.js";
import type { World } from "./world.js";

export interface Id {
    slot: number;
    generation: number;
}

export interface PoseOptions {
    position?: Vector;
    /** Quaternion: x, y, z, w. */
    rotation?: readonly [number, number, number, number];
}

/** @internal */
export function poseOf(options: PoseOptions): lm_pose {
    const [x, y, z] = options.position ?? [0, 0, 0], [qx, qy, qz, qw] = options.rotation ?? [0, 0, 0, 1];
    return { position: { x, y, z }, rotation: { x: qx, y: qy, z: qz, w: qw } };
}

const none = (): Id => ({ slot: 0, generation: 0 });

export interface ColliderOptions extends PoseOptions {
    shape?: "plane" | "sphere" | "capsule" | "box" | "heights" | "mesh";
    radius?: number;
    halfLength?: number;
    halfExtents?: Vector;
    /** Of a height map: `heights`, x first, `counts` of them along x and z, `spacing` metres apart. */
    heights?: Float32Array;
    counts?: readonly [number, number];
    spacing?: number;
    mesh?: Mesh;
    solid?: boolean;
    mover?: Mover;
    friction?: number;
    restitution?: number;
    group?: number;
    mask?: number;
}

const SHAPES = {
    plane: LM.LM_SHAPE_PLANE, sphere: LM.LM_SHAPE_SPHERE, capsule: LM.LM_SHAPE_CAPSULE,
    box: LM.LM_SHAPE_BOX, heights: LM.LM_SHAPE_HEIGHTS, mesh: LM.LM_SHAPE_MESH,
} as const;

abstract class Thing {
    constructor(
        readonly world: World,
        readonly id: Id,
    ) {}

    protected abstract destroy(): number;

    free(): void {
        if (!this.world.isFree && this.id.slot !== 0) this.destroy();
        this.id.slot = 0;
    }

    [Symbol.dispose](): void {
        this.free();
    }
}

export class Collider extends Thing {
    /** @internal */
    static create(world: World, options: ColliderOptions): Collider {
        const { limber } = world, id = none();
        const def = limber.raw.lm_collider_def_default();
        def.shape = SHAPES[options.shape ?? (options.mesh ? "mesh" : options.heights ? "heights" : "plane")];
        def.radius = options.radius ?? def.radius;
        def.half_length = options.halfLength ?? def.half_length;
        if (options.halfExtents) def.half_extents = { x: options.halfExtents[0], y: options.halfExtents[1], z: options.halfExtents[2] };
        if (options.heights) def.heights = { heights: options.heights, counts: [...(options.counts ?? [2, 2])], spacing: options.spacing ?? 1 };
        if (options.mesh) {
            const m = options.mesh;
            def.mesh = { vertices: m.vertices, vertex_count: m.vertexCount, triangles: m.triangles, triangle_count: m.triangleCount, solid: options.solid ?? false, deforms: false };
        }
        def.pose = poseOf(options);
        if (options.mover) def.mover = options.mover.id;
        def.friction = options.friction ?? def.friction;
        def.restitution = options.restitution ?? def.restitution;
        def.group = options.group ?? def.group;
        def.mask = options.mask ?? def.mask;
        limber.check(limber.raw.lm_collider_create(world.address, def, id), "a collider");
        return new Collider(world, id);
    }

    protected destroy(): number {
        return this.world.limber.raw.lm_collider_destroy(this.world.address, this.id);
    }

    get pose(): lm_pose {
        const pose = poseOf({});
        this.world.limber.check(this.world.limber.raw.lm_collider_get_pose(this.world.address, this.id, pose));
        return pose;
    }

    /** Its definition, with arrays that view the world's memory. */
    get definition() {
        const def = this.world.limber.raw.lm_collider_def_default();
        this.world.limber.check(this.world.limber.raw.lm_collider_get_def(this.world.address, this.id, def));
        return def;
    }
}

export interface MoverOptions extends PoseOptions {
    velocity?: Vector;
    spin?: Vector;
    /** Kilograms: then it is a rigid body that is pushed, and its position is its centre of mass. */
    mass?: number;
    /** With a mass: moments about its axes, kg m²; absent: those of its colliders. */
    inertia?: Vector;
}

export class Mover extends Thing {
    /** @internal */
    static create(world: World, options: MoverOptions): Mover {
        const { limber } = world, id = none(), def = limber.raw.lm_mover_def_default();
        def.pose = poseOf(options);
        if (options.velocity) def.velocity = { x: options.velocity[0], y: options.velocity[1], z: options.velocity[2] };
        if (options.spin) def.spin = { x: options.spin[0], y: options.spin[1], z: options.spin[2] };
        if (options.mass !== undefined) def.mass = options.mass;
        if (options.inertia) def.inertia = { x: options.inertia[0], y: options.inertia[1], z: options.inertia[2] };
        limber.check(limber.raw.lm_mover_create(world.address, def, id), "a mover");
        return new Mover(world, id);
    }

    protected destroy(): number {
        return this.world.limber.raw.lm_mover_destroy(this.world.address, this.id);
    }

    /** The next step ends with this pose. */
    moveTo(pose: PoseOptions): void {
        this.world.limber.check(this.world.limber.raw.lm_mover_move_to(this.world.address, this.id, poseOf(pose)));
    }

    setVelocity([x, y, z]: Vector, spin: Vector = [0, 0, 0]): void {
        const turn = { x: spin[0], y: spin[1], z: spin[2] };
        this.world.limber.check(this.world.limber.raw.lm_mover_set_velocity(this.world.address, this.id, { x, y, z }, turn));
    }

    /** Of a mover with mass: an impulse, N s, at a point of the world. */
    applyImpulse([x, y, z]: Vector, point: Vector): void {
        const at = { x: point[0], y: point[1], z: point[2] };
        this.world.limber.check(this.world.limber.raw.lm_mover_apply_impulse(this.world.address, this.id, { x, y, z }, at));
    }

    get pose(): lm_pose {
        const pose = poseOf({});
        this.world.limber.check(this.world.limber.raw.lm_mover_get_pose(this.world.address, this.id, pose));
        return pose;
    }
}

export class Pin extends Thing {
    /** @internal */
    static create(world: World, body: Body, particles: Uint32Array | number[], mover?: Mover): Pin {
        const { limber } = world, id = none(), def = limber.raw.lm_pin_def_default();
        def.body = body.id;
        def.particles = Uint32Array.from(particles);
        def.particle_count = particles.length;
        if (mover) def.mover = mover.id;
        limber.check(limber.raw.lm_pin_create(world.address, def, id), "a pin");
        return new Pin(world, id);
    }

    protected destroy(): number {
        return this.world.limber.raw.lm_pin_destroy(this.world.address, this.id);
    }
}

export interface DragOptions {
    particle: number;
    target: Vector;
    /** Around the particle at rest, pulled along; default 0. */
    radius?: number;
    hertz?: number;
    dampingRatio?: number;
    maxForce?: number;
}

export class Drag extends Thing {
    /** @internal */
    static create(world: World, body: Body, options: DragOptions): Drag {
        const { limber } = world, id = none(), def = limber.raw.lm_drag_def_default();
        def.body = body.id;
        def.particle = options.particle;
        def.target = { x: options.target[0], y: options.target[1], z: options.target[2] };
        def.radius = options.radius ?? def.radius;
        def.hertz = options.hertz ?? def.hertz;
        def.damping_ratio = options.dampingRatio ?? def.damping_ratio;
        def.max_force = options.maxForce ?? def.max_force;
        limber.check(limber.raw.lm_drag_create(world.address, def, id), "a drag");
        return new Drag(world, id);
    }

    protected destroy(): number {
        return this.world.limber.raw.lm_drag_destroy(this.world.address, this.id);
    }

    set target([x, y, z]: Vector) {
        this.world.limber.check(this.world.limber.raw.lm_drag_set_target(this.world.address, this.id, { x, y, z }));
    }
}

export interface FieldOptions {
    kind: "uniform" | "wind" | "point";
    vector?: Vector;
    position?: Vector;
    strength?: number;
    radius?: number;
}

export class Field extends Thing {
    private static definition(world: World, options: FieldOptions) {
        const def = world.limber.raw.lm_field_def_default();
        def.kind = { uniform: LM.LM_FIELD_UNIFORM, wind: LM.LM_FIELD_WIND, point: LM.LM_FIELD_POINT }[options.kind];
        if (options.vector) def.vector = { x: options.vector[0], y: options.vector[1], z: options.vector[2] };
        if (options.position) def.position = { x: options.position[0], y: options.position[1], z: options.position[2] };
        def.strength = options.strength ?? def.strength;
        def.radius = options.radius ?? def.radius;
        return def;
    }

    /** @internal */
    static create(world: World, options: FieldOptions): Field {
        const id = none();
        world.limber.check(world.limber.raw.lm_field_create(world.address, Field.definition(world, options), id), "a field");
        return new Field(world, id);
    }

    set(options: FieldOptions): void {
        this.world.limber.check(this.world.limber.raw.lm_field_set(this.world.address, this.id, Field.definition(this.world, options)));
    }

    protected destroy(): number {
        return this.world.limber.raw.lm_field_destroy(this.world.address, this.id);
    }
}
