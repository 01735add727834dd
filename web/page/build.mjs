// Bundles the page into build/web/page, with what it knows of scenes: titles, pictures, golden hashes.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";

/** Titles and figures from the engine itself, hashes from the tests, pictures from docs of the page. */
async function scenes(root, out) {
    const { load } = await import(pathToFileURL(join(out, "package/dist/index.js")).href);
    const limber = await load();
    const list = limber.sceneNames().map((name) => {
        const { title, figure } = JSON.parse(limber.sceneText(name));
        return { name, title, figure: figure ?? "", picture: `pictures/${name}.jpg` };
    });
    const golden = {};
    for (const line of readFileSync(join(root, "test/golden/hashes.txt"), "utf8").trim().split("\n")) {
        const [name, frame, hash] = line.split(" ");
        golden[name] = { [frame]: hash };
    }
    return `export const SCENES = ${JSON.stringify(list)};\nexport const GOLDEN = ${JSON.stringify(golden)};\n`;
}

export default async function build({ root, out, require }) {
    const page = join(out, "page"), from = join(root, "web/page");
    rmSync(page, { recursive: true, force: true });
    mkdirSync(page, { recursive: true });
    for (const name of ["index.html", "style.css"]) cpSync(join(from, name), join(page, name));
    if (existsSync(join(from, "pictures"))) cpSync(join(from, "pictures"), join(page, "pictures"), { recursive: true });
    for (const variant of ["simd", "scalar", "threads"]) {
        const file = join(out, `package/dist/limber-${variant}.wasm`);
        if (existsSync(file)) cpSync(file, join(page, `limber-${variant}.wasm`));
    }
    const packed = gzipSync(readFileSync(join(out, "package/dist/limber-simd.wasm")), { level: 9 });
    writeFileSync(join(page, "limber-inline.js"), `window.limberModule = "${packed.toString("base64")}";\n`);
    const text = await scenes(root, out);
    await require("esbuild").build({
        entryPoints: [join(from, "src/main.js")], outfile: join(page, "main.js"), bundle: true, minify: true, format: "iife", target: "es2022",
        external: ["node:*"], nodePaths: [join(out, "node_modules")], logOverride: { "empty-import-meta": "silent" },
        alias: { "limber-physics/three": join(out, "package/dist/three.js"), "limber-physics": join(out, "package/dist/index.js") },
        plugins: [{ name: "scenes", setup(builder) {
            builder.onResolve({ filter: /^virtual:scenes$/ }, () => ({ path: "scenes", namespace: "virtual" }));
            builder.onLoad({ filter: /.*/, namespace: "virtual" }, () => ({ contents: text, loader: "js" }));
        } }],
    });
    console.log(`page: ${page}`);
}
