// The page in Chromium, without a display and with software GL: node web/test/browser.mjs short|long [LIMBER] [NAME...]
//
// short: some scenes, hands, knife, time, files and links. long: everything, and every scene, which must have the tool's hash after 120 frames.
// Screenshots go to build/web/screenshots. WEB_SCENES=a,b restricts the scenes whose hashes are compared.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { childTime, launch } from "../chromium.mjs";
import { serve } from "../serve.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const web = join(root, "build/web"), shots = join(web, "screenshots");
const [length = "short", limber = join(root, "build/limber"), ...chosen] = process.argv.slice(2);
const golden = readFileSync(join(root, "test/golden/hashes.txt"), "utf8").trim().split("\n").map((line) => line.split(" ")).filter(([name]) => name !== "busy");
mkdirSync(shots, { recursive: true });

const server = await serve(web, 0, true), plain = await serve(web, 0, false);
const address = (which = server) => `http://127.0.0.1:${which.address().port}`;
const browser = await launch(web);
const complaints = [], PATIENCE = 240000;

async function open(path, { width = 960, height = 540, which = server, wait = true, ...options } = {}) {
    const page = await browser.newPage({ viewport: { width, height }, ...options });
    page.setDefaultTimeout(PATIENCE); // what is slow has not failed: the machine may have much else to do
    page.on("console", (line) => line.type() === "error" && complaints.push(`${path}: ${line.text()}`));
    page.on("pageerror", (error) => complaints.push(`${path}: ${error.message}`));
    page.on("request", (request) => {
        const { hostname, protocol } = new URL(request.url());
        if (protocol.startsWith("http") && hostname !== "127.0.0.1") complaints.push(`${path}: asked the network for ${request.url()}`);
    });
    await page.goto(path.startsWith("file:") ? path : address(which) + path);
    if (wait) await page.waitForFunction(() => window.limberPage?.session);
    return page;
}

const state = (page) => page.evaluate(() => {
    const { session, name, playing } = window.limberPage;
    return { frame: session.frame, hash: session.world.hash(), name, playing, particles: session.world.stats().particles, same: document.getElementById("same").textContent };
});
const toast = (page) => page.evaluate(() => document.getElementById("toast").textContent);
/** Opens a scene and steps it without drawing. */
const run = (page, name, frames) => page.evaluate(([name, frames]) => {
    const app = window.limberPage;
    app.openScene(name);
    app.playing = false;
    for (let n = 0; n < frames; n++) app.session.step();
    app.refresh();
    return app.session.world.hash();
}, [name, frames]);
/** Where the middle of the first body is on the page. */
const middle = (page) => page.evaluate(() => {
    const app = window.limberPage, { centre } = app.session.world.bodies()[0].info();
    app.stage.render();
    return app.stage.project([centre.x, centre.y, centre.z]);
});
const tap = async (page, tool) => page.evaluate((name) => window.limberPage.chooseTool(name), tool);

async function toolHash(name, frames) {
    const { stdout } = await promisify(execFile)(limber, ["run", name, "--frames", String(frames), "--json"], { maxBuffer: 1 << 24 });
    return /"hash": *"([0-9a-f]{16})"/.exec(stdout)[1];
}

