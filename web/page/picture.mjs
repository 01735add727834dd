// Draws the picture of the page in README.md: node web/page/picture.mjs OUT.png   (after `make web`; about a minute in software GL)
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { launch } from "../chromium.mjs";
import { serve } from "../serve.mjs";

const web = join(dirname(fileURLToPath(import.meta.url)), "../../build/web");
const server = await serve(web, 0, false);
const browser = await launch(web);
const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
await page.goto(`http://127.0.0.1:${server.address().port}/page/?theme=light&quality=high#scene=liver-cut&paused`);
await page.waitForFunction(() => window.limberPage?.session, null, { timeout: 90000 });
// A stroke across the liver, and a second for it to open.
await page.evaluate(() => {
    const app = window.limberPage, { stage, session } = app;
    app.lost = true; // draws nothing meanwhile
    app.advance(12);
    app.chooseTool("cut");
    const { centre } = session.world.bodies()[0].info(), eye = stage.camera.position.toArray();
    stage.render();
    const [x, y] = stage.project([centre.x, centre.y, centre.z]);
    const stroke = [[x - 60, y - 210], [x - 20, y - 60], [x - 50, y + 60], [x + 10, y + 220]];
    const points = stroke.map(([px, py]) => stage.ray(px, py).direction.toArray().map((v, k) => eye[k] + 8 * stage.distance * v));
    session.change({ kind: "cut", eye, points });
    app.advance(55);
    app.refresh();
    document.getElementById("hint").classList.remove("shown");
    app.lost = false;
    requestAnimationFrame(() => requestAnimationFrame(() => (app.lost = true)));
});
await page.waitForTimeout(6000);
await page.screenshot({ path: process.argv[2], timeout: 90000 });
await browser.close();
server.close();
