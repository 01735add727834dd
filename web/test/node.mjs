// The package in node: node web/test/node.mjs PACKAGE_DIR GOLDEN_FILE [short|long [NAME...]]
//
// Golden hashes of scenes with every variant, the classes, the raw functions, and what is refused.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
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

    async everyFunction() {
        const limber = await load();
        const header = readFileSync(join(folder, "../../../include/limber/limber.h"), "utf8").replace(/\/\*[^]*?\*\//g, "");
        const names = [...header.matchAll(/^LM_API [^;]*?\b(lm_\w+)\(/gm)].map(([, name]) => name);
        assert.ok(names.length > 170);
        assert.deepEqual(names.filter((name) => typeof limber.raw[name] !== "function"), []);
        const def = limber.raw.lm_body_def_default();
        assert.deepEqual([def.mass, def.clusters.counts, def.pose.rotation.w, def.octree.levels], [1, [1, 1, 1], 1, 3]);
    },

    async size() {
        const bytes = gzipSync(readFileSync(join(folder, "dist/limber-simd.wasm")), { level: 9 }).length;
        assert.ok(bytes <= 700000, `the module is ${bytes} bytes gzipped, of 700,000`);
        const examples = readdirSync(join(folder, "../examples")).filter((name) => /\.(html|mjs)$/.test(name) && name !== "index.html");
        assert.equal(examples.length, 10);
        for (const name of examples) assert.ok(readFileSync(join(folder, "../examples", name), "utf8").split("\n").length <= 80, `${name} is short`);
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
