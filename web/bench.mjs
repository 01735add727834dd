// Figures: node web/bench.mjs [LIMBER]   (npm run bench, in web/)
//
//   steps      penguins and crowd, milliseconds of processor time a step, one thread: the module with SIMD in node against the tool with
//              SSE2; each the difference of two runs of different lengths, so that setting up does not count
//   page       pictures a second of the default scene at 960x540 in software GL, and the time from opening the page to a picture that moves,
//              both with the processor time of all of Chromium, which does not depend on what else the machine does
//   size       bytes of the module, gzipped
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { childTime, launch } from "./chromium.mjs";
import { serve } from "./serve.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), ".."), web = join(root, "build/web");
const limber = process.argv[2] ?? join(root, "build/limber");
const runs = [["penguins", 10, 60], ["crowd", 10, 60]];
const lowest = (count, measure) => Math.min(...Array.from({ length: count }, measure));

console.log(`${cpus()[0].model}, ${cpus().length} cores, node ${process.version}, ${new Date().toISOString().slice(0, 10)}`);

/** Processor time of a program, in seconds: what the shell that ran it says of its children. */
function userTime(...args) {
    const out = execFileSync("/bin/sh", ["-c", `${args.map((one) => `'${one}'`).join(" ")} >/dev/null; cut -d' ' -f16 /proc/$$/stat`], { encoding: "utf8" });
    return Number(out.trim()) / 100;
}

const { load } = await import(join(web, "package/dist/index.js"));
const engine = await load({ variant: "simd" });
for (const [name, from, to] of runs) {
    const script = lowest(2, () => {
        const scene = engine.scene(name);
        scene.makeWorld();
        for (let n = 0; n < from; n++) scene.step();
        const start = process.cpuUsage().user;
        for (let n = from; n < to; n++) scene.step();
        const used = process.cpuUsage().user - start;
        scene.free();
        return used / 1000 / (to - from);
    });
    const run = (frames) => lowest(3, () => userTime(limber, "run", name, "--frames", String(frames), "--isa", "sse2", "--threads", "1"));
    const native = (1000 * (run(to) - run(from))) / (to - from);
    console.log(`${name}: native SSE2 ${native.toFixed(1)} ms, web assembly ${script.toFixed(1)} ms a step: ${(script / native).toFixed(2)} times`);
}

const server = await serve(web, 0, false), browser = await launch(web);
const page = await browser.newPage({ viewport: { width: 960, height: 540 } });
const start = performance.now(), before = childTime();
await page.goto(`http://127.0.0.1:${server.address().port}/page/`);
await page.waitForFunction(() => performance.getEntriesByName("limber-moves").length > 0, null, { polling: 20 });
const loading = performance.now() - start, opened = childTime() - before;
const marks = await page.evaluate(() => performance.getEntriesByType("mark").filter(({ name }) => name.startsWith("limber-")).map(({ name, startTime }) => `${name.slice(7)} ${(startTime / 1000).toFixed(1)}`).join(", "));
await page.waitForTimeout(2000);
const from = childTime();
const { frames, fps } = await page.evaluate(() => new Promise((done) => {
    const begin = performance.now();
    let frames = 0;
    const count = (time) => (time - begin > 4000 ? done({ frames, fps: (1000 * frames) / (time - begin) }) : (frames++, requestAnimationFrame(count)));
    requestAnimationFrame(count);
}));
const each = (childTime() - from) / frames;
const { name, width, height } = await page.evaluate(() => ({ name: window.limberPage.name, width: window.limberPage.stage.canvas.width, height: window.limberPage.stage.canvas.height }));
console.log(`page: ${name} at ${width}x${height} in software GL ${fps.toFixed(0)} pictures a second, ${each.toFixed(0)} ms of processor time each`);
console.log(`      moves ${(loading / 1000).toFixed(1)} s after it was opened (${marks}), after ${(opened / 1000).toFixed(1)} s of processor time; load ${loadavg()[0].toFixed(0)}`);
await browser.close();
server.close();
const size = gzipSync(readFileSync(join(web, "package/dist/limber-simd.wasm")), { level: 9 }).length;
console.log(`module: ${size} bytes gzipped`);
