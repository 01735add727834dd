// Hands, knife, brushes and settings on the page.
import assert from "node:assert/strict";
import { join } from "node:path";
import { advance, body, choose, middle, open, shots, state, toast } from "./harness.mjs";

const company = (page) => page.evaluate(() => {
    const { company, world } = window.limberPage.session;
    return { held: company.grab !== null, pins: company.pins.length, balls: company.balls.length, bodies: world.bodies().length };
});
/** A duck of a lattice that falls on a floor. */
const DUCK = {
    limber: 1, title: "a duck", frames: 300, substeps: 2, camera: { at: [1.2, 1, 2.2], look_at: [0, 0.35, 0], field_of_view: 36 },
    bodies: [{ name: "duck", shape: { name: "duck", detail: 16 }, lattice: { particles: 400, width: 2 }, material: { mode: "rigid", hertz: 10, damping_ratio: 0.3 }, mask: 1, at: [0, 0.5, 0] }],
    colliders: [{ shape: "plane" }],
};
const apart = (a, b) => Math.max(...a.map((value, n) => Math.abs(value - b[n])));

/** Chooses a tool and presses the mouse on the middle of the first body. */
async function use(page, tool) {
    await choose(page, tool);
    await page.mouse.click(...(await middle(page)));
}

/** Shares of the pull of regions, or of an octree the widths of regions, of the first body. */
const stiffness = (page) => page.evaluate(() => {
    const { world, limber } = window.limberPage.session, one = world.bodies()[0], { particles, regions, octree_nodes: nodes } = one.info(), values = new Float32Array(nodes > 0 ? particles : regions);
    limber.check(limber.raw[nodes > 0 ? "lm_body_get_widths" : "lm_body_get_region_stiffness"](world.address, one.id, values));
    return Array.from(values);
});

