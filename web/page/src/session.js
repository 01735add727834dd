// A scene being played with: its world, what was done to it, and the time that is recorded.
//
// Everything that a visitor does is a change, which is recorded with its frame. Keys (whole snapshots) are kept every so many frames; to
// return to a frame its key is loaded, and changes and steps are repeated from there. The engine gives the same state to the last bit.

import { LM } from "limber-physics";

const KEY_EVERY = 20;
const KEY_BYTES = 160e6; // of all keys together; older ones go first
const BALL_FRAMES = 360;

export class Session {
    constructor(limber, source, { sets = [], name, fine = false } = {}) {
        this.limber = limber;
        this.source = source;
        this.scene = limber.scene(source, { sets, name, fine });
        try {
            this.scene.makeWorld();
        } catch (error) {
            this.scene.free();
            throw error;
        }
        this.company = { grab: null, balls: [], pins: [], bodies: [], wind: null };
        this.changes = new Map();
        this.keys = [];
        this.last = 0; // the newest frame that was simulated
        this.touched = false;
        this.first = this.scene.bodies().map(({ body }) => ({ material: body.material, mass: body.info().mass }));
        this.takeKey();
    }

    get world() {
        return this.scene.world;
    }

    get frame() {
        return this.scene.frame;
    }

    /** The earliest frame that can be returned to. */
    get earliest() {
        return this.keys[0].frame;
    }

    free() {
        this.scene.free();
    }

    // ---- time ----

    takeKey() {
        const key = { frame: this.frame, snapshot: this.world.save(), marks: this.scene.marks(), company: JSON.stringify(this.company) };
        this.keys.push(key);
        let bytes = this.keys.reduce((sum, { snapshot }) => sum + snapshot.length, 0);
        while (bytes > KEY_BYTES && this.keys.length > 2) bytes -= this.keys.splice(1, 1)[0].snapshot.length;
    }

    /** One frame on: along what is recorded while there is any, else a new one. */
    step() {
        if (this.frame < this.last) for (const change of this.changes.get(this.frame) ?? []) this.apply(change);
        this.moveBalls();
        this.scene.step();
        if (this.frame > this.last) {
            this.last = this.frame;
            if (this.frame - this.keys[this.keys.length - 1].frame >= KEY_EVERY) this.takeKey();
        }
    }

    seek(frame) {
        frame = Math.max(this.earliest, Math.min(frame, this.last));
        let key = null;
        for (const one of this.keys) if (one.frame <= frame) key = one;
        if (frame < this.frame || key.frame > this.frame) {
            this.world.load(key.snapshot);
            this.scene.setMarks(key.marks);
            this.scene.frame = key.frame;
            this.company = JSON.parse(key.company);
        }
        while (this.frame < frame) this.step();
    }

    // ---- changes ----

    /** Does something and records it. In the past it begins another future. */
    change(change) {
        if (this.frame < this.last) {
            for (const frame of [...this.changes.keys()]) if (frame >= this.frame) this.changes.delete(frame);
            this.keys = this.keys.filter((key) => key.frame <= this.frame);
            this.last = this.frame;
        }
        const result = this.apply(change);
        if (!this.changes.has(this.frame)) this.changes.set(this.frame, []);
        this.changes.get(this.frame).push(structuredClone(change));
        if (change.kind !== "release") this.touched = true;
        return result;
    }

    apply(change) {
        return this[`do_${change.kind}`](change);
    }

    body(id) {
        return this.world.body(id);
    }

    raw(name, ...values) {
        this.limber.check(this.limber.raw[name](this.world.address, ...values));
    }

    do_grab({ kind, body, ...options }) {
        this.do_release();
        const drag = this.world.addDrag(this.body(body), options);
        this.company.grab = { ...drag.id };
    }

    do_pull({ target: [x, y, z] }) {
        if (this.company.grab) this.raw("lm_drag_set_target", this.company.grab, { x, y, z });
    }

