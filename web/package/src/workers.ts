/** Workers that take tasks of a step: each an instance of the same module on the same memory, with a stack of its own. */
import type { Memory } from "./memory.js";

const STACK = 1 << 18;

// What a worker runs, in a page and in node: it needs no file of its own, so that it works from any bundle.
const SOURCE = `
const begin = ({ module, memory, index, stack }, answer) => {
    const wasi = new Proxy({ clock_time_get(clock, precision, at) {
        new DataView(memory.buffer).setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true);
        return 0;
    } }, { get: (all, name) => all[name] ?? (() => 52) });
    const { exports } = new WebAssembly.Instance(module, { env: { memory }, wasi_snapshot_preview1: wasi });
    exports.__stack_pointer.value = stack;
    answer("ready");
    exports.web_work(index);
};
if (typeof self !== "undefined" && typeof importScripts === "function") {
    self.onmessage = ({ data }) => begin(data, (text) => self.postMessage(text));
} else {
    const { parentPort } = require("node:worker_threads");
    parentPort.once("message", (data) => begin(data, (text) => parentPort.postMessage(text)));
}
`;

interface AnyWorker {
    postMessage(message: unknown): void;
    terminate(): unknown;
}

export class Workers {
    private readonly all: AnyWorker[] = [];
    private readonly stacks: number[] = [];

    constructor(private readonly memory: Memory) {}

    get count(): number {
        return this.all.length;
    }

    /** Starts workers, and waits until they are there. */
    async start(module: WebAssembly.Module, shared: WebAssembly.Memory, count: number): Promise<void> {
        const waiting: Promise<void>[] = [];
        for (let index = 1; index <= count; index++) {
            const stack = this.memory.allocate(STACK);
            const [worker, ready] = await this.make();
            this.all.push(worker);
            this.stacks.push(stack);
            worker.postMessage({ module, memory: shared, index, stack: stack + STACK });
            waiting.push(ready);
        }
        await Promise.all(waiting);
        while (this.memory.exports.web_workers_ready!() < count) await new Promise((done) => setTimeout(done, 1));
    }

    private async make(): Promise<[AnyWorker, Promise<void>]> {
        if (typeof Worker !== "undefined") {
            const url = URL.createObjectURL(new Blob([SOURCE], { type: "text/javascript" }));
            const worker = new Worker(url, { name: "limber" });
            const ready = new Promise<void>((done, fail) => {
                worker.onmessage = () => (URL.revokeObjectURL(url), done());
                worker.onerror = (event) => fail(new Error(`limber: a worker did not start: ${event.message}`));
            });
            return [worker, ready];
        }
        const threads = await import("node:worker_threads");
        const worker = new threads.Worker(SOURCE, { eval: true });
        worker.unref();
        const ready = new Promise<void>((done, fail) => worker.once("message", () => done()).once("error", fail));
        return [worker, ready];
    }

    /** Ends the workers. Worlds go on with one thread. */
    async stop(): Promise<void> {
        this.memory.exports.web_stop_workers!();
        while (this.memory.exports.web_workers_ready!() > 0) await new Promise((done) => setTimeout(done, 1));
        for (const worker of this.all.splice(0)) worker.terminate();
        for (const stack of this.stacks.splice(0)) this.memory.free(stack);
    }
}
