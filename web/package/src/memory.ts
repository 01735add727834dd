/** Moves values into and out of the module's memory, as the tables that were made from the headers say. */
import { layouts, signatures, type Address, type Raw, type TypedArray } from "./raw.js";

type Fields = Record<string, unknown>;

const ARENA = 1 << 16;

/** The memory of a module, and its functions with plain values as arguments. */
export class Memory {
    readonly raw: Raw;
    private readonly arena: Address;
    private used = 0;
    private large: Address[] = [];
    private depth = 0;
    private buffer: ArrayBufferLike | null = null;
    private views!: { data: DataView; u8: Uint8Array; u32: Uint32Array; i32: Int32Array; f32: Float32Array; f64: Float64Array };
    private readonly encoder = new TextEncoder();
    private readonly decoder = new TextDecoder();

    constructor(
        /** The functions as the module has them: addresses and numbers. */
        readonly exports: Record<string, (...values: any[]) => any>,
        private readonly memory: WebAssembly.Memory,
    ) {
        this.arena = exports.web_allocate!(ARENA) >>> 0;
        if (this.arena === 0) throw new Error("limber: no memory");
        const raw: Record<string, unknown> = {};
        for (const [name, signature] of Object.entries(signatures)) raw[name] = this.bind(name, signature);
        this.raw = raw as unknown as Raw;
    }

    // ---- views ----

    private look(): Memory["views"] {
        if (this.buffer !== this.memory.buffer) {
            const b = (this.buffer = this.memory.buffer);
            this.views = {
                data: new DataView(b),
                u8: new Uint8Array(b),
                u32: new Uint32Array(b),
                i32: new Int32Array(b),
                f32: new Float32Array(b),
                f64: new Float64Array(b),
            };
        }
        return this.views;
    }

    /** Bytes of all memory. Views end when memory grows: take them again after a call. */
    get bytes(): Uint8Array {
        return this.look().u8;
    }

    floats(at: Address, count: number): Float32Array {
        return new Float32Array(this.memory.buffer, at, count);
    }

    doubles(at: Address, count: number): Float64Array {
        return new Float64Array(this.memory.buffer, at, count);
    }

    indices(at: Address, count: number): Uint32Array {
        return new Uint32Array(this.memory.buffer, at, count);
    }

    /** Whether views that were taken with this buffer are still those of the memory. */
    isCurrent(view: TypedArray): boolean {
        return view.buffer === this.memory.buffer;
    }

    text(at: Address): string {
        const bytes = this.bytes;
        let end = at;
        while (bytes[end] !== 0) end++;
        return this.decoder.decode(bytes.slice(at, end));
    }

    // ---- memory ----

    /** Memory that lasts until it is freed. */
    allocate(size: number): Address {
        const at = (this.exports.web_allocate!(size) as number) >>> 0;
        if (at === 0) throw new RangeError(`limber: out of memory (${size} bytes)`);
        return at;
    }

    free(at: Address): void {
        this.exports.web_free!(at);
    }

    /** Memory that lasts until the outermost `scope` ends. */
    scratch(size: number): Address {
        const from = (this.used + 15) & ~15;
        if (from + size <= ARENA) {
            this.used = from + size;
            return this.arena + from;
        }
        const at = this.allocate(size);
        this.large.push(at);
        return at;
    }

    scope<T>(work: () => T): T {
        this.depth++;
        try {
            return work();
        } finally {
            if (--this.depth === 0) {
                this.used = 0;
                if (this.large.length > 0) {
                    for (const at of this.large) this.free(at);
                    this.large = [];
                }
            }
        }
    }

    scratchText(text: string): Address {
        const bytes = this.encoder.encode(text);
        const at = this.scratch(bytes.length + 1);
        this.bytes.set(bytes, at);
        this.bytes[at + bytes.length] = 0;
        return at;
    }

