// The tarball in an empty project: node web/test/consumer.mjs BUILD_WEB
//
// Installs it with npm, then uses it from node, from TypeScript (strict) and through a bundler, inlined and with a file beside it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const web = resolve(process.argv[2] ?? "build/web");
const tarball = join(web, readdirSync(web).find((name) => /^limber-physics-.*\.tgz$/.test(name)));
const project = mkdtempSync(join(tmpdir(), "limber-consumer-"));
const run = (program, ...args) => execFileSync(program, args, { cwd: project, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
const node = (...args) => run(process.execPath, ...args);

const program = (from) => `
import { load, LimberError } from "${from}";
const limber = await load();
const world = limber.world();
world.addCollider({ shape: "plane" });
const duck = world.addLattice(limber.shape("duck"), { particles: 300, position: [0, 1, 0] });
for (let frame = 0; frame < 30; frame++) world.step();
console.log(world.hash(), duck.info().centre.y < 1, limber.scene("sticks").title.length > 0);
`;

try {
    writeFileSync(join(project, "package.json"), `{ "name": "empty", "type": "module", "private": true }`);
    run("npm", "install", "--offline", "--no-audit", "--no-fund", "--loglevel=error", tarball);

    writeFileSync(join(project, "plain.js"), program("limber-physics"));
    writeFileSync(join(project, "inline.js"), program("limber-physics/inline"));
    const expected = node("plain.js");
    assert.match(expected, /^[0-9a-f]{16} true true\n$/);
    assert.equal(node("inline.js"), expected);

    // TypeScript, strict, with types of the raw functions and of three.js.
    symlinkSync(join(web, "node_modules/@types"), join(project, "node_modules/@types"));
    symlinkSync(join(web, "node_modules/three"), join(project, "node_modules/three"));
    writeFileSync(join(project, "typed.ts"), `
import { load, LM, type Body, type lm_body_info, type Skin } from "limber-physics";
import { SoftMesh } from "limber-physics/three";
import type { BufferGeometry } from "three";
const limber = await load({ variant: "simd" });
const world = limber.world({ gravity: [0, -1, 0] });
const body: Body = world.addLattice(limber.shape("teddy"), { material: { mode: "rigid", hertz: 4 } });
const info: lm_body_info = body.info();
const hash: bigint = limber.raw.lm_world_hash(world.address);
const skin: Skin = body.skin();
export const numbers: [number, bigint, Float32Array, number] = [info.mass, hash, skin.positions, LM.LM_MODE_RIGID];
export const geometryOf = (body: Body): BufferGeometry => new SoftMesh(body).geometry;
// @ts-expect-error a mode that there is none of
body.setMaterial({ mode: "solid" });
`);
    const strict = ["--strict", "--noEmit", "--module", "nodenext", "--target", "es2022", "--lib", "es2022,dom,esnext.disposable", "--types", "node"];
    const tsc = (...args) => node(join(web, "node_modules/typescript/bin/tsc"), ...args);
    tsc(...strict, "typed.ts");
    writeFileSync(join(project, "wrong.ts"), `import { load } from "limber-physics";\n(await load()).world({ gravity: "down" });\n`);
    assert.throws(() => execFileSync(process.execPath, [join(web, "node_modules/typescript/bin/tsc"), ...strict, "wrong.ts"], { cwd: project, stdio: "ignore" }));

    // "using" frees, compiled for engines that do not have it yet.
    writeFileSync(join(project, "using.mts"), `
import { load } from "limber-physics";
const limber = await load({ variant: "simd" });
let kept;
{
    using world = limber.world();
    kept = world;
    world.step();
}
console.log(kept.isFree);
`);
    tsc(...strict.filter((one) => one !== "--noEmit"), "using.mts");
    assert.equal(node("using.mjs"), "true\n");

    // The example for node, from where it was installed.
    cpSync(join(web, "examples/node.mjs"), join(project, "example.mjs"));
    const golden = readFileSync(join(web, "../../test/golden/hashes.txt"), "utf8").split("\n").map((line) => line.split(" ")).find(([name]) => name === "twist");
    assert.match(node("example.mjs", "twist", golden[1]), new RegExp(`after ${golden[1]} frames ${golden[2]}, motion in twist.glb`));
    assert.equal(readFileSync(join(project, "twist.glb")).subarray(0, 4).toString(), "glTF");

    // A bundle, with the module as a file beside it, and with the module inside.
    const esbuild = join(web, "node_modules/esbuild/bin/esbuild");
    const bundle = (entry, out) => run(esbuild, entry, "--bundle", "--format=esm", "--platform=node", "--log-level=error", `--outfile=${out}`);
    bundle("plain.js", "bundle/plain.mjs");
    cpSync(join(project, "node_modules/limber-physics/dist/limber-simd.wasm"), join(project, "bundle/limber-simd.wasm"));
    assert.equal(node("bundle/plain.mjs"), expected);
    bundle("inline.js", "single/inline.mjs");
    assert.equal(node("single/inline.mjs"), expected);
    console.log(`ok: node, TypeScript and esbuild agree on ${expected.slice(0, 16)}`);
} finally {
    rmSync(project, { recursive: true, force: true });
}
