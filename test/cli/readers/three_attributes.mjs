// three_attributes.mjs READERS FILE SECONDS: points, normals, colours and triangles of a GLB file as three.js would draw them at that time.
import fs from 'fs';
import { pathToFileURL } from 'url';

const [readers, path, seconds] = process.argv.slice(2);
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
mixer.setTime(Number(seconds));
gltf.scene.updateMatrixWorld(true);

// As the shaders do it: morphed, then turned by the joints' matrices.
function normal(object, i) {
    const geometry = object.geometry, n = new THREE.Vector3().fromBufferAttribute(geometry.attributes.normal, i);
    (geometry.morphAttributes.normal ?? []).forEach((target, k) => {
        n.addScaledVector(new THREE.Vector3().fromBufferAttribute(target, i), object.morphTargetInfluences[k]);
    });
    if (!object.isSkinnedMesh) return n.normalize();
    const joints = new THREE.Vector4().fromBufferAttribute(geometry.attributes.skinIndex, i);
    const weights = new THREE.Vector4().fromBufferAttribute(geometry.attributes.skinWeight, i);
    const sum = new THREE.Vector3(), matrix = new THREE.Matrix4();
    for (let k = 0; k < 4; k++) {
        const joint = joints.getComponent(k);
        matrix.multiplyMatrices(object.skeleton.bones[joint].matrixWorld, object.skeleton.boneInverses[joint]);
        sum.addScaledVector(n.clone().applyMatrix3(new THREE.Matrix3().setFromMatrix4(matrix)), weights.getComponent(k));
    }
    return sum.normalize();
}

const meshes = [];
gltf.scene.traverse((object) => {
    if (!object.isMesh) return;
    if (object.isSkinnedMesh) object.skeleton.update();
    const points = [], normals = [], colours = [], at = new THREE.Vector3(), colour = object.geometry.attributes.color;
    for (let i = 0; i < object.geometry.attributes.position.count; i++) {
        points.push(...object.getVertexPosition(i, at).applyMatrix4(object.matrixWorld));
        normals.push(...normal(object, i));
        if (colour) colours.push(colour.getX(i), colour.getY(i), colour.getZ(i));
    }
    meshes.push({ points, normals, colours, triangles: Array.from(object.geometry.index.array) });
});
console.log('READ ' + JSON.stringify(meshes));
