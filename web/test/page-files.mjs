// What comes onto the page as a file, and what goes from it as one.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { advance, limber, open, root, shots, state, toast, toolHash, web } from "./harness.mjs";

const program = promisify(execFile);

/** Drops a file on the page as a hand does, and waits until it is a body. Returns the milliseconds that this took, and what is there now. */
const drop = (page, name, bytes) => page.evaluate(async ([name, bytes]) => {
    const app = window.limberPage, data = new DataTransfer(), start = performance.now();
    data.items.add(new File([Uint8Array.from(bytes)], name));
    window.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
    while (app.name !== name) await new Promise((done) => setTimeout(done, 5));
    const milliseconds = performance.now() - start;
    app.playing = false;
    app.session.seek(0); // frames may have gone by
    const { particles, skin_vertices: vertices, skin_triangles: triangles, octree_nodes: nodes, tets, spacing } = app.session.world.bodies()[0].info();
    return { milliseconds, particles, vertices, triangles, nodes, tets, spacing };
}, [name, [...bytes]]);

/** A knot as STL, PLY and GLB, written by three.js. */
async function knots() {
    const page = await open("/examples/hello.html", { wait: false, width: 320, height: 240 });
    const files = await page.evaluate(async () => {
        const THREE = await import("three");
        const { GLTFExporter } = await import("three/addons/exporters/GLTFExporter.js"), { PLYExporter } = await import("three/addons/exporters/PLYExporter.js");
        const { STLExporter } = await import("three/addons/exporters/STLExporter.js");
        const mesh = new THREE.Mesh(new THREE.TorusKnotGeometry(0.5, 0.18, 96, 16), new THREE.MeshStandardMaterial({ color: 0x3d7dca })), scene = new THREE.Scene();
        scene.add(mesh);
        scene.updateMatrixWorld(true);
        const bytes = (given) => Array.from(typeof given === "string" ? new TextEncoder().encode(given) : new Uint8Array(given.buffer ?? given));
        return {
            "knot.stl": bytes(new STLExporter().parse(scene, { binary: true })), "text.stl": bytes(new STLExporter().parse(scene)),
            "knot.ply": bytes(new PLYExporter().parse(scene, null, { binary: true })), "text.ply": bytes(new PLYExporter().parse(scene, null)),
            "knot.glb": bytes(await new GLTFExporter().parseAsync(scene, { binary: true })),
        };
    });
    await page.close();
    return files;
}

/** Khronos's validator finds nothing wrong with a GLB, and three.js shows every body where the engine had it, at the start and a second later. */
async function readsBack(page, model) {
    const { validateBytes } = createRequire(join(web, "package.json"))("gltf-validator");
    const { issues } = await validateBytes(Uint8Array.from(model));
    assert.deepEqual([issues.numErrors, issues.numWarnings], [0, 0], JSON.stringify(issues.messages.slice(0, 3)));
    const expected = await page.evaluate(() => {
        const app = window.limberPage, { session } = app, from = session.frame, list = () => session.world.bodies().map((body) => Array.from(body.skin().positions));
        const first = list();
        app.advance(30);
        const later = list();
        session.seek(from);
        return [first, later];
    });
    const reader = await open("/examples/hello.html", { wait: false, width: 320, height: 240 });
    const read = await reader.evaluate(async (bytes) => {
        const THREE = await import("three"), { GLTFLoader } = await import("three/addons/loaders/GLTFLoader.js");
        const { scene, animations } = await new GLTFLoader().parseAsync(Uint8Array.from(bytes).buffer, "");
        const mixer = new THREE.AnimationMixer(scene), action = mixer.clipAction(animations[0]);
        action.play();
        const boxes = (time) => {
            mixer.setTime(time);
            scene.updateMatrixWorld(true);
            const all = [];
            scene.traverse((mesh) => {
                if (!mesh.isMesh) return;
                const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity], at = new THREE.Vector3();
                for (let n = 0; n < mesh.geometry.getAttribute("position").count; n++) {
                    mesh.getVertexPosition(n, at).applyMatrix4(mesh.matrixWorld).toArray().forEach((v, k) => ((low[k] = Math.min(low[k], v)), (high[k] = Math.max(high[k], v))));
                }
                all.push([...low, ...high]);
            });
            return all;
        };
        return { duration: animations[0].duration, boxes: [boxes(0), boxes(0.5)] };
    }, [...model]);
    await reader.close();
    assert.ok(read.duration > 1.9 && read.duration < 2.1, `two seconds (${read.duration})`);
    for (const [n, bodies] of expected.entries()) {
        assert.equal(read.boxes[n].length, bodies.length, "a mesh for each body");
        bodies.forEach((positions, m) => {
            const box = [0, 1, 2].map((k) => positions.filter((_, i) => i % 3 === k)).flatMap((values) => [Math.min(...values), Math.max(...values)]);
            const want = [box[0], box[2], box[4], box[1], box[3], box[5]], size = Math.max(want[3] - want[0], want[4] - want[1], want[5] - want[2]);
            want.forEach((value, k) => assert.ok(Math.abs(value - read.boxes[n][m][k]) < 0.01 * size, `body ${m} after ${n / 2} s: ${read.boxes[n][m]} and ${want}`));
        });
    }
}

