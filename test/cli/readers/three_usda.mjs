// three_usda.mjs READERS FILE CODE...: the meshes of a USD text file at these time codes, as the parser of three.js reads it.
import fs from 'fs';
import { pathToFileURL } from 'url';

const [readers, path, ...codes] = process.argv.slice(2);
const url = pathToFileURL(readers + '/node_modules/three/examples/jsm/loaders/usd/USDAParser.js').href;
const { USDAParser } = await import(url);
const specs = new USDAParser().parseData(fs.readFileSync(path, 'utf8')).specsByPath;

// The value at a time: the sample, or the one before it, or the only one.
function value(prim, name, code) {
    const fields = specs[prim + '.' + name].fields;
    if (!fields.timeSamples) return fields.default;
    const { times, values } = fields.timeSamples;
    let at = 0;
    while (at + 1 < times.length && times[at + 1] <= code) at++;
    return values[at];
}

const prims = Object.keys(specs).filter((key) => specs[key].fields.typeName === 'Mesh');
const frames = codes.map((code) => prims.map((prim) => {
    const points = Array.from(value(prim, 'points', Number(code)));
    if (value(prim, 'normals', Number(code)).length !== points.length) throw new Error('normals of ' + prim);
    return { name: prim, points, triangles: Array.from(value(prim, 'faceVertexIndices', Number(code))) };
}));
console.log('READ ' + JSON.stringify(frames));