export const tests = {
    async grabAndThrow() {
        const page = await open("/page/?engine=simd#scene=squeeze-duck&paused");
        const [x, y] = await middle(page), before = await body(page);
        await page.mouse.move(x, y);
        await page.mouse.down();
        assert.ok((await company(page)).held, "it is held");
        for (let n = 1; n <= 4; n++) {
            await page.mouse.move(x, y - 30 * n);
            await advance(page, 6);
        }
        await page.mouse.up();
        const after = await body(page);
        assert.ok(after.y > before.y + 0.05, `it was pulled up (${before.y} to ${after.y})`);
        assert.ok(!(await company(page)).held, "and let go");
        assert.ok(after.velocity[1] > 0.1, `while it moved: it is thrown (${after.velocity[1]} m/s)`);
        await advance(page, 3);
        assert.ok((await body(page)).y > after.y, "and flies on");
        await page.close();
    },

    /** Each tool does what its name says, and what it did is repeated to the last bit. */
    async tools() {
        const page = await open("/page/?engine=simd#scene=sticks&paused");
        const again = async () => {
            await page.evaluate((text) => window.limberPage.open(text, { name: "a duck", play: false }), JSON.stringify(DUCK));
            await advance(page, 60);
        };
        await again();
        const whole = await body(page);
        await use(page, "squash");
        const flat = await body(page);
        assert.ok(flat.height < 0.02 * whole.height, `squashed: ${whole.height} m high, then ${flat.height}`);
        await advance(page, 40);
        assert.ok((await body(page)).height > 0.5 * whole.height, "and it recovers");
        await again(); // it has jumped out of the picture
        const right = await body(page);
        await use(page, "invert");
        const inverted = await body(page), sums = inverted.positions.map((v, n) => v + right.positions[n]);
        assert.ok(apart(sums, sums.map((_, n) => sums[n % 3])) < 1e-4, "turned inside out: every particle is as far on the other side of the same point");
        assert.ok(apart(inverted.positions, right.positions) > 0.3 * whole.height);
        await again();
        const even = await stiffness(page);
        await use(page, "softer");
        const soft = await stiffness(page);
        assert.ok(soft.some((v, n) => v < 0.99 * even[n]) && soft.every((v, n) => v <= even[n]), "softer under the brush, nowhere stiffer");
        assert.ok(soft.some((v, n) => v === even[n]), "and the same elsewhere");
        await use(page, "stiffer");
        const stiff = await stiffness(page);
        assert.ok(stiff.some((v, n) => v > 1.002 * soft[n]) && stiff.every((v, n) => v >= soft[n]), "stiffer under the brush, nowhere softer");

        await again();
        await use(page, "pin");
        assert.equal((await company(page)).pins, 1);
        const pinned = (await body(page)).positions, fall = (value) => page.evaluate((value) => window.limberPage.change({ kind: "gravity", axis: 1, value }), value);
        await fall(9.81);
        await advance(page, 20);
        const heights = (await body(page)).positions.map((v, n) => v - pinned[n]).filter((_, n) => n % 3 === 1);
        assert.ok(Math.min(...heights.map(Math.abs)) < 0.01 && Math.max(...heights) > 0.05, "a pin holds some of it, while all would fall upwards by half a metre");
        await fall(-9.81);
        await choose(page, "pin");
        const corner = await page.evaluate(() => [0.5 * window.limberPage.stage.width, 70]); // the background, below the top bar
        if (!(await page.evaluate(([x, y]) => window.limberPage.stage.pick(x, y) !== null, corner))) await page.mouse.click(...corner);
        assert.equal((await company(page)).pins, 0, "a tap on the background lets go of all pins");

        await again();
        await use(page, "drop");
        assert.equal((await company(page)).bodies, 2, "a soft ball");
        const height = () => page.evaluate(() => window.limberPage.session.world.bodies()[1].info().centre.y);
        const high = await height();
        await advance(page, 5);
        assert.ok((await height()) < high, "which falls");
        // Shot at and not shot at, from the same state.
        const { frame, hash } = await state(page);
        await advance(page, 45);
        const calm = await body(page);
        await page.evaluate((to) => (window.limberPage.session.seek(to), window.limberPage.refresh()), frame);
        assert.equal((await state(page)).hash, hash);
        await use(page, "shoot");
        assert.equal((await company(page)).balls, 1, "a hard ball");
        await advance(page, 45);
        const shot = await body(page);
        assert.ok(apart(shot.positions, calm.positions) > 0.02 * whole.height, "and it hits");
        // All of it again.
        const end = await state(page);
        await page.evaluate(() => window.limberPage.session.seek(61));
        assert.notEqual((await state(page)).hash, end.hash);
        await page.evaluate((to) => window.limberPage.session.seek(to), end.frame);
        assert.equal((await state(page)).hash, end.hash, "what was done is repeated to the last bit");
        await page.close();
    },

    /** Cells under the brush are divided, with Shift joined; and of an octree the brushes of stiffness set widths. */
    async detailBrush() {
        const page = await open("/page/?engine=simd#scene=liver-cut&paused");
        const count = async () => (await body(page)).particles;
        const first = await count();
        await use(page, "finer");
        const fine = await count();
        assert.ok(fine > first, `cells were divided (${first} to ${fine} particles)`);
        await advance(page, 3);
        await page.keyboard.down("Shift");
        await use(page, "finer");
        await page.keyboard.up("Shift");
        assert.ok((await count()) < fine, `and joined (${fine} to ${await count()})`);
        const wide = await stiffness(page);
        await use(page, "softer");
        const narrow = await stiffness(page);
        assert.ok(narrow.some((v, n) => v < wide[n]) && narrow.every((v, n) => v <= wide[n]), "softer: narrower regions");
        await use(page, "stiffer");
        assert.ok((await stiffness(page)).some((v, n) => v > narrow[n]), "stiffer: wider ones");
        await advance(page, 3);
        const { frame, hash } = await state(page);
        assert.equal(await page.evaluate((to) => (window.limberPage.session.seek(0), window.limberPage.session.seek(to), window.limberPage.session.world.hash()), frame), hash);
        await page.screenshot({ path: join(shots, "detail.png") });
        // A lattice has no cells to divide: a line says so.
        await page.evaluate(() => window.limberPage.openScene("squeeze-duck"));
        await page.evaluate(() => (window.limberPage.playing = false));
        await use(page, "finer");
        assert.match(await toast(page), /Only octrees/);
        await page.close();
    },

    /** A pen and a finger pull as the mouse does; a finger that begins beside the body turns the camera. */
    async penAndFinger() {
        const page = await open("/page/?engine=simd#scene=squeeze-duck&paused", { hasTouch: true });
        const devtools = await page.context().newCDPSession(page);
        const seen = () => page.evaluate(() => [...window.kinds]);
        await page.evaluate(() => {
            window.kinds = new Set();
            window.addEventListener("pointerdown", ({ pointerType }) => window.kinds.add(pointerType), { capture: true });
        });
        const pen = (type, x, y) => devtools.send("Input.dispatchMouseEvent", { type, x, y, button: "left", buttons: 1, clickCount: 1, force: 0.5, pointerType: "pen" });
        const finger = (type, x, y) => devtools.send("Input.dispatchTouchEvent", { type, touchPoints: type === "touchEnd" ? [] : [{ x, y }] });
        for (const [kind, [down, move, up], send] of [["pen", ["mousePressed", "mouseMoved", "mouseReleased"], pen], ["touch", ["touchStart", "touchMove", "touchEnd"], finger]]) {
            await page.evaluate(() => (window.limberPage.restart(), (window.limberPage.playing = false)));
            await choose(page, "grab");
            const [x, y] = await middle(page), before = await body(page);
            await send(down, x, y);
            assert.ok((await company(page)).held, `${kind}: it is held`);
            for (let n = 1; n <= 4; n++) {
                await send(move, x, y - 30 * n);
                await advance(page, 6);
            }
            await send(up, x, y - 120);
            const after = await body(page);
            assert.ok(after.y > before.y + 0.05 && !(await company(page)).held, `${kind}: pulled up (${before.y} to ${after.y}) and let go`);
        }
        assert.deepEqual(await seen(), ["pen", "touch"]);
        // A stroke of the finger cuts.
        await page.evaluate(() => (window.limberPage.openScene("liver-cut"), (window.limberPage.playing = false)));
        await choose(page, "cut");
        const [x, y] = await middle(page), { particles } = await state(page);
        await finger("touchStart", x - 10, y - 110);
        for (let n = 1; n <= 8; n++) await finger("touchMove", x - 10 + 2.5 * n, y - 110 + 32 * n);
        await finger("touchEnd");
        assert.match(await toast(page), /^Cut \d+ links/);
        assert.notEqual((await state(page)).particles, particles);
        // Beside the body the finger looks around.
        await choose(page, "grab");
        const eye = () => page.evaluate(() => window.limberPage.stage.camera.position.toArray());
        const was = await eye(), beside = await page.evaluate(() => {
            const { stage } = window.limberPage;
            for (let y = 80; y < 440; y += 20) for (let x = 80; x < 560; x += 20) if (document.elementFromPoint(x, y) === stage.canvas && !stage.pick(x, y)) return [x, y];
            return null;
        });
        await finger("touchStart", ...beside);
        for (let n = 1; n <= 5; n++) await finger("touchMove", beside[0] + 20 * n, beside[1]);
        await finger("touchEnd");
        await page.waitForFunction(([x]) => Math.abs(window.limberPage.stage.camera.position.x - x) > 1e-3, was, { timeout: 20000 });
        await page.close();
    },

    async tear() {
        const page = await open("/page/?engine=simd#scene=widths&paused");
        await choose(page, "tear"); // of the second bar: the first lies under the tools
        const [x, y] = await middle(page, 1), broken = () => page.evaluate(() => Math.max(...window.limberPage.session.world.bodies().map((body) => body.info().broken_links)));
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
        await choose(page, "cut");
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
            for (const field of await page.$$eval("[data-section=Material] input[data-field]:not(:disabled)", (all) => all.map((one) => one.dataset.field))) {
                if (!fields.includes(field)) continue;
                const before = (await material())[field];
                await move(`[data-section=Material] input[data-field=${field}]`, 0.71);
                const between = (await material())[field];
                await move(`[data-section=Material] input[data-field=${field}]`, 0.37);
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

    /** The sliders and switches of bodies, joints, colliders, breaking, examples, detail and sleep set what the engine then has. */
    async otherSettings() {
        const page = await open("/page/?engine=simd#scene=joints&paused", { width: 1280, height: 800 });
        const show = async (name) => {
            if (name) await page.evaluate((name) => (window.limberPage.openScene(name), (window.limberPage.playing = false)), name);
            await page.evaluate(() => document.querySelectorAll("#panel details").forEach((one) => (one.open = true)));
        };
        const move = (label, to) => page.evaluate(([label, to]) => {
            const input = document.querySelector(`#panel input[aria-label="${label}"]`);
            if (!input || input.disabled) throw new Error(`${label} is not there`);
            input.value = String(to);
            for (const kind of ["input", "change"]) input.dispatchEvent(new Event(kind, { bubbles: true }));
        }, [label, to]);
        const flip = (label) => page.evaluate((label) => document.querySelector(`#panel input[type=checkbox][aria-label="${label}"]`).click(), label);
        /** Moves sliders to two places each; `read` gives what the engine has, by their labels. */
        const sets = async (labels, read) => {
            for (const label of labels) {
                await move(label, 0.62);
                const one = (await page.evaluate(read))[label];
                await move(label, 0.31);
                const other = (await page.evaluate(read))[label];
                assert.ok(one !== undefined && one > other, `${label}: ${one}, then ${other}`);
            }
        };
        const joints = () => {
            const { info } = window.limberPage.session.joints()[0];
            return { "Joint stiffness": info.hertz, "Joint damping": info.damping_ratio, "Breaking force": info.max_force, "Breaking torque": info.max_torque, on: info.enabled };
        };
        await show();
        await sets(["Joint stiffness", "Joint damping", "Breaking force", "Breaking torque"], joints);
        await flip("Joints hold");
        assert.equal((await page.evaluate(joints)).on, false);
        const bodies = () => {
            const { limber, session: { world } } = window.limberPage, [body] = world.bodies(), penalty = new Float32Array(1), info = body.info();
            limber.raw.lm_body_get_penalty(world.address, body.id, penalty);
            const sleep = limber.raw.lm_world_get_sleep(world.address), ground = world.colliders()[0]?.definition;
            return {
                Density: info.density, Mass: info.mass, "Skin depth": info.contact_radius, Penalty: penalty[0], "May sleep": limber.raw.lm_body_may_sleep(world.address, body.id),
                "Ground friction": ground?.friction, "Ground bounce": ground?.restitution, "Sleep below": sleep.speed, "Sleep after": sleep.seconds, Speed: window.limberPage.speed,
            };
        };
        await show("plastic-block");
        await sets(["Density", "Mass", "Penalty", "Skin depth", "Ground friction", "Ground bounce", "Speed"], bodies);
        if (!(await page.evaluate(() => document.querySelector("#panel input[aria-label='Bodies sleep']").checked))) await flip("Bodies sleep");
        await show();
        await sets(["Sleep below", "Sleep after"], bodies);
        await flip("May sleep");
        assert.equal((await page.evaluate(bodies))["May sleep"], false);
        await page.selectOption("select[aria-label=Contacts]", "1");
        assert.equal(await page.evaluate(() => window.limberPage.limber.raw.lm_world_get_contact_method(window.limberPage.session.world.address)), 1);

        await show("widths");
        await flip("Breaks");
        await show();
        await sets(["Breaks at", "Variation", "Grains"], () => {
            const { limber, session: { world } } = window.limberPage, breaks = new Uint8Array(1), def = limber.raw.lm_fracture_def_default();
            limber.raw.lm_body_get_fracture(world.address, world.bodies()[0].id, breaks, def);
            return { "Breaks at": def.limit, Variation: def.variation, Grains: def.grain };
        });
        await show("teddy");
        await sets(["Example beta"], () => {
            const { limber, session: { world } } = window.limberPage, beta = new Float32Array(1);
            limber.raw.lm_body_get_example_beta(world.address, world.bodies()[0].id, beta);
            return { "Example beta": beta[0] };
        });
        await show("liver-cut");
        await flip("Divides by itself");
        await show();
        await sets(["Cells at touch", "Reach of touch", "Seen angle", "Finest", "Coarsest", "Most particles", "Cells a step", "Stays for"], () => {
            const { limber, session: { world } } = window.limberPage, def = limber.raw.lm_detail_default();
            limber.raw.lm_body_get_detail(world.address, world.bodies()[0].id, def, null);
            return { "Cells at touch": def.touch_size, "Reach of touch": def.touch_radius, "Seen angle": def.eye_angle, Finest: def.finest, Coarsest: def.coarsest, "Most particles": def.budget, "Cells a step": def.per_step, "Stays for": def.hold };
        });
        await sets(["Pull", "Pull damping", "Reach", "Strength"], () => {
            const { hand, limber, session } = window.limberPage, [body] = session.world.bodies(), def = limber.raw.lm_drag_def_default();
            session.do_grab({ body: body.id, particle: 0, target: [0, 0, 0], ...window.limberPage.tools.hold(1, false) });
            limber.raw.lm_drag_get_def(session.world.address, session.company.grab, def);
            session.do_release();
            return { Pull: def.hertz, "Pull damping": def.damping_ratio, Reach: def.radius, Strength: def.max_force };
        });
        await show("crates");
        await sets(["Mass of each", "Wind, right", "Wind, up", "Wind, front", "Wind's grip"], () => {
            const { session } = window.limberPage, { velocity: [right, up, front], strength } = session.wind();
            return { "Mass of each": session.rigidBodies()[0].def.mass, "Wind, right": right, "Wind, up": up, "Wind, front": front, "Wind's grip": strength };
        });
        await page.evaluate(() => window.limberPage.advance(3));
        const { frame, hash } = await state(page);
        assert.equal(await page.evaluate((to) => (window.limberPage.session.seek(0), window.limberPage.session.seek(to), window.limberPage.session.world.hash()), frame), hash, "repeated to the last bit");
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
};
