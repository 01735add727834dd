// Serves a folder: node web/serve.mjs FOLDER [PORT] [plain]
//
// With the two headers that isolate a page, so that it may use threads; `plain`: without them.
import { createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize, sep } from "node:path";
import { fileURLToPath } from "node:url";

const TYPES = {
    ".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".mjs": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
    ".json": "application/json", ".wasm": "application/wasm", ".png": "image/png", ".jpg": "image/jpeg", ".webp": "image/webp", ".svg": "image/svg+xml",
};

export function serve(folder, port, isolated = true) {
    const server = createServer((request, response) => {
        const path = normalize(decodeURIComponent(new URL(request.url, "http://localhost").pathname));
        if (path === "/favicon.ico") return response.writeHead(204).end();
        let file = join(folder, path);
        const fail = () => response.writeHead(404, { "content-type": "text/plain" }).end("not found\n");
        if (path.split(sep).includes("..")) return fail();
        try {
            if (statSync(file).isDirectory()) {
                if (!path.endsWith("/")) return response.writeHead(301, { location: path + "/" }).end();
                file = join(file, "index.html");
            }
            statSync(file);
        } catch {
            return fail();
        }
        const headers = { "content-type": TYPES[extname(file)] ?? "application/octet-stream", "cache-control": "no-cache" };
        if (isolated) {
            headers["cross-origin-opener-policy"] = "same-origin";
            headers["cross-origin-embedder-policy"] = "require-corp";
            headers["cross-origin-resource-policy"] = "cross-origin";
        }
        response.writeHead(200, headers);
        createReadStream(file).pipe(response);
    });
    return new Promise((done) => server.listen(port, "127.0.0.1", () => done(server)));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
    const [folder = "build/web", port = "8080", how] = process.argv.slice(2);
    const server = await serve(folder, Number(port), how !== "plain");
    const at = `http://localhost:${server.address().port}`;
    console.log(`the page: ${at}/page/   the examples: ${at}/examples/   (control-C ends)`);
}
