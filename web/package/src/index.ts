/**
 * Limber: real-time deformable bodies by shape matching, in the browser and in node.
 *
 *     import { load } from "limber-physics";
 *     const limber = await load();
 *     const world = limber.world();
 *     world.addCollider({ shape: "plane" });
 *     const duck = world.addLattice(limber.shape("duck"), { position: [0, 1, 0] });
 *     for (let frame = 0; frame < 60; frame++) world.step();
 *     console.log(duck.info().centre.y, world.hash());
 */
export { chooseVariant, hasSimd, hasThreads, load, type LoadOptions, type Variant } from "./load.js";
export { Body, type BodyOptions, type CutInfo, type Material, type Skin, type StateView } from "./body.js";
export { LimberError } from "./errors.js";
export { Limber } from "./limber.js";
export { Memory } from "./memory.js";
export { Mesh, type ReadOptions, type ShapeOptions, type Vector } from "./mesh.js";
export { LM } from "./raw.js";
export type * from "./raw.js";
export { Recorder, type RecordedBody, type RecorderOptions } from "./recorder.js";
export { Scene, type SceneOptions, type SceneView } from "./scene.js";
export { Collider, Drag, Field, Mover, Pin, type ColliderOptions, type DragOptions, type FieldOptions, type Id, type MoverOptions, type PoseOptions } from "./things.js";
export { Files } from "./wasi.js";
export { World, type ClusterOptions, type ContactEvent, type Hit, type LatticeOptions, type OctreeOptions, type WorldOptions } from "./world.js";