    scratchArray(values: TypedArray): Address {
        const at = this.scratch(Math.max(values.byteLength, 1));
        this.bytes.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), at);
        return at;
    }

    // ---- structures ----

    size(name: string): number {
        return layouts[name]![0];
    }

    private writeScalar(code: string, at: Address, value: unknown): void {
        const { data } = this.look();
        switch (code) {
            case "bool": data.setUint8(at, value ? 1 : 0); break;
            case "u8": data.setUint8(at, Number(value)); break;
            case "i32": data.setInt32(at, Number(value), true); break;
            case "u32": data.setUint32(at, Number(value), true); break;
            case "f32": data.setFloat32(at, Number(value), true); break;
            case "f64": data.setFloat64(at, Number(value), true); break;
            case "i64":
            case "u64": data.setBigUint64(at, BigInt.asUintN(64, BigInt(value as bigint)), true); break;
            case "p": data.setUint32(at, this.pointer(value), true); break;
            default: this.write(code.slice(2), at, value as Fields);
        }
    }

    private pointer(value: unknown): Address {
        if (value === null || value === undefined) return 0;
        if (typeof value === "number") return value;
        if (typeof value === "string") return this.scratchText(value);
        if (ArrayBuffer.isView(value)) return this.scratchArray(value as TypedArray);
        throw new TypeError("limber: expected an address, a string or a typed array");
    }

    private readScalar(code: string, at: Address): unknown {
        const { data } = this.look();
        switch (code) {
            case "bool": return data.getUint8(at) !== 0;
            case "u8": return data.getUint8(at);
            case "i32": return data.getInt32(at, true);
            case "u32": case "p": return data.getUint32(at, true);
            case "f32": return data.getFloat32(at, true);
            case "f64": return data.getFloat64(at, true);
            case "i64": return data.getBigInt64(at, true);
            case "u64": return data.getBigUint64(at, true);
            default: return this.read(code.slice(2), at);
        }
    }

    /** Writes the fields that `value` has; the others stay as they are. */
    write(name: string, at: Address, value: object): void {
        const fields = value as Fields;
        for (const part of layouts[name]!.slice(1) as [string, string, number, number][]) {
            const [key, code, offset, count] = part, given = fields[key];
            if (given === undefined) continue;
            if (code === "str") {
                const bytes = this.encoder.encode(String(given)).subarray(0, count - 1);
                this.bytes.fill(0, at + offset, at + offset + count).set(bytes, at + offset);
            } else if (count > 0) {
                const step = this.scalarSize(code);
                for (let n = 0; n < count; n++) this.writeScalar(code, at + offset + n * step, (given as unknown[])[n] ?? 0);
            } else {
                this.writeScalar(code, at + offset, given);
            }
        }
    }

    private scalarSize(code: string): number {
        if (code.startsWith("s:")) return this.size(code.slice(2));
        return { bool: 1, u8: 1, i32: 4, u32: 4, f32: 4, p: 4, f64: 8, i64: 8, u64: 8 }[code]!;
    }

    read(name: string, at: Address): any {
        const result: Fields = {};
        for (const [key, code, offset, count] of layouts[name]!.slice(1) as [string, string, number, number][]) {
            if (code === "str") result[key] = this.text(at + offset);
            else if (count > 0) {
                const step = this.scalarSize(code);
                result[key] = Array.from({ length: count }, (_, n) => this.readScalar(code, at + offset + n * step));
            } else result[key] = this.readScalar(code, at + offset);
        }
        return result;
    }

    scratchStruct(name: string, value?: object | null): Address {
        const at = this.scratch(this.size(name));
        this.bytes.fill(0, at, at + this.size(name));
        if (value) this.write(name, at, value);
        return at;
    }

    // ---- functions ----

    private bind(name: string, [result, ...codes]: string[]): (...values: unknown[]) => unknown {
        const call = this.exports[name]!;
        const structResult = result!.startsWith("s:") ? result!.slice(2) : null;
        return (...values: unknown[]) =>
            this.scope(() => {
                const back: (() => void)[] = [];
                const given = codes.map((code, n) => this.argument(code, values[n], back));
                const out = structResult ? this.scratchStruct(structResult) : 0;
                const returned = structResult ? call(out, ...given) : call(...given);
                for (const one of back) one();
                if (structResult) return this.read(structResult, out);
                switch (result) {
                    case "str": return returned === 0 ? null : this.text(returned >>> 0);
                    case "bool": return returned !== 0;
                    case "u32": case "p": case "c": return returned >>> 0;
                    case "u64": return BigInt.asUintN(64, returned);
                    default: return returned;
                }
            });
    }

    private argument(code: string, value: unknown, back: (() => void)[]): unknown {
        if (code.startsWith("s:")) return this.scratchStruct(code.slice(2), value as object);
        if (code === "bool") return value ? 1 : 0;
        if (code === "i64" || code === "u64") return BigInt(value as bigint);
        const isPointer = code === "str" || code === "p" || code === "c" || code[1] === ":";
        if (!isPointer) return Number(value);
        if (value === null || value === undefined || typeof value === "number" || typeof value === "string") return this.pointer(value);
        if (ArrayBuffer.isView(value)) {
            const array = value as TypedArray;
            const at = this.scratchArray(array);
            if (code[0] === "p") {
                const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
                back.push(() => bytes.set(this.bytes.subarray(at, at + bytes.length)));
            }
            return at;
        }
        const name = code.slice(2), at = this.scratchStruct(name, value as object);
        if (code[0] === "p") back.push(() => Object.assign(value as object, this.read(name, at)));
        return at;
    }
}
