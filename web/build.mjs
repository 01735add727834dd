// Builds everything of web/ into build/web: node web/build.mjs package|page|all
//
//   package   build/web/package (what npm packs) and build/web/limber-physics-VERSION.tgz
//   (both)    build/web/examples
//   page      build/web/page: static files that any server can serve, and that work from a folder too
//
// The modules come from the CMake presets web-simd, web-scalar and web-threads; `make web` builds them first.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { createRequire } from "node:module";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const out = join(root, "build/web");
const require = createRequire(join(out, "package.json"));
const variants = ["simd", "scalar", "threads"];

const run = (program, args, cwd) => execFileSync(program, args, { cwd, stdio: ["ignore", "inherit", "inherit"] });
const moduleOf = (variant) => join(root, `build/web-${variant}/limber_web.wasm`);

function buildPackage() {
    const to = join(out, "package"), dist = join(to, "dist");
    rmSync(to, { recursive: true, force: true });
    mkdirSync(dist, { recursive: true });
    cpSync(join(root, "web/package"), to, { recursive: true });
    cpSync(join(root, "LICENSE"), join(to, "LICENSE"));
    cpSync(join(root, "build/web-simd/web/wasm/generated/raw.ts"), join(to, "src/raw.ts"));
    writeFileSync(join(to, "src/inline-module.ts"), `export const MODULE: string = "";\n`);
    run(process.execPath, [join(out, "node_modules/typescript/bin/tsc"), "-p", "tsconfig.json"], to);
    for (const variant of variants) {
        if (existsSync(moduleOf(variant))) cpSync(moduleOf(variant), join(dist, `limber-${variant}.wasm`));
    }
    // One file with the module in it.
    const packed = gzipSync(readFileSync(moduleOf("simd")), { level: 9 });
    writeFileSync(join(dist, "inline-module.js"), `export const MODULE = "${packed.toString("base64")}";\n`);
    const esbuild = require("esbuild");
    esbuild.buildSync({
        entryPoints: [join(dist, "inline.js")], outfile: join(dist, "inline.js"), allowOverwrite: true,
        bundle: true, format: "esm", minify: true, platform: "neutral", external: ["node:*"],
    });
    rmSync(join(dist, "inline-module.js"));
    rmSync(join(dist, "inline-module.d.ts"));
    for (const name of ["src", "tsconfig.json"]) rmSync(join(to, name), { recursive: true });
    run("npm", ["pack", "--silent", "--pack-destination", out], to);
    const glue = readdirSync(dist).filter((name) => name.endsWith(".js") && !["inline.js", "three.js"].includes(name));
    const scripts = gzipSync(Buffer.concat(glue.map((name) => readFileSync(join(dist, name)))), { level: 9 }).length;
    console.log(`package: module with SIMD ${packed.length} bytes gzipped, scripts ${scripts}`);
}

async function buildPage() {
    const { default: build } = await import("./page/build.mjs");
    await build({ root, out, require });
}

const what = process.argv[2] ?? "all";
if (what === "package" || what === "all") buildPackage();
if (what === "page" || what === "all") await buildPage();
cpSync(join(root, "web/examples"), join(out, "examples"), { recursive: true });
