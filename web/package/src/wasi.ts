/**
 * What the module asks of the system (WASI): clocks, files in memory, and lines on the console.
 *
 * Files are bytes under absolute names ("/model.obj"). Scenes find meshes there, exporters write there.
 */

const OK = 0, BADF = 8, EXIST = 20, INVAL = 28, NOENT = 44, NOSYS = 52;
const FOLDER_FD = 3;
const CREATE = 1, EXCLUSIVE = 4, TRUNCATE = 8;

interface OpenFile {
    stored: Stored;
    at: number;
    append: boolean;
}

interface Stored {
    bytes: Uint8Array;
    size: number;
}

/** Files in memory. */
export class Files {
    private readonly stored = new Map<string, Stored>();

    private static clean(path: string): string {
        return "/" + path.split("/").filter((part) => part !== "" && part !== ".").join("/");
    }

    /** Puts a file there, in place of any that has the name. */
    write(path: string, bytes: Uint8Array): void {
        this.stored.set(Files.clean(path), { bytes: bytes.slice(), size: bytes.length });
    }

    /** A copy of a file's bytes; undefined when there is none. */
    read(path: string): Uint8Array | undefined {
        const file = this.stored.get(Files.clean(path));
        return file?.bytes.slice(0, file.size);
    }

    remove(path: string): boolean {
        return this.stored.delete(Files.clean(path));
    }

    list(): string[] {
        return [...this.stored.keys()];
    }

    /** @internal */
    get(path: string): Stored | undefined {
        return this.stored.get(Files.clean(path));
    }

    /** @internal */
    rename(from: string, to: string): boolean {
        const file = this.get(from);
        if (file) {
            this.remove(from);
            this.stored.set(Files.clean(to), file);
        }
        return file !== undefined;
    }
}

function grown(file: Stored, size: number): void {
    if (size > file.bytes.length) {
        const bytes = new Uint8Array(Math.max(size, 2 * file.bytes.length, 4096));
        bytes.set(file.bytes.subarray(0, file.size));
        file.bytes = bytes;
    }
    file.size = Math.max(file.size, size);
}