    do_release() {
        if (this.company.grab) this.limber.raw.lm_drag_destroy(this.world.address, this.company.grab);
        this.company.grab = null;
    }

    do_material({ body, material }) {
        this.body(body).setMaterial(material);
    }

    do_mass({ body, value }) {
        this.raw("lm_body_set_mass", body, value);
    }

    do_density({ body, value }) {
        const { mass, density } = this.body(body).info();
        if (density > 0) this.raw("lm_body_set_mass", body, (mass / density) * value);
    }

    do_radius({ body, value }) {
        this.raw("lm_body_set_contact_radius", body, value);
    }

    do_penalty({ body, value }) {
        this.raw("lm_body_set_penalty", body, value);
    }

    do_maySleep({ body, on }) {
        this.raw("lm_body_set_may_sleep", body, on);
    }

    /** What an octree divides its cells by, null: nothing; `eye`: where it is looked at from. */
    do_detailDef({ body, fields, eye }) {
        if (eye) this.raw("lm_world_set_eye", { x: eye[0], y: eye[1], z: eye[2] });
        this.raw("lm_body_set_detail", body, fields ? { ...this.limber.raw.lm_detail_default(), ...fields } : null);
    }

    do_ground({ fields }) {
        for (const collider of this.world.colliders()) {
            const { friction, restitution } = { ...collider.definition, ...fields };
            this.raw("lm_collider_set_friction", collider.id, friction, restitution);
        }
    }

    /** Movers with mass, by the colliders on them. */
    rigidBodies() {
        const found = new Map();
        for (const { definition: { mover } } of this.world.colliders()) {
            const def = this.limber.raw.lm_mover_def_default();
            if (mover.generation === 0) continue;
            this.raw("lm_mover_get_def", mover, def);
            if (def.mass > 0) found.set(`${mover.slot}:${mover.generation}`, { id: { ...mover }, def });
        }
        return [...found.values()];
    }

    /** Moments of inertia grow with the mass. */
    do_rigidMass({ value }) {
        for (const { id, def: { mass, inertia: { x, y, z } } } of this.rigidBodies()) {
            const by = value / mass;
            this.raw("lm_mover_set_mass", id, value, { x: by * x, y: by * y, z: by * z });
        }
    }

    /** Air that takes particles along, at the rate `strength` 1/s. */
    do_wind({ velocity: [x, y, z], strength }) {
        const { company, limber } = this, def = { ...limber.raw.lm_field_def_default(), kind: LM.LM_FIELD_WIND, vector: { x, y, z }, strength };
        if (company.wind) return this.raw("lm_field_set", company.wind, def);
        const id = { slot: 0, generation: 0 };
        this.raw("lm_field_create", def, id);
        company.wind = { ...id };
    }

    /** The wind of this page, as do_wind takes it. */
    wind() {
        const def = this.limber.raw.lm_field_def_default();
        if (!this.company.wind) return { velocity: [0, 0, 0], strength: 1 };
        this.raw("lm_field_get", this.company.wind, def);
        return { velocity: [def.vector.x, def.vector.y, def.vector.z], strength: def.strength };
    }

    do_joints({ fields }) {
        for (const { id, info } of this.joints()) {
            const all = { ...info, ...fields };
            if ("hertz" in fields || "damping_ratio" in fields) this.raw("lm_joint_set_spring", id, all.hertz, all.damping_ratio);
            if ("max_force" in fields || "max_torque" in fields) this.raw("lm_joint_set_strength", id, all.max_force, all.max_torque);
            if ("length" in fields && info.isDistance) this.raw("lm_joint_set_length", id, all.length);
            if ("enabled" in fields) this.raw("lm_joint_set_enabled", id, fields.enabled);
        }
    }

    /** All joints of the world. */
    joints() {
        const { memory, raw } = this.limber, { address } = this.world, size = memory.size("lm_joint_id");
        return memory.scope(() => {
            const count = raw.lm_world_get_joints(address, null, 0), at = memory.scratch(Math.max(size * count, 1));
            raw.lm_world_get_joints(address, at, count);
            return Array.from({ length: count }, (_, n) => {
                const id = memory.read("lm_joint_id", at + n * size), info = {};
                this.limber.check(raw.lm_joint_get_info(address, id, info));
                return { id, info: { ...info, isDistance: info.kind === LM.LM_JOINT_DISTANCE } };
            });
        });
    }

