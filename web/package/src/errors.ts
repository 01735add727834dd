/** What the engine refused. The message is the line of its log: what is wrong, and where. */
export class LimberError extends Error {
    override readonly name = "LimberError";

    constructor(
        /** LM_ERROR_... */
        readonly result: number,
        line: string,
    ) {
        super(line);
    }
}

/** Something was used after it was freed. */
export function closed(what: string): Error {
    return new Error(`limber: this ${what} was freed`);
}
