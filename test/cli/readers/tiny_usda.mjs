// tiny_usda.mjs READERS FILE...: the meshes of USD files at their first time code, as TinyUSDZ reads them: a frame for each file.
import fs from 'fs';
import { pathToFileURL } from 'url';

const [readers, ...paths] = process.argv.slice(2);
const folder = readers + '/node_modules/tinyusdz/';
// The package is built for browsers alone: this is one, as far as it looks.
globalThis.window = globalThis;
process.type = 'renderer';
const program = fs.readFileSync(folder + 'tinyusdz.wasm');
globalThis.fetch = async () => new Response(program, { headers: { 'Content-Type': 'application/wasm' } });
const { default: start } = await import(pathToFileURL(folder + 'tinyusdz.js').href);
const tiny = await start();

const frames = paths.map((path) => {
    const loader = new tiny.TinyUSDZLoaderNative();
    // It follows connections of a UsdPreviewSurface to textures only, and refuses those to a UsdPrimvarReader.
    const text = fs.readFileSync(path, 'utf8').replace(/^.*diffuseColor\.connect.*\n/gm, '');
    if (!loader.loadFromBinary(Buffer.from(text), path)) throw new Error(path + ': ' + loader.error());
    const meshes = [];
    for (let i = 0; i < loader.numMeshes(); i++) {
        const mesh = loader.getMesh(i), material = loader.getMaterial(mesh.materialId);
        if (mesh.normals.length !== mesh.points.length) throw new Error('normals of ' + mesh.primName);
        if (!material || material.diffuseColor.length !== 3) throw new Error('material of ' + mesh.primName);
        if (mesh.faceVertexCounts.some((count) => count !== 3)) throw new Error('faces of ' + mesh.primName);
        meshes.push({ name: mesh.primName, points: Array.from(mesh.points), triangles: Array.from(mesh.faceVertexIndices) });
    }
    loader.delete();
    return meshes;
});
console.log('READ ' + JSON.stringify(frames));
