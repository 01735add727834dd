// What the tests in Chromium share: the browser without a display and with software GL, two servers, and short ways to look at the page.
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { launch } from "../chromium.mjs";
import { serve } from "../serve.mjs";

export const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
export const web = join(root, "build/web"), shots = join(web, "screenshots");
export const [length = "short", limber = join(root, "build/limber"), ...chosen] = process.argv.slice(2);
export const golden = readFileSync(join(root, "test/golden/hashes.txt"), "utf8").trim().split("\n").map((line) => line.split(" ")).filter(([name]) => name !== "busy");
mkdirSync(shots, { recursive: true });

export const server = await serve(web, 0, true), plain = await serve(web, 0, false);
export const address = (which = server) => `http://127.0.0.1:${which.address().port}`;
export const browser = await launch(web);
export const complaints = [];
const PATIENCE = Number(process.env.WEB_PATIENCE ?? 240000);

/** Notes what a page says on its console and what it asks of other servers: neither may happen. */
export function watch(page, path) {
    page.setDefaultTimeout(PATIENCE); // what is slow has not failed: the machine may have much else to do
    page.on("console", (line) => line.type() === "error" && complaints.push(`${path}: ${line.text()}`));
    page.on("pageerror", (error) => complaints.push(`${path}: ${error.message}`));
    page.on("request", (request) => {
        const { hostname, protocol } = new URL(request.url());
        if (protocol.startsWith("http") && !["127.0.0.1", "localhost"].includes(hostname)) complaints.push(`${path}: asked the network for ${request.url()}`);
    });
}

export async function open(path, { width = 960, height = 540, which = server, wait = true, from = browser, ...options } = {}) {
    const page = await from.newPage({ viewport: { width, height }, ...options });
    watch(page, path);
    await page.goto(path.startsWith("file:") ? path : address(which) + path);
    if (wait) await page.waitForFunction(() => window.limberPage?.session);
    return page;
}

export const state = (page) => page.evaluate(() => {
    const { session, name, playing } = window.limberPage;
    return { frame: session.frame, hash: session.world.hash(), name, playing, particles: session.world.stats().particles, same: document.getElementById("same").textContent };
});
export const toast = (page) => page.evaluate(() => document.getElementById("toast").textContent);
/** Opens a scene and steps it without drawing. */
export const run = (page, name, frames) => page.evaluate(([name, frames]) => {
    const app = window.limberPage;
    app.openScene(name);
    app.playing = false;
    for (let n = 0; n < frames; n++) app.session.step();
    app.refresh();
    return app.session.world.hash();
}, [name, frames]);
/** Where the middle of a body is on the page, by default of the first. */
export const middle = (page, which = 0) => page.evaluate((which) => {
    const app = window.limberPage, { centre } = app.session.world.bodies()[which].info();
    app.stage.render();
    return app.stage.project([centre.x, centre.y, centre.z]);
}, which);
export const choose = async (page, tool) => page.evaluate((name) => window.limberPage.chooseTool(name), tool);

export async function toolHash(name, frames) {
    const { stdout } = await promisify(execFile)(limber, ["run", name, "--frames", String(frames), "--json"], { maxBuffer: 1 << 24 });
    return /"hash": *"([0-9a-f]{16})"/.exec(stdout)[1];
}

/** The picture's pixels as they are drawn now: how many differ from the one in the corner, and a list of all, one byte of each. */
export const pixels = (page) => page.evaluate(() => {
    const { stage } = window.limberPage, gl = stage.renderer.getContext();
    stage.render(true);
    const { drawingBufferWidth: width, drawingBufferHeight: height } = gl, all = new Uint8Array(4 * width * height);
    gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, all);
    const greens = Array.from({ length: width * height }, (_, n) => all[4 * n + 1]), corner = greens[width * height - 1];
    return { greens, drawn: greens.filter((value) => Math.abs(value - corner) > 12).length };
});

/** The first body and what else a tool may have changed. */
export const body = (page) => page.evaluate(() => {
    const { session } = window.limberPage, one = session.world.bodies()[0], { centre, lower, upper, particles } = one.info();
    const velocities = one.velocities(), mean = [0, 1, 2].map((k) => velocities.reduce((sum, v, n) => (n % 3 === k ? sum + v : sum), 0) / particles);
    return { y: centre.y, height: upper.y - lower.y, particles, positions: Array.from(one.positions()), velocity: mean, hash: session.world.hash() };
});
export const advance = (page, frames) => page.evaluate((count) => window.limberPage.advance(count), frames);
