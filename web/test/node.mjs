// The package in node: node web/test/node.mjs PACKAGE_DIR GOLDEN_FILE [short|long [NAME...]]
//
// Golden hashes of scenes with every variant, the classes, the raw functions, and what is refused.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";

const [folder, goldenFile, length, ...chosen] = process.argv.slice(2);
const { load, LimberError, LM, Mesh, Recorder } = await import(pathToFileURL(join(folder, "dist/index.js")).href);
const golden = readFileSync(goldenFile, "utf8").trim().split("\n").map((line) => line.split(" ")).filter(([name]) => name !== "busy");
const short = ["few-regions", "modes", "twist", "sticks"];
const slow = ["statue", "statue-shell"]; // minutes each

function runGolden(limber, name, frames, hash) {
    const scene = limber.scene(name);
    scene.makeWorld();
    for (let n = 0; n < frames; n++) scene.step();
    assert.equal(scene.world.hash(), hash, `${name} after ${frames} frames (${limber.variant}, ${limber.threads} threads)`);
    scene.free();
}

const tests = {
    async goldenHashes() {
        for (const variant of length === "long" ? ["simd", "threads", "scalar"] : ["simd"]) {
            const limber = await load({ variant, threads: 2 });
            assert.equal(limber.variant, variant);
            assert.equal(limber.threads, variant === "threads" ? 2 : 1);
            for (const [name, frames, hash] of golden) {
                if (length === "long" ? !slow.includes(name) && (variant === "simd" || short.includes(name)) : short.includes(name)) {
                    runGolden(limber, name, Number(frames), hash);
                }
            }
            await limber.free();
        }
    },

    /** Every function that the public headers declare is there, but those of processes (mpi.h); a few are called, one of each header. */
    async everyFunction() {
        const limber = await load(), headers = join(folder, "../../../include/limber"), counts = {};
        for (const name of readdirSync(headers).filter((one) => one !== "mpi.h")) {
            const text = readFileSync(join(headers, name), "utf8").replace(/\/\*[^]*?\*\//g, "").replace(/^\s*#(.*\\\n)*.*$/gm, "").replace(/^static inline [^]*?^}/gm, "");
            const names = [...text.matchAll(/^(?!typedef)(?:LM_API )?[a-z][\w ]*?[ *]((?:lm|scene|shape)_\w+)\(/gm)].map(([, one]) => one).filter((one) => one !== "lm_scene_check"); // which takes a function
            assert.deepEqual(names.filter((one) => typeof limber.raw[one] !== "function"), [], name);
            counts[name] = names.length;
        }
        const least = { "limber.h": 200, "scene.h": 30, "shapes.h": 8, "mesh.h": 5, "export.h": 3, "tets.h": 4, "rig.h": 5, "pose.h": 3, "cache.h": 6, "seams.h": 2, "capture.h": 2 };
        for (const [name, count] of Object.entries(least)) assert.ok(counts[name] >= count, `${name}: ${counts[name]} functions were found, of ${count} at least`);
        const def = limber.raw.lm_body_def_default();
        assert.deepEqual([def.mass, def.clusters.counts, def.pose.rotation.w, def.octree.levels], [1, [1, 1, 1], 1, 3]);
        assert.equal(limber.raw.lm_tets_is_name("cube.msh"), true);
        assert.equal(limber.raw.lm_shape_name(0) !== null && limber.raw.lm_scene_builtin_name(0) !== null, true);
        // The parts of a structure with arrays of arrays, through a reader: a GLB without a skin has no rig.
        limber.files.write("/one.obj", new TextEncoder().encode("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"));
        const rig = { joint_count: 7 }, error = { text: "" };
        assert.equal(limber.raw.lm_rig_read("/one.obj", rig, error), true);
        assert.equal(rig.joint_count, 0);
        const pose = {};
        assert.equal(limber.raw.lm_pose_read("/one.obj", null, pose, error), true);
        assert.deepEqual([pose.vertex_count, [...limber.memory.floats(pose.positions, 9)]], [3, [0, 0, 0, 1, 0, 0, 0, 1, 0]]);
        limber.raw.lm_pose_free(pose);
        assert.equal(limber.raw.lm_cache_read("/none.mdd", null, limber.memory.allocate(4), error), false);
    },

    /** Arrays over the module's own memory: the same buffer, they show the next step without being asked again, and what is written is there. */
    async views() {
        const limber = await load({ variant: "simd" }), world = limber.world(), { buffer } = limber.memory.exports.memory;
        const body = world.addLattice(limber.shape("box", { detail: 4 }), { particles: 200, position: [0, 5, 0] });
        world.step();
        const { positions, velocities } = body.view(), skin = body.skin();
        assert.ok(limber.memory.exports.memory.buffer === buffer || buffer.byteLength === 0, "memory has grown or not");
        for (const [name, view] of Object.entries({ positions, velocities, "positions of the skin": skin.positions, normals: skin.normals, triangles: skin.triangles, sources: skin.sources })) {
            assert.equal(view.buffer, limber.memory.exports.memory.buffer, `${name} are the module's memory`);
        }
        const place = body.view().places[5], before = [...velocities.subarray(4 * place, 4 * place + 3)];
        world.step();
        const now = body.view();
        assert.deepEqual([now.velocities.buffer, now.velocities.byteOffset], [velocities.buffer, velocities.byteOffset], "the same place after a step");
        assert.ok(velocities[4 * place + 1] < before[1] - 0.1, "the old array shows the new velocity");
        skin.positions[0] = 77; // no copy is made on the way in either
        assert.equal(new Float32Array(limber.memory.exports.memory.buffer, skin.positions.byteOffset, 1)[0], 77);
    },

    /** Symbol.dispose frees: what was disposed of is refused, and the memory is there again for the next. */
    async dispose() {
        const limber = await load(), mesh = limber.shape("box", { detail: 4 });
        const used = () => limber.memory.bytes.length;
        const round = () => {
            const world = limber.world(), body = world.addLattice(mesh, { particles: 2000 }), collider = world.addCollider({ shape: "plane" }), pin = world.addPin(body, [0, 1]);
            const drag = world.addDrag(body, { particle: 3, target: [0, 1, 0], radius: 0.2 }), mover = world.addMover({}), field = world.addField({ kind: "wind", vector: [1, 0, 0], strength: 1 });
            world.step();
            for (const one of [drag, pin, field, collider, mover, body]) one[Symbol.dispose]();
            assert.ok(!body.isValid && world.bodies().length === 0 && world.colliders().length === 0);
            world.step();
            world[Symbol.dispose]();
            assert.throws(() => world.step(), /was freed/);
            const scene = limber.scene("sticks");
            scene.makeWorld();
            scene[Symbol.dispose]();
            assert.throws(() => scene.step());
        };
        for (let n = 0; n < 5; n++) round();
        const after = used();
        for (let n = 0; n < 40; n++) round();
        assert.equal(used(), after, "nothing is left behind");
        await limber[Symbol.asyncDispose]();
    },

    /** Where SIMD is missing, as on a processor without SSE 4.1, the scalar module is chosen, and gives the same. */
    async scalarByItself() {
        const [name, frames, hash] = golden.find(([one]) => one === "twist");
        const lines = `const { load, hasSimd } = await import(${JSON.stringify(pathToFileURL(join(folder, "dist/index.js")).href)});
            const limber = await load(), scene = limber.scene("${name}");
            scene.makeWorld();
            for (let n = 0; n < ${frames}; n++) scene.step();
            console.log(hasSimd(), limber.variant, scene.world.hash());`;
        const run = (...flags) => execFileSync(process.execPath, [...flags, "--input-type=module", "-e", lines], { encoding: "utf8" }).trim();
        assert.equal(run(), `true simd ${hash}`);
        if (existsSync(join(folder, "dist/limber-scalar.wasm"))) assert.equal(run("--no-enable-sse4-1"), `false scalar ${hash}`);
    },

    async size() {
        const bytes = gzipSync(readFileSync(join(folder, "dist/limber-simd.wasm")), { level: 9 }).length;
        assert.ok(bytes <= 700000, `the module is ${bytes} bytes gzipped, of 700,000`);
        const examples = readdirSync(join(folder, "../examples")).filter((name) => /\.(html|mjs)$/.test(name) && name !== "index.html");
        assert.equal(examples.length, 10);
        for (const name of examples) assert.ok(readFileSync(join(folder, "../examples", name), "utf8").trimEnd().split("\n").length < 80, `${name} is short`);
    },

    async materials() {
        const limber = await load(), world = limber.world(), mesh = limber.shape("box", { size: 0.4, detail: 4 });
        const density = (body) => Math.round(body.info().density);
        const jelly = world.addLattice(mesh, { particles: 200, material: { preset: "jelly" } }), preset = limber.preset("jelly");
        assert.deepEqual([jelly.material.young, density(jelly)], [preset.material.young, Math.round(preset.density)]);
        const own = world.addLattice(mesh, { particles: 200, density: 300, material: { young: 5e4, poisson: 0.25, dampingEvery: 2 } });
        assert.deepEqual([own.material.stiffness, own.material.young, own.material.poisson, own.material.damping_every, density(own)], [LM.LM_STIFFNESS_YOUNG, 5e4, 0.25, 2, 300]);
        own.setMaterial({ sag: 0.125 });
        assert.deepEqual([own.material.stiffness, own.material.sag, own.material.poisson], [LM.LM_STIFFNESS_SAG, 0.125, 0.25]);
        own.setMaterial({ preset: "rubber", friction: 0.75 });
        assert.deepEqual([own.material.young, own.material.friction], [limber.preset("rubber").material.young, 0.75]);
        assert.throws(() => own.setMaterial({ preset: "granite" }), /granite/);
        assert.ok(limber.presets().includes("clay"));
        world.step();
    },

    async inline() {
        const inline = await import(pathToFileURL(join(folder, "dist/inline.js")).href);
        const limber = await inline.load();
        const [name, frames, hash] = golden.find(([one]) => one === "twist");
        runGolden(limber, name, Number(frames), hash);
    },

    async classes() {
        const limber = await load();
        assert.equal(limber.version, "0.1.0");
        assert.ok(limber.sceneNames().includes("penguins") && limber.shapeNames().includes("duck"));
        const world = limber.world({ substeps: 2 });
        world.addCollider({ shape: "plane", friction: 0.8 });
        const mesh = limber.shape("duck", { size: 0.5 });
        const duck = world.addLattice(mesh, { particles: 300, width: 2, position: [0, 1, 0], material: { hertz: 10, mode: "rigid" } });
        const ball = world.addBody(limber.shape("sphere", { detail: 5 }).vertices, { position: [2, 1, 0], mass: 2 });
        assert.equal(duck.material.mode, LM.LM_MODE_RIGID);
        assert.equal(duck.material.hertz, 10);
        assert.equal(ball.info().mass, 2);
        world.contactEvents = true;
        let began = 0;
        for (let n = 0; n < 90; n++) {
            world.step();
            began += world.events().filter((event) => event.phase === "began").length;
        }
        assert.ok(began >= 2, "both met the floor");
        assert.ok(Math.abs(world.time - 1.5) < 1e-9);
        const { centre, lower } = duck.info();
        assert.ok(lower.y > -0.2 && centre.y < 0.6, `the duck lies on the floor (${centre.y})`);

        const skin = duck.skin();
        assert.equal(skin.positions.length, mesh.vertices.length);
        assert.equal(skin.positions.buffer, duck.skin().positions.buffer, "a view, not a copy");
        const hit = world.pick([centre.x, 5, centre.z], [0, -1, 0]);
        assert.equal(hit.body, duck);
        assert.ok(Math.abs(hit.distance + hit.point[1] - 5) < 1e-4);
        const { positions, places, origin } = duck.view();
        const copies = duck.positions();
        assert.ok(Math.abs(positions[4 * places[7]] + origin[0] - copies[21]) < 1e-5);
        assert.ok(duck.values("strain").length === mesh.vertexCount && duck.values("region").every((value) => value >= -1));

        const saved = world.save(), state = world.saveState(), hash = world.hash();
        world.step();
        const next = world.hash();
        assert.notEqual(next, hash);
        world.loadState(state);
        assert.equal(world.hash(), hash);
        world.step();
        assert.equal(world.hash(), next);
        world.load(saved);
        world.step();
        assert.equal(world.hash(), next);

        const drag = world.addDrag(duck, { particle: 0, target: [0, 3, 0], radius: 0.2, hertz: 4 });
        for (let n = 0; n < 60; n++) world.step();
        assert.ok(duck.info().centre.y > 1, "it was pulled up");
        drag.free();
        const clone = duck.clone();
        assert.equal(world.bodies().length, 3);
        clone.free();
        assert.equal(world.bodies().length, 2);
        world.free();
        assert.throws(() => world.step(), /was freed/);
        const again = limber.world();
        again.step();
    },

    async cutsAndFiles() {
        const limber = await load();
        const world = limber.world();
        const body = world.addOctree(limber.shape("box", { detail: 6 }), { spacing: 0.1, position: [0, 2, 0] });
        const cut = body.cut(Float64Array.of(0.03, 0, -5, 0.03, 0, 5, 0.03, 9, 0), Uint32Array.of(0, 1, 2));
        assert.ok(cut.links > 0);
        assert.equal(cut.parts, 2);
        assert.equal(new Set(body.values("piece")).size, 2);
        assert.ok(body.skin().sources.includes(0xffffffff), "it has inner faces");
        const lattice = world.addLattice(limber.shape("box", { detail: 6 }), { particles: 300, position: [5, 2, 0] });
        assert.equal(lattice.cut(Float64Array.of(5.03, 0, -5, 5.03, 0, 5, 5.03, 9, 0), Uint32Array.of(0, 1, 2), 7).parts, 2);
        const { uvs, materials } = lattice.skinCuts();
        assert.deepEqual([...new Set(materials)].sort(), [0, 7], "faces of the cut have the blade's material");
        const across = [...uvs].filter((_, n) => materials[n >> 1] === 7);
        assert.ok(Math.max(...across) - Math.min(...across) > 0.9, "and metres on the blade");

        limber.files.write("/cube.obj", new TextEncoder().encode("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"));
        const scene = limber.scene("/cube.obj");
        scene.makeWorld();
        const recorder = new Recorder(scene.world, scene.bodies().map(({ body, name }) => ({ body, name })), { file: "/out.glb", frames: 5, rate: 60 });
        for (let n = 0; n < 5; n++) {
            recorder.add();
            scene.step();
        }
        const glb = recorder.finish();
        assert.equal(new TextDecoder().decode(glb.slice(0, 4)), "glTF");
        const back = limber.readMesh("out.glb", glb);
        assert.equal(back.triangleCount, 4);
        scene.free();
    },

    async refused() {
        const limber = await load();
        assert.throws(() => limber.scene("no-such-scene"), (e) => e instanceof LimberError && /no-such-scene/.test(e.message));
        assert.throws(() => limber.scene('{"limber": 1, "bodies": [{"shpae": {}}]}', { name: "mine" }), /mine:1:.*shpae/);
        assert.throws(() => limber.scene("modes", { sets: ["bodies[0].material.hertz=-1"] }), /hertz/);
        assert.throws(() => limber.readMesh("bad.obj", "f 1 2 3\n"), /bad\.obj/);
        assert.throws(() => limber.readMesh("bad.glb", new Uint8Array(20)), LimberError);
        const world = limber.world();
        assert.throws(() => world.step(-1), (e) => e instanceof LimberError && e.result === LM.LM_ERROR_ARGUMENT && /step/.test(e.message));
        assert.throws(() => world.addBody(Float32Array.of(NaN, 0, 0)), LimberError);
        assert.throws(() => world.load(new Uint8Array(64)), (e) => e.result === LM.LM_ERROR_FORMAT);
        const blocks = []; // nearly all memory
        for (let size = 1 << 28; size > 1 << 16; size >>= 1) {
            try {
                for (;;) blocks.push(limber.memory.allocate(size));
            } catch (e) {
                assert.ok(e instanceof RangeError && /out of memory/.test(e.message));
            }
        }
        assert.throws(() => world.addLattice(limber.shape("box"), { particles: 100000 }), (e) => e instanceof RangeError || e.result === LM.LM_ERROR_MEMORY);
        blocks.forEach((block) => limber.memory.free(block));
        world.addBody(Float32Array.of(0, 0, 0, 1, 0, 0));
        world.step(); // and it goes on
        assert.throws(() => new Mesh(new Float32Array(0), new Uint32Array(0)) && world.addLattice(new Mesh(new Float32Array(0), new Uint32Array(0))));
    },
};

for (const [name, test] of Object.entries(tests)) {
    if (chosen.length > 0 && !chosen.includes(name)) continue;
    const start = performance.now();
    await test();
    console.log(`ok ${name} (${((performance.now() - start) / 1000).toFixed(1)} s)`);
}
