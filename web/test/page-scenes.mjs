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
