// three_glb.mjs READERS FILE SECONDS...: the meshes of a GLB file as three.js shows them at these times.
import fs from 'fs';
import { pathToFileURL } from 'url';

const [readers, path, ...times] = process.argv.slice(2);
const three = pathToFileURL(readers + '/node_modules/three/').href;
const THREE = await import(three + 'build/three.module.js');
const { GLTFLoader } = await import(three + 'examples/jsm/loaders/GLTFLoader.js');
globalThis.self = globalThis;

const bytes = fs.readFileSync(path);
const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
const gltf = await new Promise((resolve, reject) => new GLTFLoader().parse(buffer, '', resolve, reject));
const mixer = new THREE.AnimationMixer(gltf.scene);
const action = mixer.clipAction(gltf.animations[0]);
action.setLoop(THREE.LoopOnce);
action.clampWhenFinished = true;
action.play();

const frames = times.map((seconds) => {
    mixer.setTime(Number(seconds));
    gltf.scene.updateMatrixWorld(true);
    const meshes = [];
    gltf.scene.traverse((object) => {
        if (!object.isMesh) return;
        if (object.isSkinnedMesh) object.skeleton.update();
        const points = [], at = new THREE.Vector3(), count = object.geometry.getAttribute('position').count;
        for (let i = 0; i < count; i++) {
            object.getVertexPosition(i, at); // morph targets and joints
            at.applyMatrix4(object.matrixWorld);
            points.push(at.x, at.y, at.z);
        }
        meshes.push({ name: object.name, points, triangles: Array.from(object.geometry.index.array) });
    });
    return meshes;
});
console.log('READ ' + JSON.stringify(frames));