/** The functions of WASI that the module imports. `memory` is asked for at each call, because it may have grown. */
export function wasiImports(memory: () => WebAssembly.Memory, files: Files): Record<string, Function> {
    const open = new Map<number, OpenFile>();
    const lines = new Map<number, string>();
    const decoder = new TextDecoder();
    const view = (): DataView => new DataView(memory().buffer);
    const bytesAt = (at: number, size: number): Uint8Array => new Uint8Array(memory().buffer, at >>> 0, size >>> 0);
    const textAt = (at: number, size: number): string => decoder.decode(bytesAt(at, size).slice());

    const say = (fd: number, text: string): void => {
        const parts = ((lines.get(fd) ?? "") + text).split("\n");
        lines.set(fd, parts.pop() ?? "");
        for (const line of parts) (fd === 1 ? console.log : console.warn)(line);
    };
    const stat = (at: number, kind: number, size: number): number => {
        const v = view();
        bytesAt(at, 64).fill(0);
        v.setUint8(at + 16, kind);
        v.setBigUint64(at + 24, 1n, true);
        v.setBigUint64(at + 32, BigInt(size), true);
        return OK;
    };
    /** Each piece of memory that a list of pieces names. */
    const pieces = (list: number, count: number): Uint8Array[] => {
        const v = view();
        return Array.from({ length: count }, (_, n) => bytesAt(v.getUint32(list + 8 * n, true), v.getUint32(list + 8 * n + 4, true)));
    };
    const transfer = (fd: number, list: number, count: number, done: number, write: boolean): number => {
        const file = open.get(fd), stored = file?.stored;
        if (!file || !stored) return BADF;
        let total = 0;
        if (write && file.append) file.at = stored.size;
        for (const piece of pieces(list, count)) {
            const size = write ? piece.length : Math.min(piece.length, Math.max(stored.size - file.at, 0));
            if (write) {
                grown(stored, file.at + size);
                stored.bytes.set(piece, file.at);
            } else {
                piece.set(stored.bytes.subarray(file.at, file.at + size));
            }
            file.at += size;
            total += size;
        }
        view().setUint32(done, total, true);
        return OK;
    };

    const functions: Record<string, Function> = {
        clock_time_get(_clock: number, _precision: bigint, at: number): number {
            const milliseconds = typeof performance === "undefined" ? Date.now() : performance.now();
            view().setBigUint64(at, BigInt(Math.round(milliseconds * 1e6)), true);
            return OK;
        },
        environ_sizes_get(count: number, size: number): number {
            view().setUint32(count, 0, true);
            view().setUint32(size, 0, true);
            return OK;
        },
        environ_get: () => OK,
        fd_prestat_get(fd: number, at: number): number {
            if (fd !== FOLDER_FD) return BADF;
            view().setUint32(at, 0, true);
            view().setUint32(at + 4, 1, true);
            return OK;
        },
        fd_prestat_dir_name(fd: number, at: number): number {
            if (fd !== FOLDER_FD) return BADF;
            bytesAt(at, 1)[0] = 47;
            return OK;
        },
        fd_fdstat_get(fd: number, at: number): number {
            const v = view();
            if (fd > FOLDER_FD && !open.has(fd)) return BADF;
            bytesAt(at, 24).fill(0);
            v.setUint8(at, fd < FOLDER_FD ? 2 : fd === FOLDER_FD ? 3 : 4);
            v.setBigUint64(at + 8, 0xffffffffffffffffn, true);
            v.setBigUint64(at + 16, 0xffffffffffffffffn, true);
            return OK;
        },
        fd_fdstat_set_flags: () => OK,
        fd_filestat_get(fd: number, at: number): number {
            const file = open.get(fd), stored = file?.stored;
            return stored ? stat(at, 4, stored.size) : fd <= FOLDER_FD ? stat(at, fd === FOLDER_FD ? 3 : 2, 0) : BADF;
        },
        path_filestat_get(_fd: number, _flags: number, path: number, size: number, at: number): number {
            const name = textAt(path, size), stored = files.get(name);
            return stored ? stat(at, 4, stored.size) : name === "." || name === "" || name === "/" ? stat(at, 3, 0) : NOENT;
        },
        path_open(
            _fd: number, _flags: number, path: number, size: number, how: number, _rights: bigint, _inheriting: bigint, flags: number, at: number,
        ): number {
            const name = textAt(path, size);
            const there = files.get(name);
            if (!there && !(how & CREATE)) return NOENT;
            if (there && how & EXCLUSIVE) return EXIST;
            if (!there || how & TRUNCATE) files.write(name, new Uint8Array(0));
            let fd = FOLDER_FD + 1;
            while (open.has(fd)) fd++;
            open.set(fd, { stored: files.get(name)!, at: 0, append: (flags & 1) !== 0 });
            view().setUint32(at, fd, true);
            return OK;
        },
        fd_close: (fd: number) => (open.delete(fd) || fd <= FOLDER_FD ? OK : BADF),
        fd_read: (fd: number, list: number, count: number, done: number) => transfer(fd, list, count, done, false),
        fd_write(fd: number, list: number, count: number, done: number): number {
            if (fd !== 1 && fd !== 2) return transfer(fd, list, count, done, true);
            let total = 0;
            for (const piece of pieces(list, count)) {
                say(fd, decoder.decode(piece.slice()));
                total += piece.length;
            }
            view().setUint32(done, total, true);
            return OK;
        },
        fd_seek(fd: number, offset: bigint, whence: number, at: number): number {
            const file = open.get(fd), stored = file?.stored;
            if (!file || !stored) return BADF;
            const place = Number(offset) + (whence === 1 ? file.at : whence === 2 ? stored.size : 0);
            if (place < 0) return INVAL;
            file.at = place;
            view().setBigUint64(at, BigInt(place), true);
            return OK;
        },
        fd_renumber(from: number, to: number): number {
            const file = open.get(from);
            if (!file) return BADF;
            open.set(to, file);
            open.delete(from);
            return OK;
        },
        fd_sync: () => OK,
        path_unlink_file: (_fd: number, path: number, size: number) => (files.remove(textAt(path, size)) ? OK : NOENT),
        path_rename: (_fd: number, from: number, fromSize: number, _to: number, to: number, toSize: number) =>
            files.rename(textAt(from, fromSize), textAt(to, toSize)) ? OK : NOENT,
        path_create_directory: () => OK,
        proc_exit(code: number): never {
            throw new Error(`limber: the module ended itself with code ${code}`);
        },
        random_get(at: number, size: number): number {
            bytesAt(at, size).fill(7);
            return OK;
        },
    };
    return new Proxy(functions, { get: (all, name: string) => all[name] ?? (() => NOSYS) });
}
