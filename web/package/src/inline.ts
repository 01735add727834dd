/** The package in one file: the module with SIMD is inside, compressed, as text. Needs no server and no bundler. */
import { load as loadModule, type LoadOptions } from "./load.js";
import type { Limber } from "./limber.js";
import { MODULE } from "./inline-module.js";

export * from "./index.js";

/** As `load` of the package, from what is in this file. */
export async function load(options: Omit<LoadOptions, "base" | "variant" | "wasm"> = {}): Promise<Limber> {
    const packed = Uint8Array.from(atob(MODULE), (letter) => letter.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return loadModule({ ...options, wasm: await new Response(stream).arrayBuffer() });
}