export const tests = {
    async dropFile() {
        const page = await open("/page/?engine=simd#scene=sticks&paused");
        const drop = (name, text) => page.evaluate(([name, text]) => window.limberPage.openFile(new File([text], name)), [name, text]);
        const mesh = await page.evaluate(() => {
            const { vertices, triangles } = window.limberPage.limber.shape("teddy", { detail: 10 });
            const lines = [];
            for (let n = 0; n < vertices.length; n += 3) lines.push(`v ${vertices[n]} ${vertices[n + 1]} ${vertices[n + 2]}`);
            for (let n = 0; n < triangles.length; n += 3) lines.push(`f ${triangles[n] + 1} ${triangles[n + 1] + 1} ${triangles[n + 2] + 1}`);
            return lines.join("\n");
        });
        await page.evaluate((text) => {
            const data = new DataTransfer();
            data.items.add(new File([text], "bear.obj"));
            window.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
        }, mesh);
        await page.waitForFunction(() => window.limberPage.name === "bear.obj");
        await page.evaluate(() => window.limberPage.advance(20));
        assert.ok((await state(page)).particles > 500);
        await page.evaluate(() => window.limberPage.openMesh("bear.obj", { ...window.limberPage.dropped.settings, sampling: "octree" }));
        assert.ok(await page.evaluate(() => window.limberPage.session.world.bodies()[0].info().octree_nodes > 0));
        await page.evaluate(() => (window.limberPage.playing = false));
        await page.screenshot({ path: join(shots, "mesh.png") });
        // What is broken is refused in a line, and the page goes on with what it had.
        const { hash } = await state(page);
        for (const [name, text, words] of [
            ["bad.obj", "v 0 0 0\nf 1 2 3\n", /bad\.obj/], ["bad.glb", "glTF????", /bad\.glb/], ["notes.txt", "hello", /expected an OBJ/],
            ["bad.json", '{"limber": 1, "bodies": [{"shpae": 1}]}', /shpae/], ["worse.json", "{", /worse\.json/],
        ]) {
            await drop(name, text);
            assert.match(await toast(page), words);
            assert.equal((await state(page)).hash, hash);
        }
        await page.close();
    },

    /** Every format, as other programs write it, with every sampling, and colliders; each within a second on a quiet machine, which is printed. */
    async ownMeshes() {
        const page = await open("/page/?engine=simd#scene=sticks&paused");
        for (const [name, bytes] of Object.entries(await knots())) {
            const made = await drop(page, name, bytes);
            console.log(`   ${name}: ${bytes.length} bytes are a soft body of ${made.particles} particles after ${made.milliseconds.toFixed(0)} ms`);
            assert.ok(made.particles > 300 && made.triangles === 96 * 16 * 2, `${name}: ${made.particles} particles, ${made.triangles} triangles`);
            const high = await page.evaluate(() => window.limberPage.session.world.bodies()[0].info().centre.y);
            await advance(page, 20);
            assert.ok((await page.evaluate(() => window.limberPage.session.world.bodies()[0].info().centre.y)) < high, `${name} falls`);
        }
        // From the settings: sampling, particles, material, colliders.
        const now = () => page.evaluate(() => ({ ...window.limberPage.session.world.bodies()[0].info(), colliders: window.limberPage.session.world.colliders().length }));
        const pick = async (label, value) => {
            const start = performance.now();
            await page.selectOption(`select[aria-label='${label}']`, value);
            await page.evaluate(() => (window.limberPage.playing = false));
            console.log(`   ${label} ${value}: ${(performance.now() - start).toFixed(0)} ms`);
            return now();
        };
        assert.ok((await pick("Sampling", "tets")).tets > 100, "tetrahedra");
        assert.ok((await pick("Sampling", "octree")).octree_nodes > 0, "an octree");
        const few = await pick("Sampling", "lattice"), many = await pick("Particles", "3000");
        assert.ok(few.spacing > many.spacing && many.particles > 2 * few.particles, `a lattice of ${few.particles}, then of ${many.particles} particles`);
        for (const [n, shape] of ["sphere", "box", "capsule"].entries()) {
            await page.click(`[aria-label='Add a collider'] button:text-is('+ ${shape}')`);
            assert.equal((await now()).colliders, 2 + n, `a ${shape} beside the floor`);
        }
        await page.getByRole("button", { name: "Jelly", exact: true }).click();
        await page.evaluate(() => (window.limberPage.playing = false));
        assert.equal(await page.evaluate(() => window.limberPage.session.world.bodies()[0].material.young === window.limberPage.limber.preset("jelly").material.young), true);
        await advance(page, 40);
        const lowest = await page.evaluate(() => window.limberPage.session.world.bodies()[0].skin().positions.reduce((least, v, n) => (n % 3 === 1 ? Math.min(least, v) : least), Infinity));
        const { centre } = await now();
        assert.ok(lowest > -0.03 && centre.y > 0.1, `it lies on them (${lowest}, ${centre.y})`);
        await page.screenshot({ path: join(shots, "mesh-colliders.png") });
        await page.close();
    },

    /** The scene file that the page gives, beside the mesh, is the same scene for the tool. */
    async sceneFile() {
        const page = await open("/page/?engine=simd#scene=sticks&paused");
        const folder = join(shots, "scene");
        mkdirSync(folder, { recursive: true });
        const bytes = (await knots())["knot.ply"];
        await drop(page, "knot.ply", bytes);
        await page.evaluate(() => (window.limberPage.addCollider("box"), (window.limberPage.playing = false)));
        await advance(page, 25);
        const text = await page.evaluate(async () => {
            let text = "";
            navigator.clipboard.writeText = async (given) => void (text = given);
            await window.limberPage.share("json");
            return text;
        });
        writeFileSync(join(folder, "knot.ply"), Uint8Array.from(bytes));
        writeFileSync(join(folder, "knot.json"), text);
        const { hash } = await state(page);
        assert.equal(await toolHash(join(folder, "knot.json"), 25), hash);
        // And dropped on the page it is the same again.
        await drop(page, "knot.json", Buffer.from(text));
        await advance(page, 25);
        assert.equal((await state(page)).hash, hash);
        await page.close();
    },

    async savedFiles() {
        const page = await open("/page/?engine=simd#scene=sticks&frame=3");
        const { hash } = await state(page);
        const saved = async (act) => {
            const [download] = await Promise.all([page.waitForEvent("download"), act()]);
            return [download.suggestedFilename(), readFileSync(await download.path())];
        };
        const share = (what) => () => page.evaluate((name) => window.limberPage.share(name), what);
        const [glb, model] = await saved(share("glb"));
        assert.equal(glb, "sticks.glb");
        writeFileSync(join(shots, glb), model);
        await readsBack(page, model);
        assert.equal((await state(page)).hash, hash, "the export leaves the scene where it was");
        const [name, snapshot] = await saved(share("snapshot"));
        assert.equal(name, "sticks-3.limber");
        assert.ok(snapshot.length > 1000);
        await page.evaluate(() => window.limberPage.share("film"));
        await page.evaluate(() => window.limberPage.toggle());
        await page.waitForFunction(() => window.limberPage.session.frame > 12);
        const [film, video] = await saved(share("film"));
        assert.equal(film, "sticks.webm");
        assert.deepEqual([...video.subarray(0, 4)], [0x1a, 0x45, 0xdf, 0xa3], "a Matroska file");
        writeFileSync(join(shots, film), video);
        const { stdout } = await program("ffprobe", ["-v", "error", "-count_frames", "-show_entries", "stream=codec_name,width,height,nb_read_frames", "-of", "json", join(shots, film)]);
        const [stream] = JSON.parse(stdout).streams;
        assert.ok(/^vp[89]$/.test(stream.codec_name) && Number(stream.nb_read_frames) >= 2, `ffprobe reads it: ${JSON.stringify(stream)}`);
        await page.close();
    },

    /** What "Copy as C" and "Save snapshot" give is compiled and run natively: it prints the hash that the page has found. */
    async copiedProgram() {
        const page = await open("/page/?engine=simd#scene=few-regions&frame=15");
        const { text, name, bytes } = await page.evaluate(async () => {
            const app = window.limberPage;
            let text = "";
            navigator.clipboard.writeText = async (given) => void (text = given);
            await app.share("c");
            return { text, name: app.snapshotName(), bytes: Array.from(app.session.world.save()) };
        });
        await page.close();
        const folder = join(shots, "program");
        mkdirSync(folder, { recursive: true });
        writeFileSync(join(folder, name), Uint8Array.from(bytes));
        writeFileSync(join(folder, "game.c"), text);
        const library = resolve(dirname(limber), "src/liblimber_internal.a");
        await program("cc", ["-O1", `-I${root}/include`, "game.c", library, "-lm", "-lpthread", "-ldl", "-o", "game"], { cwd: folder });
        const { stdout } = await program("./game", [], { cwd: folder });
        assert.equal(stdout.trim(), /hash is then ([0-9a-f]{16})/.exec(text)[1]);
    },
};
