// validate.mjs READERS FILE: what gltf-validator says of a GLB file.
import { createRequire } from 'module';
import fs from 'fs';

const [readers, path] = process.argv.slice(2);
const validator = createRequire(readers + '/')('gltf-validator');
const report = await validator.validateBytes(new Uint8Array(fs.readFileSync(path)), { maxIssues: 20 });
console.log('READ ' + JSON.stringify(report.issues));