    do_filter({ body, fields }) {
        const filter = { group: 0, mask: 0, collider_mask: 0, self_contact: false };
        this.raw("lm_body_get_filter", body, filter);
        this.raw("lm_body_set_filter", body, { ...filter, ...fields });
    }

    do_fracture({ body, fields }) {
        this.raw("lm_body_set_fracture", body, fields ? { ...this.limber.raw.lm_fracture_def_default(), ...fields } : null);
    }

    do_exampleBeta({ body, value }) {
        this.raw("lm_body_set_example_beta", body, value);
    }

    do_exampleWeights({ body, weights }) {
        this.raw("lm_body_set_example_weights", body, weights ? Float32Array.from(weights) : null);
    }

    do_gravity({ axis, value }) {
        this.world.gravity = this.world.gravity.map((one, n) => (n === axis ? value : one));
    }

    do_sleep({ enabled, speed, seconds }) {
        this.world.setSleep(enabled, speed, seconds);
    }

    do_method({ method }) {
        this.raw("lm_world_set_contact_method", method);
    }

    do_substeps({ count }) {
        this.world.substeps = count;
    }

    mangle(id, how) {
        const body = this.body(id), positions = body.positions(), { centre } = body.info();
        how(positions, centre);
        body.setState(positions, new Float32Array(positions.length));
    }

    do_squash({ body }) {
        this.mangle(body, (positions) => {
            let lowest = Infinity;
            for (let n = 1; n < positions.length; n += 3) lowest = Math.min(lowest, positions[n]);
            for (let n = 1; n < positions.length; n += 3) positions[n] = lowest;
        });
    }

    do_invert({ body }) {
        this.mangle(body, (positions, centre) => {
            const middle = [centre.x, centre.y, centre.z];
            for (let n = 0; n < positions.length; n++) positions[n] = 2 * middle[n % 3] - positions[n];
        });
    }

    do_throw({ body, velocity }) {
        this.body(body).setVelocity(velocity, [3, 2, 1]);
    }

    do_pin({ body, particle, radius }) {
        const one = this.body(body), rest = one.restPositions(), near = [];
        const at = (n) => [rest[3 * n], rest[3 * n + 1], rest[3 * n + 2]], [x, y, z] = at(particle);
        for (let n = 0; n < rest.length / 3; n++) {
            const [a, b, c] = at(n);
            if (n === particle || Math.hypot(a - x, b - y, c - z) < radius) near.push(n);
        }
        this.company.pins.push({ ...this.world.addPin(one, near).id });
    }

    do_unpin() {
        for (const pin of this.company.pins) this.limber.raw.lm_pin_destroy(this.world.address, pin);
        this.company.pins = [];
    }

    /** A stroke on the picture: an eye, and points far behind the picture. Returns how many links were cut. */
    do_cut({ eye, points }) {
        this.do_release();
        const vertices = Float64Array.from([...eye, ...points.flat()]);
        const triangles = Uint32Array.from(Array.from({ length: points.length - 1 }, (_, n) => [0, n + 1, n + 2]).flat());
        let links = 0, refused = "";
        for (const body of this.world.bodies()) {
            try {
                links += body.cut(vertices, triangles).links;
            } catch (error) {
                refused = error.message; // one that cannot be cut stays whole
            }
        }
        return { links, refused };
    }

    /** Lets a lattice break where it is stretched. */
    do_tear({ body, limit }) {
        this.body(body).setFracture(limit, 0.3);
    }

