// Without a browser: node node.mjs [SCENE] [FRAMES]
//
// Runs a built-in scene, prints what the command-line tool prints for it, and writes its motion as a GLB.
import { writeFileSync } from "node:fs";
// In a project of your own: import { load, Recorder } from "limber-physics";
const { load, Recorder } = await import("limber-physics").catch(() => import("../package/dist/index.js"));

const [name = "teddy", frames = "120"] = process.argv.slice(2);
const limber = await load();
const scene = limber.scene(name, { watch: true });
const world = scene.makeWorld();
const bodies = scene.bodies().map(({ body, name }, n) => ({ body, name, colours: scene.colours(n) }));
const recorder = new Recorder(world, bodies, { file: "/motion.glb", frames: Math.ceil(Number(frames) / 2), rate: 30 });

for (let frame = 0; frame < Number(frames); frame++) {
    if (frame % 2 === 0) recorder.add();
    scene.step();
}
writeFileSync(`${name}.glb`, recorder.finish());
const { particles, bodies: count } = world.stats();
console.log(`${scene.title}: ${count} bodies, ${particles} particles, after ${frames} frames ${world.hash()}, motion in ${name}.glb`);
scene.free();
