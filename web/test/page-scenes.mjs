// Scenes, links, the gallery, and what the page does in odd places: embedded, from a folder, on a phone, without memory or graphics.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { launch } from "../chromium.mjs";
import { serve } from "../serve.mjs";
import { address, body, browser, choose, golden, length, middle, open, pixels, plain, run, shots, state, toast, toolHash, watch, web } from "./harness.mjs";

export const tests = {
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

    async galleryAndSettings() {
        const page = await open("/page/?engine=simd#scene=sticks&paused", { width: 1280, height: 800 });
        await page.click("#open-gallery");
        assert.equal(await page.locator(".card").count(), golden.length);
        // Pictures below the edge are fetched when they are scrolled to.
        await page.evaluate(() => document.querySelectorAll(".card img").forEach((image) => (image.loading = "eager")));
        await page.waitForFunction(() => [...document.querySelectorAll(".card img")].every((image) => image.complete));
        assert.deepEqual(await page.$$eval(".card img", (all) => all.filter((image) => image.naturalWidth !== 320).map((image) => image.src)), [], "every scene has its picture");
        const papers = await page.$$eval("#cards h3", (all) => all.map((one) => Number(/\((\d{4})\)/.exec(one.textContent)?.[1] ?? 9999)));
        assert.deepEqual(papers, [...papers].sort((a, b) => a - b), "sorted by paper");
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

    async embedAndFolder() {
        // In an iframe of a page of another origin.
        const page = await browser.newPage({ viewport: { width: 700, height: 500 } });
        watch(page, "iframe");
        writeFileSync(join(shots, "host.html"), `<!doctype html><h1>Somebody's page</h1><iframe src="${address(plain)}/page/?embed&engine=simd#scene=squeeze-duck&paused" width="640" height="360" style="border:0"></iframe>`);
        await page.goto(`${address(plain).replace("127.0.0.1", "localhost")}/screenshots/host.html`);
        const handle = await page.waitForSelector("iframe"), frame = await handle.contentFrame();
        await frame.waitForFunction(() => window.limberPage?.session);
        assert.notEqual(await frame.evaluate(() => window.origin), await page.evaluate(() => window.origin), "of another origin");
        assert.equal(await frame.locator("#top").isVisible(), false);
        assert.equal(await frame.locator("#transport").isVisible(), true);
        const [x, y] = await middle(frame), { x: left, y: top } = await handle.boundingBox(), before = await body(frame);
        await page.mouse.move(left + x, top + y);
        await page.mouse.down();
        await page.mouse.move(left + x, top + y - 80, { steps: 4 });
        await frame.evaluate(() => window.limberPage.advance(20));
        await page.mouse.up();
        assert.ok((await body(frame)).y > before.y + 0.03, "it can be pulled there");
        await frame.click("#play");
        const { frame: from } = await state(frame);
        await frame.waitForFunction((from) => window.limberPage.session.frame > from + 3, from);
        await page.screenshot({ path: join(shots, "iframe.png") });
        await page.close();
        // From any folder of a server, and from a folder without one.
        const above = await serve(dirname(web), 0, false);
        const deep = await open(`/${basename(web)}/page/?engine=simd#scene=sticks&frame=5`, { which: above });
        const { hash } = await state(deep);
        await deep.close();
        above.close();
        const local = await open(`file://${web}/page/index.html#scene=sticks&frame=5`);
        assert.deepEqual([(await state(local)).frame, (await state(local)).hash], [5, hash]);
        await local.close();
    },

    /** The picture is the same before and after the graphics card was lost, with all that was made on it: shadows, environment, colours. */
    async lostContext() {
        for (const quality of ["low", "high"]) {
            const page = await open(`/page/?engine=simd&quality=${quality}#scene=tower&frame=10`, { width: 400, height: 300 });
            const before = await pixels(page);
            assert.ok(before.drawn > 2000, `the scene is in the picture (${before.drawn} pixels)`);
            await page.evaluate(() => (window.lose = window.limberPage.stage.renderer.getContext().getExtension("WEBGL_lose_context")).loseContext());
            await page.waitForFunction(() => /was lost/.test(document.getElementById("toast").textContent));
            await page.evaluate(() => window.lose.restoreContext());
            await page.waitForFunction(() => /is back/.test(document.getElementById("toast").textContent));
            const after = await pixels(page), different = after.greens.filter((value, n) => Math.abs(value - before.greens[n]) > 8).length;
            assert.ok(different < 0.01 * before.greens.length, `${quality}: ${different} of ${before.greens.length} pixels are others than before`);
            const { frame } = await state(page);
            await page.click("#play");
            await page.waitForFunction((from) => window.limberPage.session.frame > from + 2, frame);
            await page.close();
        }
    },

    /** Memory that runs out: a line, and the scene goes on. */
    async memoryExhausted() {
        const page = await open("/page/?engine=simd#scene=sticks");
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
        const { frame } = await state(page);
        await page.waitForFunction((from) => window.limberPage.session.frame > from + 2, frame);
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

    /** Where a browser has no SIMD the page takes the scalar module by itself, and nothing else is fetched. */
    async withoutSimd() {
        const old = await launch(web, ["--js-flags=--no-enable-sse4-1"]);
        const fetched = [], page = await old.newPage({ viewport: { width: 640, height: 360 } });
        watch(page, "without SIMD");
        page.on("request", (request) => /\.wasm$/.test(request.url()) && fetched.push(basename(request.url())));
        for (const which of [plain, undefined]) {
            await page.goto(`${address(which)}/page/#scene=twist&paused`);
            await page.waitForFunction(() => window.limberPage?.session);
            assert.equal(await page.evaluate(() => window.limberPage.limber.variant), "scalar");
        }
        assert.deepEqual([...new Set(fetched)], ["limber-scalar.wasm"]);
        const [, frames, hash] = golden.find(([name]) => name === "twist");
        assert.equal(await run(page, "twist", Number(frames)), hash);
        await old.close();
    },

    /** Dark and light, wide and narrow, plain and with environment light: pictures to look at; and what can be told of them without looking. */
    async looks() {
        for (const [scene, frame] of [["squeeze-duck", 12], ["penguins", 60], ["tower", 40], ["liver-cut", 40], ["terrain", 60], ["mode-gallery", 20], ["fracture", 60]]) {
            for (const theme of ["dark", "light"]) {
                const high = theme === "light" && ["squeeze-duck", "tower", "terrain"].includes(scene);
                const page = await open(`/page/?engine=simd&theme=${theme}${high ? "&quality=high" : ""}#scene=${scene}&frame=${frame}`, { width: 960, height: 600 });
                const { drawn, greens } = await pixels(page);
                assert.ok(drawn > 0.02 * greens.length, `${scene}: ${drawn} pixels differ from the corner`);
                assert.equal(await page.evaluate(() => window.limberPage.stage.quality), high ? "high" : "low");
                if (high) assert.ok(await page.evaluate(() => window.limberPage.stage.scene.environment !== null && window.limberPage.stage.crowd.material.isMeshPhysicalMaterial), "environment light on a physical material");
                await page.screenshot({ path: join(shots, `look-${scene}-${theme}${high ? "-high" : ""}.png`) });
                await page.close();
            }
        }
    },

    async phone() {
        const page = await open("/page/?engine=simd#scene=squeeze-duck&frame=20", { width: 390, height: 844, hasTouch: true, isMobile: true, colorScheme: "dark" });
        await page.screenshot({ path: join(shots, "phone.png") });
        await choose(page, "drop");
        const [x, y] = await middle(page), bodies = () => page.evaluate(() => window.limberPage.session.world.bodies().length);
        await page.touchscreen.tap(x, y);
        assert.equal(await bodies(), 2, "a tap of the finger drops a ball");
        await page.click("#open-panel");
        assert.equal(await page.locator("#panel").isVisible(), true);
        await page.screenshot({ path: join(shots, "phone-panel.png") });
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(wide <= 390, "nothing is wider than the screen");
        await page.close();
    },
};