const tests = {
    async movesByItself() {
        const page = await open("/page/?engine=simd#scene=sticks");
        await page.waitForFunction(() => window.limberPage.session.frame >= 10);
        assert.equal((await state(page)).name, "sticks");
        await page.screenshot({ path: join(shots, "sticks.png") });
        await page.close();
    },

    async hashes() {
        const page = await open("/page/?engine=simd#scene=twist&paused");
        const only = process.env.WEB_SCENES?.split(",");
        const names = only ? golden.filter(([name]) => only.includes(name)) : length === "long" ? golden : golden.filter(([name]) => ["twist", "modes", "few-regions"].includes(name));
        for (const [name, frames, hash] of names) {
            // The golden frame where it comes early; all others against the tool after 120 frames.
            const golden120 = Number(frames) <= 120 || length === "short";
            const count = golden120 ? Number(frames) : 120;
            const expected = golden120 ? hash : await toolHash(name, 120);
            const before = await run(page, name, 1), after = await run(page, name, count);
            assert.notEqual(before, after, `${name} moves`);
            assert.equal(after, expected, `${name} after ${count} frames`);
            if (golden120) assert.equal((await state(page)).same, "✓", `${name}: the page says that the hash is the tool's`);
            if (length === "long") await page.screenshot({ path: join(shots, `scene-${name}.png`) });
            if (length === "long") console.log(`   ${name} after ${count} frames: ${after}`);
        }
        await page.close();
    },

    async grabAndThrow() {
        const page = await open("/page/?engine=simd#scene=squeeze-duck&paused");
        const [x, y] = await middle(page), before = await page.evaluate(() => window.limberPage.session.world.bodies()[0].info().centre.y);
        await page.mouse.move(x, y);
        await page.mouse.down();
        assert.ok(await page.evaluate(() => window.limberPage.session.company.grab !== null), "it is held");
        await page.mouse.move(x, y - 120, { steps: 4 });
        await page.evaluate(() => window.limberPage.advance(30));
        await page.mouse.up();
        const after = await page.evaluate(() => window.limberPage.session.world.bodies()[0].info());
        assert.ok(after.centre.y > before + 0.05, `it was pulled up (${before} to ${after.centre.y})`);
        assert.ok(await page.evaluate(() => window.limberPage.session.company.grab === null), "and let go");
        for (const tool of ["squash", "invert", "pin", "softer", "stiffer", "drop", "shoot"]) {
            await tap(page, tool);
            const [px, py] = await middle(page);
            await page.mouse.click(px, py);
            await page.evaluate(() => window.limberPage.advance(3));
        }
        const { bodies, pins, balls } = await page.evaluate(() => ({ bodies: window.limberPage.session.world.bodies().length, pins: window.limberPage.session.company.pins.length, balls: window.limberPage.session.company.balls.length }));
        assert.deepEqual([bodies, pins, balls], [2, 1, 1], "a soft ball, a pin, a hard ball");
        await page.close();
    },

    async tear() {
        const page = await open("/page/?engine=simd#scene=widths&paused");
        await tap(page, "tear");
        const [x, y] = await middle(page), broken = () => page.evaluate(() => Math.max(...window.limberPage.session.world.bodies().map((body) => body.info().broken_links)));
        await page.mouse.move(x, y);
        await page.mouse.down();
        assert.equal(await broken(), 0, "what is only held stays whole");
        for (let n = 1; n <= 10; n++) {
            await page.mouse.move(x, y + 25 * n);
            await page.evaluate(() => window.limberPage.advance(4));
        }
        await page.mouse.up();
        await page.screenshot({ path: join(shots, "tear.png") });
        assert.ok((await broken()) > 0, "it has torn");
        await page.close();
    },

    async cutAndTravel() {
        const page = await open("/page/?engine=simd#scene=liver-cut&paused");
        await page.evaluate(() => window.limberPage.advance(5));
        const before = await state(page);
        await tap(page, "cut");
        const [x, y] = await middle(page);
        await page.mouse.move(x - 10, y - 110);
        await page.mouse.down();
        await page.mouse.move(x + 10, y + 150, { steps: 8 });
        await page.mouse.up();
        assert.match(await toast(page), /^Cut \d+ links/);
        assert.notEqual((await state(page)).particles, before.particles);
        await page.evaluate(() => window.limberPage.advance(30));
        const cut = await state(page);
        await page.screenshot({ path: join(shots, "cut.png") });
        // Back before the cut, and forth again: the same states.
        const there = await page.evaluate(() => {
            const { session } = window.limberPage;
            session.seek(3);
            const particles = session.world.stats().particles;
            session.seek(5);
            const atCut = session.world.hash();
            session.seek(35);
            return { particles, atCut, hash: session.world.hash() };
        });
        assert.equal(there.particles, before.particles);
        assert.equal(there.atCut, before.hash);
        assert.equal(there.hash, cut.hash, "the recorded time is the same the second time");
        await page.keyboard.press("ArrowLeft");
        assert.equal((await state(page)).frame, 34);
        await page.close();
    },

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

    async links() {
        const page = await open("/page/?engine=simd#scene=sticks&set=bodies[0].material.hertz=3&view=strain&frame=12");
        let now = await state(page);
        assert.deepEqual([now.name, now.frame, now.playing], ["sticks", 12, false]);
        assert.equal(await page.evaluate(() => window.limberPage.session.world.bodies()[0].material.hertz), 3);
        assert.equal(await page.evaluate(() => window.limberPage.stage.view), "strain");
        const json = await page.evaluate(async () => {
            let text = "";
            navigator.clipboard.writeText = async (given) => void (text = given);
            await window.limberPage.share("json");
            const first = text;
            await window.limberPage.share("c");
            return [first, text];
        });
        assert.equal(JSON.parse(json[0]).bodies[0].material.hertz, 3);
        assert.match(json[1], /lm_world_load/);
        writeFileSync(join(shots, "copied.c"), json[1]);
        await page.evaluate(() => (location.hash = "#scene=no-such-scene"));
        await page.waitForFunction(() => /no scene/.test(document.getElementById("toast").textContent));
        await page.evaluate(() => (location.hash = "#scene=sticks&set=bodies[0].material.hertz=-5"));
        await page.waitForFunction(() => /hertz/.test(document.getElementById("toast").textContent));
        assert.ok((await state(page)).particles > 0);
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
        assert.deepEqual([glb, model.subarray(0, 4).toString()], ["sticks.glb", "glTF"]);
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
        await page.close();
    },

    async galleryAndSettings() {
        const page = await open("/page/?engine=simd#scene=sticks&paused", { width: 1280, height: 800 });
        await page.click("#open-gallery");
        assert.equal(await page.locator(".card").count(), golden.length);
        await page.waitForFunction(() => [...document.querySelectorAll(".card img")].slice(0, 6).every((image) => image.naturalWidth > 0));
        await page.screenshot({ path: join(shots, "gallery.png") });
        await page.fill("#search", "twist");
        await page.click(".card[data-scene=twist]");
        assert.equal((await state(page)).name, "twist");
        for (const [view, words] of [["strain", /Strain0.*40 %/], ["regions", /each region/], ["speed", /Speed0.*m\/s/], ["particles", /Particles/], ["contacts", /press/], ["surface", null]]) {
            await page.evaluate((name) => window.limberPage.setView(name), view);
            await page.evaluate(() => window.limberPage.advance(2));
            const legend = page.locator("#legend");
            assert.equal(await legend.isVisible(), words !== null, `${view} has a legend`);
            if (words) assert.match(await legend.textContent(), words);
            await page.screenshot({ path: join(shots, `view-${view}.png`) });
        }
        await page.click("#theme");
        await page.screenshot({ path: join(shots, "settings.png") });
        await page.close();
    },

    /** Every number of lm_material has a slider that sets it; presets, bodies and the world. */
    async settings() {
        const page = await open("/page/?engine=simd#scene=plastic-block&paused", { width: 1280, height: 800 });
        const material = () => page.evaluate(() => window.limberPage.session.world.bodies()[0].material);
        const move = (selector, to) => page.evaluate(([selector, to]) => {
            const input = document.querySelector(selector);
            input.value = String(to);
            input.dispatchEvent(new Event("input", { bubbles: true }));
            input.dispatchEvent(new Event("change", { bubbles: true }));
        }, [selector, to]);
        const fields = Object.keys(await material()).filter((name) => !["mode", "stiffness", "damping_kind"].includes(name)), moved = new Set();
        await page.selectOption("select[aria-label='Regions follow']", "1");
        await page.selectOption("select[aria-label='Damping of']", "1");
        await move("input[data-field=yield]", 0.3);
        for (const way of ["hertz", "young", "sag", "alpha"]) {
            await page.selectOption("select[aria-label='Stiffness in']", way);
            for (const field of await page.$$eval("#panel input[data-field]:not(:disabled)", (all) => all.map((one) => one.dataset.field))) {
                if (!fields.includes(field)) continue;
                const before = (await material())[field];
                await move(`input[data-field=${field}]`, 0.71);
                const between = (await material())[field];
                await move(`input[data-field=${field}]`, 0.37);
                const after = (await material())[field];
                assert.ok(between !== after && (before !== between || before !== after), `the slider of ${field} sets it`);
                moved.add(field);
            }
        }
        assert.deepEqual(fields.filter((name) => !moved.has(name)), [], "every number of a material has a slider");
        const first = await page.evaluate(() => window.limberPage.session.first[0]);
        const presets = await page.$$eval("[aria-label=Presets] button", (all) => all.map((one) => one.textContent));
        assert.equal(presets.length, 1 + (await page.evaluate(() => window.limberPage.limber.presets().length)));
        await page.getByRole("button", { name: "Jelly", exact: true }).click();
        const { density } = await page.evaluate(() => window.limberPage.session.world.bodies()[0].info());
        const jelly = await page.evaluate(() => window.limberPage.limber.preset("jelly"));
        assert.deepEqual([(await material()).young, Math.round(density)], [jelly.material.young, Math.round(jelly.density)]);
        await page.getByRole("button", { name: "As it was" }).click();
        const again = await page.evaluate(() => ({ mass: window.limberPage.session.world.bodies()[0].info().mass, hertz: window.limberPage.session.world.bodies()[0].material.hertz }));
        assert.ok(Math.abs(again.mass - first.mass) < 1e-4 * first.mass && again.hertz === first.material.hertz, "as it was");
        await page.evaluate(() => document.querySelectorAll("#panel details").forEach((one) => (one.open = true)));
        const worldNow = () => page.evaluate(() => [...window.limberPage.session.world.gravity, window.limberPage.session.world.substeps]);
        for (const [label, index] of [["Gravity, right", 0], ["Gravity, up", 1], ["Gravity, front", 2], ["Substeps", 3]]) {
            const before = (await worldNow())[index];
            await move(`input[aria-label='${label}']`, 0.62);
            assert.notEqual((await worldNow())[index], before, label);
        }
        await page.evaluate(() => window.limberPage.advance(3));
        await page.screenshot({ path: join(shots, "settings-open.png") });
        // What was set is recorded with its frame, as everything else.
        const { hash } = await state(page);
        assert.equal(await page.evaluate(() => (window.limberPage.session.seek(0), window.limberPage.session.seek(3), window.limberPage.session.world.hash())), hash);
        await page.close();
    },

    /** Tools without a mouse, and names for all that can be pressed. */
    async keyboard() {
        const page = await open("/page/?engine=simd#scene=liver-cut&frame=2");
        const before = await state(page);
        await page.locator("#picture").focus();
        await page.keyboard.press("c");
        await page.keyboard.press("Enter");
        assert.match(await toast(page), /^Cut \d+ links/);
        assert.notEqual((await state(page)).particles, before.particles);
        await page.keyboard.press("v");
        assert.equal(await page.evaluate(() => window.limberPage.stage.view), "strain");
        const nameless = await page.$$eval("button, input, select", (all) => all.filter((one) => !(one.ariaLabel || one.title || one.textContent.trim() || one.labels?.length)).map((one) => one.outerHTML.slice(0, 80)));
        assert.deepEqual(nameless, []);
        await page.close();
    },

    async embedAndFolder() {
        const page = await open("/page/?embed&engine=simd#scene=sticks", { which: plain });
        assert.equal(await page.locator("#top").isVisible(), false);
        assert.equal(await page.locator("#transport").isVisible(), true);
        await page.close();
        const local = await open(`file://${web}/page/index.html#scene=sticks&frame=5`);
        assert.equal((await state(local)).frame, 5);
        await local.close();
    },

    async lostContextAndMemory() {
        const page = await open("/page/?engine=simd#scene=sticks");
        await page.evaluate(() => {
            const lose = window.limberPage.stage.renderer.getContext().getExtension("WEBGL_lose_context");
            lose.loseContext();
            setTimeout(() => lose.restoreContext(), 200);
        });
        await page.waitForFunction(() => /is back/.test(document.getElementById("toast").textContent));
        const { frame } = await state(page);
        await page.waitForFunction((from) => window.limberPage.session.frame > from + 2, frame);
        // Memory that runs out: a line, and the scene goes on.
        await page.evaluate(() => {
            const { memory } = window.limberPage.limber;
            window.blocks = [];
            for (let size = 1 << 28; size > 1 << 14; size >>= 1) {
                try {
                    for (;;) window.blocks.push(memory.allocate(size));
                } catch { /* that was all of this size */ }
            }
            window.limberPage.openScene("crowd");
        });
        assert.match(await toast(page), /memory/i);
        assert.equal((await state(page)).name, "sticks");
        await page.evaluate(() => {
            window.blocks.forEach((block) => window.limberPage.limber.memory.free(block));
            window.limberPage.advance(2);
        });
        await page.close();
    },

    async threads() {
        const page = await open("/page/#scene=twist&paused");
        const isolated = await page.evaluate(() => [crossOriginIsolated, window.limberPage.limber.variant, window.limberPage.limber.threads]);
        assert.deepEqual(isolated.slice(0, 2), [true, "threads"]);
        assert.ok(isolated[2] >= 2);
        const [, frames, hash] = golden.find(([name]) => name === "twist");
        assert.equal(await run(page, "twist", Number(frames)), hash);
        await page.close();
        const alone = await open("/page/#scene=twist&paused", { which: plain });
        assert.equal(await alone.evaluate(() => window.limberPage.limber.variant), "simd");
        await alone.close();
    },

    async examples() {
        const { readdirSync } = await import("node:fs");
        for (const name of readdirSync(join(web, "examples")).filter((one) => one.endsWith(".html") && one !== "index.html")) {
            const page = await open(`/examples/${name}`, { wait: false, width: 640, height: 400 });
            await page.waitForFunction(() => window.ready > 3).catch(() => assert.fail(`${name} does not move`));
            await page.screenshot({ path: join(shots, `example-${name}.png`) });
            await page.close();
        }
    },

    /** A lattice that the vertex shader deforms looks as the one that the engine deforms. */
    async gpuSkin() {
        const page = await open("/examples/hello.html", { wait: false, width: 320, height: 240 });
        const { onGpu, different, covered } = await page.evaluate(async () => {
            const THREE = await import("three"), { load } = await import("limber-physics"), { SoftMesh } = await import("limber-physics/three");
            const limber = await load({ variant: "simd" }), world = limber.world();
            world.addCollider({ shape: "plane" });
            const body = world.addLattice(limber.shape("duck", { detail: 16 }), { particles: 400, position: [0, 0.7, 0], rotation: [0, 0.38, 0, 0.92], material: { hertz: 3 } });
            for (let n = 0; n < 45; n++) world.step();
            const picture = (gpu) => {
                const renderer = new THREE.WebGLRenderer({ preserveDrawingBuffer: true });
                renderer.setSize(320, 240);
                const scene = new THREE.Scene(), camera = new THREE.PerspectiveCamera(40, 4 / 3, 0.1, 20), sun = new THREE.DirectionalLight(0xffffff, 2);
                camera.position.set(1, 0.8, 1.8);
                camera.lookAt(0, 0.35, 0);
                sun.position.set(1, 2, 1);
                const mesh = new SoftMesh(body, { gpu, colours: null, material: new THREE.MeshStandardMaterial({ color: 0xffffff }) });
                scene.add(sun, mesh);
                renderer.render(scene, camera);
                const gl = renderer.getContext(), pixels = new Uint8Array(4 * 320 * 240);
                gl.readPixels(0, 0, 320, 240, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
                return [pixels, mesh.onGpu];
            };
            const [host] = picture(false), [device, onGpu] = picture(true);
            let different = 0, covered = 0;
            for (let n = 0; n < host.length; n += 4) {
                covered += host[n] > 0;
                different += Math.abs(host[n] - device[n]) > 24;
            }
            return { onGpu, different, covered };
        });
        assert.ok(onGpu && covered > 3000, `it is in the picture (${covered})`);
        assert.ok(different < 0.02 * covered, `${different} of ${covered} pixels differ`);
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
        const library = resolve(dirname(limber), "src/liblimber_internal.a"), run = promisify(execFile);
        await run("cc", ["-O1", `-I${root}/include`, "game.c", library, "-lm", "-lpthread", "-ldl", "-o", "game"], { cwd: folder });
        const { stdout } = await run("./game", [], { cwd: folder });
        assert.equal(stdout.trim(), /hash is then ([0-9a-f]{16})/.exec(text)[1]);
    },

    async phone() {
        const page = await open("/page/?engine=simd#scene=squeeze-duck&frame=20", { width: 390, height: 844, hasTouch: true, isMobile: true, colorScheme: "dark" });
        await page.screenshot({ path: join(shots, "phone.png") });
        const [x, y] = await middle(page);
        await page.touchscreen.tap(x, y);
        await page.click("#open-panel");
        assert.equal(await page.locator("#panel").isVisible(), true);
        await page.screenshot({ path: join(shots, "phone-panel.png") });
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(wide <= 390, "nothing is wider than the screen");
        await page.close();
    },
};

const shortOnes = ["hashes", "grabAndThrow", "cutAndTravel", "dropFile", "links", "embedAndFolder"];
let failed = 0;
for (const [name, test] of Object.entries(tests)) {
    if (chosen.length > 0 ? !chosen.includes(name) : length === "short" && !shortOnes.includes(name)) continue;
    const start = performance.now();
    try {
        await test();
        assert.deepEqual(complaints, [], "nothing on the console");
        console.log(`ok ${name} (${((performance.now() - start) / 1000).toFixed(1)} s)`);
    } catch (error) {
        failed++;
        complaints.length = 0;
        console.log(`FAILED ${name}: ${error.stack}`);
    }
}
console.log(`Chromium took ${(childTime() / 1000).toFixed(0)} s of processor time`);
await browser.close();
server.close();
plain.close();
process.exit(failed > 0 ? 1 : 0);
