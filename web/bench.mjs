// Figures: node web/bench.mjs [LIMBER]   (npm run bench, in web/)
//
//   steps      penguins and crowd, milliseconds of processor time a step, one thread: the module with SIMD in node against the tool with
//              SSE2, in turn; each the difference of two runs of different lengths, so that setting up does not count
//   page       pictures a second of the default scene at 960x540 in software GL, and the time from opening the page to a picture that moves
//   size       bytes of the module, gzipped
//
// Medians, with the lowest and the highest. Run as root it gives its own processes priority, as far as Linux's groups of sessions go: what else the
// machine does then counts less. The load is printed too.
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { childTime, launch } from "./chromium.mjs";
import { serve } from "./serve.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), ".."), web = join(root, "build/web");
const limber = process.argv[2] ?? join(root, "build/limber"), only = process.argv[3] ?? "";
const runs = [["penguins", 10, 60], ["crowd", 10, 110]], ROUNDS = 3, OPENINGS = 7;
const load = () => `load ${loadavg()[0].toFixed(0)}`;

let prioritised = false;

/** The median of some numbers, and between which they lie. */
function middle(numbers, digits) {
    const sorted = [...numbers].sort((a, b) => a - b), show = (value) => value.toFixed(digits);
    return `${show(sorted[sorted.length >> 1])} (${show(sorted[0])} to ${show(sorted[sorted.length - 1])})`;
}

/** The session that this process was started in outlives it: its priority is put back at the end. */
function restoreAtEnd() {
    const file = "/proc/self/autogroup";
    const before = /nice (-?\d+)/.exec(readFileSync(file, "utf8"))?.[1] ?? "0";
    process.on("exit", () => {
        try {
            writeFileSync(file, before);
        } catch { /* as when it was raised */ }
    });
}

/** Gives the sessions of this process and of all that it has started priority over others; false where that is not allowed. */
function prioritise() {
    const parents = new Map(), mine = (id) => (id === String(process.pid) ? true : parents.has(id) ? mine(parents.get(id)) : false);
    for (const id of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
        try {
            const text = readFileSync(`/proc/${id}/stat`, "utf8");
            parents.set(id, text.slice(text.lastIndexOf(")") + 2).split(" ")[1]);
        } catch { /* it has ended */ }
    }
    let allowed = false;
    if (!prioritised) {
        try {
            restoreAtEnd();
        } catch { /* not Linux */ }
        prioritised = true;
    }
    for (const id of parents.keys()) {
        if (!mine(id)) continue;
        try {
            writeFileSync(`/proc/${id}/autogroup`, "-15");
            allowed = true;
        } catch { /* not root, not Linux, or it has ended */ }
    }
    return allowed;
}

console.log(`${cpus()[0].model}, ${cpus().length} cores, node ${process.version}, ${new Date().toISOString().slice(0, 16).replace("T", " ")}`);

/** Processor time of a program, in seconds: what the shell that ran it says of its children. */
function userTime(...args) {
    const out = execFileSync("/bin/sh", ["-c", `${args.map((one) => `'${one}'`).join(" ")} >/dev/null; cut -d' ' -f16 /proc/$$/stat`], { encoding: "utf8" });
    return Number(out.trim()) / 100;
}

async function steps() {
    const prior = prioritise();
    const { load: loadEngine } = await import(join(web, "package/dist/index.js"));
    const engine = await loadEngine({ variant: "simd" });
    for (const [name, from, to] of runs) {
        const scripts = [], natives = [], ratios = [];
        for (let round = 0; round < ROUNDS; round++) {
            const scene = engine.scene(name);
            scene.makeWorld();
            for (let n = 0; n < from; n++) scene.step();
            const start = process.cpuUsage().user;
            for (let n = from; n < to; n++) scene.step();
            scripts.push((process.cpuUsage().user - start) / 1000 / (to - from));
            scene.free();
            const run = (frames) => userTime(limber, "run", name, "--frames", String(frames), "--isa", "sse2", "--threads", "1");
            const before = run(from);
            natives.push((1000 * (run(to) - before)) / (to - from));
            ratios.push(scripts[round] / natives[round]);
        }
        const lowest = Math.min(...scripts) / Math.min(...natives);
        console.log(`${name}: native SSE2 ${middle(natives, 1)} ms, web assembly ${middle(scripts, 1)} ms a step: ${middle(ratios, 2)} times, by the lowest of each ${lowest.toFixed(2)}; ${load()}, ${prior ? "with" : "without"} priority`);
    }
}

/** Opens the page in a browser of its own. */
async function opening(server) {
    const browser = await launch(web), prior = prioritise(), page = await browser.newPage({ viewport: { width: 960, height: 540 } });
    const start = performance.now(), before = childTime();
    await page.goto(`http://127.0.0.1:${server.address().port}/page/`);
    await page.waitForFunction(() => performance.getEntriesByName("limber-moves").length > 0, null, { polling: 20 });
    const seconds = (performance.now() - start) / 1000, used = (childTime() - before) / 1000;
    const marks = await page.evaluate(() => Object.fromEntries(performance.getEntriesByType("mark").filter(({ name }) => name.startsWith("limber-")).map(({ name, startTime }) => [name.slice(7), startTime / 1000])));
    await page.waitForTimeout(1500);
    const from = childTime();
    const { frames, fps } = await page.evaluate(() => new Promise((done) => {
        const begin = performance.now();
        let frames = 0;
        const count = (time) => (time - begin > 4000 ? done({ frames, fps: (1000 * frames) / (time - begin) }) : (frames++, requestAnimationFrame(count)));
        requestAnimationFrame(count);
    }));
    const each = (childTime() - from) / frames;
    const what = await page.evaluate(() => `${window.limberPage.name} at ${window.limberPage.stage.canvas.width}x${window.limberPage.stage.canvas.height}`);
    await browser.close();
    return { seconds, used, marks, fps, each, what, prior };
}

async function page() {
    const server = await serve(web, 0, false), all = [];
    for (let n = 0; n < OPENINGS; n++) all.push(await opening(server));
    server.close();
    const of = (name) => all.map((one) => one[name]), mark = (name) => `${name} ${middle(all.map(({ marks }) => marks[name]), 2)}`;
    console.log(`page: ${all[0].what} in software GL ${middle(of("fps"), 0)} pictures a second, ${middle(of("each"), 0)} ms of processor time each`);
    console.log(`      moves ${middle(of("seconds"), 2)} s after it was asked for, after ${middle(of("used"), 1)} s of processor time`);
    console.log(`      (in the page: ${["stage", "engine", "scene", "moves"].map(mark).join(", ")}); ${load()}, ${all[0].prior ? "with" : "without"} priority`);
}

if (!only || only === "page") await page();
const size = gzipSync(readFileSync(join(web, "package/dist/limber-simd.wasm")), { level: 9 }).length;
console.log(`module: ${size} bytes gzipped`);
if (!only || only === "steps") await steps();
