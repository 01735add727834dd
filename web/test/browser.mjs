// The page and the package in Chromium, without a display and with software GL: node web/test/browser.mjs short|long [LIMBER] [NAME...]
//
// short: some scenes, hands, knife, time, files and links. long: everything, and every scene, which must have the tool's hash after 120 frames.
// Screenshots go to build/web/screenshots. WEB_SCENES=a,b restricts the scenes whose hashes are compared.
import assert from "node:assert/strict";
import { childTime } from "../chromium.mjs";
import { browser, chosen, complaints, length, plain, server } from "./harness.mjs";
import { tests as scenes } from "./page-scenes.mjs";
import { tests as tools } from "./page-tools.mjs";
import { tests as files } from "./page-files.mjs";
import { tests as packages } from "./package-browser.mjs";

const tests = { ...scenes, ...tools, ...files, ...packages };
const shortOnes = ["hashes", "grabAndThrow", "tools", "cutAndTravel", "dropFile", "links", "embedAndFolder"];
let failed = 0;
for (const [name, test] of Object.entries(tests)) {
    if (chosen.length > 0 ? !chosen.includes(name) : length === "short" && !shortOnes.includes(name)) continue;
    const start = performance.now();
    try {
        await test();
        assert.deepEqual(complaints, [], "nothing on the console");
        console.log(`ok ${name} (${((performance.now() - start) / 1000).toFixed(1)} s)`);
    } catch (error) {
        failed++;
        complaints.length = 0;
        console.log(`FAILED ${name}: ${error.stack}`);
    }
}
console.log(`Chromium took ${(childTime() / 1000).toFixed(0)} s of processor time`);
await browser.close();
server.close();
plain.close();
process.exit(failed > 0 ? 1 : 0);
