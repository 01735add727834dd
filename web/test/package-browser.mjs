// The package in Chromium: the examples, the helpers for three.js, and the lines of the README.
import assert from "node:assert/strict";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { address, browser, open, plain, root, shots, watch, web } from "./harness.mjs";

/** A page with these lines as a module, beside the examples: what it imports is found as there. */
async function withLines(lines) {
    const page = await browser.newPage({ viewport: { width: 480, height: 320 } }), map = /<script type="importmap">[^]*?<\/script>/.exec(readFileSync(join(web, "examples/hello.html"), "utf8"))[0];
    watch(page, "lines");
    const body = `<!doctype html><style>html, body { margin: 0; height: 100%; overflow: hidden }</style>${map}<body><script type="module">${lines}</script>`;
    writeFileSync(join(shots, "lines.html"), body);
    await page.goto(`${address(plain)}/screenshots/lines.html`);
    return page;
}

export const tests = {
    async examples() {
        for (const name of readdirSync(join(web, "examples")).filter((one) => one.endsWith(".html") && one !== "index.html")) {
            const page = await open(`/examples/${name}`, { wait: false, width: 640, height: 400 });
            await page.waitForFunction(() => window.ready > 3).catch(() => assert.fail(`${name} does not move`));
            // What is drawn can be read until the end of the frame that drew it.
            const picture = () => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => done(document.querySelector("canvas").toDataURL()))));
            const first = await picture(), from = await page.evaluate(() => window.ready);
            await page.waitForFunction((from) => window.ready > from + 5, from);
            assert.ok(first.length > 2000 && first !== (await picture()), `${name}: the picture changes`);
            await page.screenshot({ path: join(shots, `example-${name}.png`) });
            await page.close();
        }
    },

    /** The lines in README.md and docs/web.md show a soft duck that falls. */
    async readme() {
        const [lines, others] = ["README.md", "docs/web.md"].map((name) => /```js\n([^]*?)```/.exec(readFileSync(join(root, name), "utf8"))[1]);
        assert.equal(lines, others);
        assert.equal(lines.trim().split("\n").length, 6);
        const page = await withLines(`${lines}\nwindow.world = world;`);
        await page.waitForFunction(() => window.world?.time > 0.5);
        const { centre, particles } = await page.evaluate(() => window.world.bodies()[0].info());
        assert.ok(particles >= 300 && centre.y < 0.95, `it falls (${centre.y})`);
        await page.screenshot({ path: join(shots, "readme.png") });
        await page.close();
    },

    /** Everything in one file, from a URL, in a page and in a worker. */
    async inline() {
        const page = await withLines(`
            import { load } from "../package/dist/inline.js";
            const limber = await load(), scene = limber.scene("few-regions"), inWorker = new Worker(URL.createObjectURL(new Blob([\`
                import { load } from "${address(plain)}/package/dist/inline.js";
                const scene = (await load()).scene("few-regions");
                scene.makeWorld();
                for (let n = 0; n < 30; n++) scene.step();
                postMessage(scene.world.hash());
            \`], { type: "text/javascript" })), { type: "module" });
            inWorker.onmessage = ({ data }) => (window.there = data);
            scene.makeWorld();
            for (let n = 0; n < 30; n++) scene.step();
            window.here = scene.world.hash();`);
        await page.waitForFunction(() => window.here && window.there);
        const { here, there } = await page.evaluate(() => ({ here: window.here, there: window.there }));
        assert.equal(here, there);
        assert.match(here, /^[0-9a-f]{16}$/);
        await page.close();
    },

    /** What is picked, held, thrown and let go with Grabber; where ParticleCloud and SoftMesh show things; colliders that come and go. */
    async helpers() {
        const page = await open("/examples/hello.html", { wait: false, width: 480, height: 360 });
        const found = await page.evaluate(async () => {
            const THREE = await import("three"), { load } = await import("limber-physics"), { ColliderGroup, Grabber, ParticleCloud, SoftMesh, softMesh } = await import("limber-physics/three");
            const limber = await load({ variant: "simd" }), world = limber.world({ gravity: [0, 0, 0] });
            const camera = new THREE.PerspectiveCamera(40, 4 / 3, 0.1, 20), element = document.createElement("div"), controls = { enabled: true };
            element.style.cssText = "position:fixed;left:40px;top:20px;width:400px;height:300px;z-index:9";
            document.body.append(element);
            camera.position.set(0, 0.5, 4);
            camera.lookAt(0, 0.5, 0);
            camera.updateMatrixWorld();
            const soft = softMesh(world, new THREE.BoxGeometry(0.8, 0.8, 0.8, 6, 6, 6), { particles: 300, position: [0, 0.5, 0] }), { body } = soft, out = {};
            // Its surface is where the engine has it, with normals of length one that look out.
            const at = new THREE.Vector3(), normal = new THREE.Vector3(), { position, normal: normals } = soft.geometry.attributes;
            out.normals = Array.from({ length: position.count }, (_, n) => [normal.fromBufferAttribute(normals, n).length(), normal.dot(at.fromBufferAttribute(position, n).sub(new THREE.Vector3(0, 0.5, 0)))]).every(([length, outwards]) => Math.abs(length - 1) < 1e-3 && outwards > 0);
            out.uv = soft.geometry.getAttribute("uv") !== undefined;
            const octree = softMesh(world, new THREE.SphereGeometry(0.3, 24, 16), { sampling: "octree", spacing: 0.1, position: [3, 0, 0] });
            out.octree = octree.body.info().octree_nodes > 0;

            const grabber = new Grabber(world, camera, element, controls);
            const place = (x, y, z) => { const p = new THREE.Vector3(x, y, z).project(camera); return [40 + 200 * (p.x + 1), 20 + 150 * (1 - p.y)]; };
            const send = (type, [clientX, clientY]) => element.dispatchEvent(new PointerEvent(type, { clientX, clientY, button: 0, pointerId: 1, bubbles: true }));
            element.setPointerCapture = () => {}; // there is no such pointer
            const hit = grabber.pick(...place(0.1, 0.6, 0.4));
            out.picked = hit.body === body && Math.abs(hit.point[2] - 0.4) < 0.02 && Math.hypot(hit.point[0] - 0.1, hit.point[1] - 0.6) < 0.03;
            out.missed = grabber.pick(...place(-1.5, 1.5, 0)) === null;
            send("pointerdown", place(-1.5, 1.5, 0));
            out.orbit = controls.enabled;
            send("pointerdown", place(0, 0.5, 0.4));
            out.held = !controls.enabled;
            send("pointermove", place(0.5, 1, 0.4));
            for (let n = 0; n < 60; n++) world.step();
            const { centre } = body.info();
            out.pulled = centre.x > 0.2 && centre.y > 0.7;
            send("pointerup", place(0.5, 1, 0.4));
            out.released = controls.enabled;
            const before = body.info().centre.x;
            send("pointermove", place(-1, 0, 0.4));
            for (let n = 0; n < 20; n++) world.step();
            out.loose = body.info().centre.x > before - 0.05;
            grabber.free();
            send("pointerdown", place(body.info().centre.x, body.info().centre.y, 0.4));
            out.freed = controls.enabled;

            const cloud = new ParticleCloud(world, 0.05);
            cloud.update();
            const same = () => {
                const all = world.bodies().flatMap((one) => Array.from(one.positions())), shown = cloud.geometry.getAttribute("position").array;
                return all.length === shown.length && all.every((value, n) => value === shown[n]);
            };
            out.cloud = same() && cloud.geometry.getAttribute("color").count === cloud.geometry.getAttribute("position").count;
            world.addLattice(limber.shape("sphere", { size: 0.4 }), { particles: 100, position: [-1, 0, 0], velocity: [1, 0, 0] });
            for (let n = 0; n < 5; n++) world.step();
            cloud.update();
            out.more = same();
            const renderer = new THREE.WebGLRenderer({ preserveDrawingBuffer: true }), scene = new THREE.Scene(), seen = new Uint8Array(4 * 200 * 150);
            renderer.setSize(200, 150);
            scene.add(cloud);
            renderer.render(scene, camera);
            renderer.getContext().readPixels(0, 0, 200, 150, 6408, 5121, seen);
            out.dots = seen.filter((value, n) => n % 4 === 1 && value > 40).length;

            const group = new ColliderGroup(world), count = () => group.children.length;
            out.colliders = [count()];
            const mover = world.addMover({ position: [0, 2, 0], velocity: [1, 0, 0] }), ball = world.addCollider({ shape: "sphere", radius: 0.2, mover });
            world.addCollider({ shape: "plane" });
            for (let n = 0; n < 60; n++) world.step();
            group.update();
            out.colliders.push(count());
            out.rides = Math.abs(group.children[0].position.x - 1) < 1e-3 && Math.abs(group.children[0].position.y - 2) < 1e-6;
            ball.free();
            group.update();
            out.colliders.push(count());
            out.is = new SoftMesh(body).isMesh;
            return out;
        });
        assert.ok(found.dots > 300, `${found.dots} pixels of particles`);
        const { dots, ...rest } = found;
        assert.deepEqual(rest, {
            normals: true, uv: true, octree: true, picked: true, missed: true, orbit: true, held: true, pulled: true, released: true, loose: true, freed: true,
            cloud: true, more: true, colliders: [0, 2, 1], rides: true, is: true,
        });
        await page.close();
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
};
