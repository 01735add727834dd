/** Finds the right variant of the module for this machine, and starts it. */
import { Limber } from "./limber.js";
import { Memory } from "./memory.js";
import { Files, wasiImports } from "./wasi.js";
import { Workers } from "./workers.js";

export type Variant = "simd" | "scalar" | "threads";

export interface LoadOptions {
    /** Which build of the module; default "auto": threads on a page that is cross-origin isolated, else SIMD, else scalar. */
    variant?: Variant | "auto";
    /** The module itself: bytes, a compiled module, or a response. Default: fetched or read from next to this file. */
    wasm?: BufferSource | WebAssembly.Module | Response | Promise<Response>;
    /** Folder that has limber-simd.wasm, limber-scalar.wasm and limber-threads.wasm; default: this file's. */
    base?: string | URL;
    /** With threads: how many work on a step, this one among them; default: one for each core, at most 8. */
    threads?: number;
}

// (module (func (result v128) i32.const 0 i8x16.splat i8x16.popcnt))
const SIMD_PROBE = [0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11];
const SHARED_PAGES = 512, SHARED_PAGES_MOST = 16384; // of 64 KiB, as web/wasm/CMakeLists.txt links it

export function hasSimd(): boolean {
    return WebAssembly.validate(new Uint8Array(SIMD_PROBE));
}

/** Whether a page may share memory with workers. In node it may; there threads are used when they are asked for. */
export function hasThreads(): boolean {
    return typeof SharedArrayBuffer !== "undefined" && (globalThis as { crossOriginIsolated?: boolean }).crossOriginIsolated === true;
}

export const isNode = typeof process !== "undefined" && process.versions?.node !== undefined && typeof window === "undefined";

export function chooseVariant(): Variant {
    return !hasSimd() ? "scalar" : hasThreads() ? "threads" : "simd";
}

async function bytesOf(variant: Variant, base: string | URL): Promise<BufferSource | Response> {
    const url = new URL(`limber-${variant}.wasm`, base);
    if (isNode && url.protocol === "file:") {
        const { readFile } = await import("node:fs/promises");
        return await readFile(url);
    }
    const response = await fetch(url);
    if (!response.ok) throw new Error(`limber: ${url.href} could not be fetched (${response.status})`);
    return response;
}

async function compile(source: NonNullable<LoadOptions["wasm"]>): Promise<WebAssembly.Module> {
    const given = await source;
    if (given instanceof WebAssembly.Module) return given;
    if (typeof Response !== "undefined" && given instanceof Response) {
        if (given.headers.get("content-type")?.startsWith("application/wasm")) return await WebAssembly.compileStreaming(given);
        return await WebAssembly.compile(await given.arrayBuffer());
    }
    return await WebAssembly.compile(given as BufferSource);
}

/** The folder of this file; where a bundler has taken that away, the folder of the page. */
function here(): string | URL {
    const meta = import.meta as { url?: string };
    return meta.url ?? (globalThis as { location?: { href: string } }).location?.href ?? "file:///";
}

/** Loads the engine. Several may be loaded; each has a memory of its own. */
export async function load(options: LoadOptions = {}): Promise<Limber> {
    const variant = options.variant && options.variant !== "auto" ? options.variant : options.wasm ? "simd" : chooseVariant();
    const module = await compile(options.wasm ?? bytesOf(variant, options.base ?? here()));
    const files = new Files();
    const imports: WebAssembly.Imports = { wasi_snapshot_preview1: wasiImports(() => memory, files) as WebAssembly.ModuleImports };
    const shared = WebAssembly.Module.imports(module).some((one) => one.kind === "memory");
    let memory: WebAssembly.Memory;
    if (shared) {
        memory = new WebAssembly.Memory({ initial: SHARED_PAGES, maximum: SHARED_PAGES_MOST, shared: true });
        imports["env"] = { memory };
    }
    const instance = await WebAssembly.instantiate(module, imports);
    const exports = instance.exports as Record<string, any>;
    if (!shared) memory = exports["memory"] as WebAssembly.Memory;
    exports["_initialize"]?.();
    const limber = new Limber(new Memory(exports, memory!), files, shared ? "threads" : variant);
    if (shared) {
        const cores = typeof navigator !== "undefined" && navigator.hardwareConcurrency ? navigator.hardwareConcurrency : 2;
        const others = Math.max(0, (options.threads ?? Math.min(cores, 8)) - 1);
        limber.workers = new Workers(limber.memory);
        await limber.workers.start(module, memory!, others);
    }
    return limber;
}