    /** Widths of an octree's regions, or shares of the pull of other bodies' regions, around a point. */
    do_stiffness({ body, point, radius, factor, shares }) {
        const one = this.body(body), info = one.info(), positions = one.positions();
        const octree = info.octree_nodes > 0, values = new Float32Array(info.particles);
        if (octree) this.raw("lm_body_get_widths", body, values);
        else values.set(shares);
        for (let n = 0; n < info.particles; n++) {
            const d = Math.hypot(positions[3 * n] - point[0], positions[3 * n + 1] - point[1], positions[3 * n + 2] - point[2]) / radius;
            const weight = Math.max(0, 1 - d * d);
            values[n] *= 1 + (factor - 1) * weight;
            if (!octree) values[n] = Math.min(1, Math.max(0.02, values[n]));
        }
        if (octree) this.raw("lm_body_set_widths", body, values);
        else this.raw("lm_body_set_particle_stiffness", body, values);
        return values;
    }

    /** Cells within the brush are divided, or joined where a whole larger cell fits: there it reaches at least as far as one does. */
    do_detail({ body, point, radius, factor }) {
        this.do_release();
        const one = this.body(body), info = one.info(), positions = one.positions(), sides = new Float32Array(info.particles);
        this.raw("lm_body_get_cells", body, sides);
        const within = (reach) => sides.filter((_, n) => Math.hypot(positions[3 * n] - point[0], positions[3 * n + 1] - point[1], positions[3 * n + 2] - point[2]) < reach);
        let found = within(radius);
        if (found.length === 0) return 0;
        const reach = factor > 1 ? Math.max(radius, 4 * Math.min(...found)) : radius;
        found = within(reach);
        const least = Math.min(...found), most = Math.max(...found);
        return one.refine(point, reach, (factor < 1 ? least : most) * (least < most ? 1 : factor));
    }

    /** A soft ball that falls. */
    do_drop({ at, radius }) {
        const mesh = this.limber.shape("sphere", { size: 2 * radius, detail: 10 });
        const volume = (4 / 3) * Math.PI * radius ** 3;
        const body = this.world.addLattice(mesh, {
            particles: 150, width: 2, position: at, mass: 300 * volume, mask: 1,
            material: { mode: "rigid", hertz: 12, dampingRatio: 0.15, restitution: 0.4 },
        });
        this.company.bodies.push({ ...body.id });
    }

    /** A hard ball that flies, and pushes what it hits. */
    do_shoot({ at, velocity, radius }) {
        const mover = this.world.addMover({ position: at, velocity });
        const collider = this.world.addCollider({ shape: "sphere", radius, mover });
        this.company.balls.push({ mover: { ...mover.id }, collider: { ...collider.id }, velocity: [...velocity], radius, left: BALL_FRAMES });
        if (this.company.balls.length > 12) this.dropBall(0);
    }

    dropBall(n) {
        const [ball] = this.company.balls.splice(n, 1);
        this.limber.raw.lm_collider_destroy(this.world.address, ball.collider);
        this.limber.raw.lm_mover_destroy(this.world.address, ball.mover);
    }

    /** Balls fall, and bounce off the floor. */
    moveBalls() {
        const { company, limber, world } = this;
        if (company.balls.length === 0) return;
        const g = world.gravity, h = 1 / 60;
        for (let n = company.balls.length - 1; n >= 0; n--) {
            const ball = company.balls[n], pose = { position: { x: 0, y: 0, z: 0 }, rotation: { x: 0, y: 0, z: 0, w: 1 } };
            if (--ball.left <= 0) {
                this.dropBall(n);
                continue;
            }
            limber.raw.lm_mover_get_pose(world.address, ball.mover, pose);
            ball.velocity = ball.velocity.map((v, k) => v + g[k] * h);
            if (pose.position.y < ball.radius && ball.velocity[1] < 0) ball.velocity = [0.8 * ball.velocity[0], -0.6 * ball.velocity[1], 0.8 * ball.velocity[2]];
            const [x, y, z] = ball.velocity;
            limber.raw.lm_mover_set_velocity(world.address, ball.mover, { x, y, z }, { x: 0, y: 0, z: 0 });
        }
    }
}
