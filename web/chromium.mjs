// Starts Chromium without a display and with software GL: of $CHROMIUM, Debian's headless shell and Debian's Chromium the first that there is.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

export function launch(web, args = []) {
    const { chromium } = createRequire(join(web, "package.json"))("playwright-core");
    const executablePath = process.env.CHROMIUM ?? ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].find((path) => existsSync(path));
    // As Chromium runs where there is no graphics card: WebGL by SwiftShader, the page itself drawn without GL. (With --ignore-gpu-blocklist the page
    // would be drawn by SwiftShader too, whose compiler then takes more than a second before the first picture.)
    return chromium.launch({ executablePath, args: ["--no-sandbox", "--enable-unsafe-swiftshader", ...args] });
}

/** Processor time of all processes that this one has started and of those that they have started, milliseconds. */
export function childTime() {
    const parents = new Map(), used = new Map();
    for (const id of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
        try {
            const text = readFileSync(`/proc/${id}/stat`, "utf8"), words = text.slice(text.lastIndexOf(")") + 2).split(" ");
            parents.set(id, words[1]);
            used.set(id, 10 * [11, 12, 13, 14].reduce((sum, n) => sum + Number(words[n]), 0)); // its own, and that of children that have ended
        } catch { /* it has ended */ }
    }
    const isMine = (id) => (id === String(process.pid) ? true : parents.has(id) ? isMine(parents.get(id)) : false);
    return [...used].reduce((sum, [id, time]) => (id !== String(process.pid) && isMine(id) ? sum + time : sum), 0);
}
