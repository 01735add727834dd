"""Bindings for JavaScript, made from C headers: bindings.py SOURCE_DIR OUTPUT_DIR.

raw.ts          every constant, structure and function of the headers: types for TypeScript, and tables from which the package
                moves values into and out of the module's memory
exports.txt     options for the linker: the functions that the module offers
layout_check.c  asserts that structures are laid out as the tables say

The layout is that of wasm32: pointers and size_t have four bytes, 64-bit numbers are aligned to eight.
"""

from __future__ import annotations

import math
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))
from declarations import _declare_inline, _expand, _without_comments, _without_conditions  # noqa: E402

HEADERS = [
    "include/limber/limber.h",
    "include/limber/mesh.h",
    "include/limber/tets.h",
    "include/limber/rig.h",
    "include/limber/pose.h",
    "include/limber/cache.h",
    "include/limber/shapes.h",
    "include/limber/scene.h",
    "include/limber/export.h",
    "include/limber/seams.h",
    "include/limber/capture.h",
    "web/wasm/host.h",
]
# Given functions of the caller's, or used by hooks only.
LEFT_OUT = {"lm_scene_check"}
KNOWN = {"UINT32_MAX": 0xFFFFFFFF}

SCALARS = {  # C type: (code, bytes, TypeScript)
    "bool": ("bool", 1, "boolean"),
    "char": ("u8", 1, "number"),
    "uint8_t": ("u8", 1, "number"),
    "int": ("i32", 4, "number"),
    "int32_t": ("i32", 4, "number"),
    "unsigned": ("u32", 4, "number"),
    "uint32_t": ("u32", 4, "number"),
    "size_t": ("u32", 4, "number"),
    "float": ("f32", 4, "number"),
    "double": ("f64", 8, "number"),
    "int64_t": ("i64", 8, "bigint"),
    "uint64_t": ("u64", 8, "bigint"),
}


@dataclass
class Member:
    name: str
    type: str  # without const and stars
    pointer: bool
    count: int  # 0: not an array


@dataclass
class Struct:
    name: str
    members: list[Member]
    size: int = 0
    align: int = 1
    offsets: list[int] = field(default_factory=list)


@dataclass
class Parameter:
    name: str
    type: str
    stars: int
    const: bool


@dataclass
class Function:
    name: str
    returns: Parameter
    parameters: list[Parameter]
    comment: str


class Headers:
    def __init__(self) -> None:
        self.constants: dict[str, float | int] = dict(KNOWN)
        self.enums: dict[str, list[str]] = {}
        self.structs: dict[str, Struct] = {}
        self.functions: list[Function] = []
        self.opaque: set[str] = set()

    # ---- reading ----

    def value(self, text: str) -> int | float | None:
        text = re.sub(r"\b(0x[0-9a-fA-F]+|\d+)[uU]\b", r"\1", text.strip())
        text = re.sub(r"(\d)[fF]\b", r"\1", text)
        names = set(re.findall(r"\b[A-Z_][A-Z0-9_]+\b", text))
        if not re.fullmatch(r"[\w\s().<+*\-]+", text) or any(name not in self.constants for name in names):
            return None
        try:
            return eval(text, {"__builtins__": {}}, dict(self.constants))  # noqa: S307 # a constant of our own headers
        except (SyntaxError, NameError, TypeError):
            return None

    def read(self, path: Path) -> None:
        raw = path.read_text(encoding="utf-8")
        comments = self._comments(raw)
        text = _without_comments(raw).replace("\\\n", " ")
        macros, rest = {}, []
        for line in _without_conditions(text.split("\n")):
            simple = re.match(r"\s*#\s*define\s+(\w+)\s+(.+?)\s*$", line)
            complex_ = re.match(r"\s*#\s*define\s+(\w+)\((\w+)\)\s+(.+?)\s*$", line)
            if complex_:
                macros[complex_.group(1)] = (complex_.group(2), complex_.group(3))
            elif simple:
                value = self.value(simple.group(2))
                if value is not None:
                    self.constants[simple.group(1)] = value
            elif not re.match(r"\s*#", line):
                rest.append(line)
        body = re.sub(r"\bLM_API\b", "", _declare_inline(_expand("\n".join(rest), macros)))
        body = re.sub(r"[^;{}]*\bstatic inline\b[^;]*;", "", body)
        self._declarations(body, comments, {name for name in re.findall(r"static inline [^(]*?\b(\w+)\(", raw)})

    @staticmethod
    def _comments(raw: str) -> dict[str, str]:
        """The comment before a function, by its name. Functions right below each other share it."""
        found: dict[str, str] = {}
        for match in re.finditer(r"/\*((?:(?!\*/).)*)\*/\n((?:(?!/\*|\n\n|[{}]).)*)", raw, flags=re.S):
            text = re.sub(r"\s*\n\s*\*?\s*", " ", match.group(1)).strip()
            for name in re.findall(r"\b(\w+)\([^;{}]*\);", match.group(2)):
                found.setdefault(name, text)
        return found

    def _declarations(self, text: str, comments: dict[str, str], inline: set[str]) -> None:
        position = 0
        pattern = re.compile(r"typedef\s+(enum|struct)\s+(\w+)\s*\{(.*?)\}\s*\w+\s*;", flags=re.S)
        plain = []
        for match in pattern.finditer(text):
            plain.append(text[position : match.start()])
            position = match.end()
            if match.group(1) == "enum":
                self._enum(match.group(2), match.group(3))
            else:
                self._struct(match.group(2), match.group(3))
        plain.append(text[position:])
        for statement in "".join(plain).split(";"):
            statement = " ".join(statement.replace("}", " ").split())
            opaque = re.fullmatch(r"typedef struct (\w+) \w+", statement)
            function = re.fullmatch(r"([\w\s*]+?)\b(\w+)\(([^()]*)\)", statement)
            if opaque:
                self.opaque.add(opaque.group(1))
            elif function and not statement.startswith("typedef"):
                name = function.group(2)
                if name not in inline and name not in LEFT_OUT:
                    self._function(function.group(1), name, function.group(3), comments.get(name, ""))

    def _enum(self, name: str, body: str) -> None:
        following = 0
        self.enums[name] = []
        for part in filter(None, (part.strip() for part in body.split(","))):
            key, _, value = (piece.strip() for piece in part.partition("="))
            number = self.value(value) if value else following
            assert number is not None, part
            self.constants[key] = number
            self.enums[name].append(key)
            following = int(number) + 1

    def _struct(self, name: str, body: str) -> None:
        members = []
        for statement in filter(None, (" ".join(part.split()) for part in body.split(";"))):
            hook = re.match(r"[\w\s*]+\(\*(\w+)\)\(", statement)
            if hook:
                members.append(Member(hook.group(1), "void", True, 0))
                continue
            words = re.match(r"(?:const )?(?:struct )?(\w+)\s+(.*)", statement)
            assert words, statement
            for piece in words.group(2).split(","):
                match = re.fullmatch(r"\s*(\**)\s*(\w+)\s*((?:\[\s*\w+\s*\]\s*)*)", piece)
                assert match, statement
                sizes = re.findall(r"\w+", match.group(3))  # arrays of arrays are flat on the other side
                number = math.prod(int(size) if size.isdigit() else int(self.constants[size]) for size in sizes) if sizes else 0
                members.append(Member(match.group(2), words.group(1), bool(match.group(1)), number))
        struct = Struct(name, members)
        for member in members:
            size, align = self.measure(member)
            struct.size = -(-struct.size // align) * align
            struct.offsets.append(struct.size)
            struct.size += size * max(member.count, 1)
            struct.align = max(struct.align, align)
        struct.size = -(-struct.size // struct.align) * struct.align
        self.structs[name] = struct

    def measure(self, member: Member) -> tuple[int, int]:
        if member.pointer or member.type in self.enums:
            return 4, 4
        if member.type in SCALARS:
            size = SCALARS[member.type][1]
            return size, size
        struct = self.structs[member.type]
        return struct.size, struct.align

    def _parameter(self, text: str) -> Parameter:
        match = re.fullmatch(r"(const )?(?:struct )?(\w+)((?:\s*\*\s*(?:const\b)?)*)\s*(\w*)\s*(\[\w*\])?", text.strip())
        assert match, text
        stars = match.group(3).count("*") + (1 if match.group(5) else 0)
        return Parameter(match.group(4), match.group(2), stars, bool(match.group(1)))

    def _function(self, returns: str, name: str, parameters: str, comment: str) -> None:
        listed = [] if parameters.strip() in ("void", "") else parameters.split(",")
        result = self._parameter(returns.strip())
        function = Function(name, result, [self._parameter(one) for one in listed], comment)
        for one in function.parameters:  # a structure of one number would travel as that number
            if one.stars == 0 and one.type in self.structs:
                assert len(self.structs[one.type].members) > 1, name
        self.functions.append(function)

    # ---- writing ----

    def code(self, p: Parameter) -> str:
        """void, a scalar, s:STRUCT (by value), p:STRUCT or c:STRUCT (pointer, const pointer), str, p or c (any other pointer)."""
        if p.stars:
            if p.type == "char" and p.const and p.stars == 1:
                return "str"
            kind = "c" if p.const else "p"
            return f"{kind}:{p.type}" if p.stars == 1 and p.type in self.structs else kind
        if p.type in self.enums:
            return "u32"
        return "void" if p.type == "void" else SCALARS[p.type][0] if p.type in SCALARS else f"s:{p.type}"

    def script_type(self, p: Parameter, is_result: bool) -> str:
        code = self.code(p)
        if code == "void":
            return "void"
        if code == "str":
            return "string | null" if is_result else "string | Address | null"
        if code.startswith("s:"):
            return p.type
        if code[0] in "pc" and code[1:2] in ("", ":"):
            if is_result:
                return "Address"
            of = f" | {p.type}" if ":" in code else " | TypedArray" if p.type in SCALARS or p.type == "void" else ""
            of += " | TypedArray" if ":" in code else ""
            return f"Address{of} | null"
        if p.type in self.enums:
            return "number"
        return SCALARS[p.type][2]

    def typescript(self) -> str:
        out = ["// Made by web/bindings.py from the C headers; not to be changed by hand.", "/* eslint-disable */"]
        out.append("/** A place in the module's memory. */\nexport type Address = number;")
        out.append("export type TypedArray = Float32Array | Float64Array | Uint32Array | Int32Array | Uint8Array;")
        out.append("/** Every constant and enumerator of the headers. */\nexport const LM = {")
        out += [f"    {name}: {value}," for name, value in self.constants.items() if name not in KNOWN]
        out.append("} as const;")
        for struct in self.structs.values():
            out.append(f"export interface {struct.name} {{")
            for m in struct.members:
                kind = "Address | TypedArray | string" if m.pointer else None
                kind = kind or ("number" if m.type in self.enums else SCALARS[m.type][2] if m.type in SCALARS else m.type)
                if m.count:
                    kind = "string" if m.type == "char" else f"{kind}[]"
                out.append(f"    {m.name}: {kind};")
            out.append("}")
        out.append("/** The functions of the headers. Structures are plain objects, which are filled in where C fills in. */")
        out.append("export interface Raw {")
        for f in self.functions:
            given = ", ".join(f"{p.name}: {self.script_type(p, False)}" for p in f.parameters)
            if f.comment:
                out.append(f"    /** {f.comment} */")
            out.append(f"    {f.name}({given}): {self.script_type(f.returns, True)};")
        out.append("}")
        out.append("/** [bytes, [name, code, offset, length of an array or 0]...] */")
        out.append("export const layouts: Record<string, [number, ...[string, string, number, number][]]> = {")
        for struct in self.structs.values():
            parts = [str(struct.size)]
            for m, offset in zip(struct.members, struct.offsets):
                code = "p" if m.pointer else "u32" if m.type in self.enums else SCALARS.get(m.type, (f"s:{m.type}",))[0]
                code = "str" if m.count and m.type == "char" else code
                parts.append(f'["{m.name}", "{code}", {offset}, {m.count}]')
            out.append(f"    {struct.name}: [{', '.join(parts)}],")
        out.append("};")
        out.append("/** [what it returns, parameters...] */")
        out.append("export const signatures: Record<string, string[]> = {")
        for f in self.functions:
            codes = [self.code(f.returns)] + [self.code(p) for p in f.parameters]
            out.append(f"    {f.name}: [{', '.join(repr(code) for code in codes)}],".replace("'", '"'))
        out.append("};")
        return "\n".join(out) + "\n"

    def layout_check(self) -> str:
        out = ["/* Made by web/bindings.py: structures are laid out as JavaScript believes. */", "#include <stddef.h>"]
        out += [f'#include "{header.removeprefix("include/")}"' for header in HEADERS]
        for struct in self.structs.values():
            out.append(f'_Static_assert(sizeof({struct.name}) == {struct.size}, "{struct.name}");')
            for member, offset in zip(struct.members, struct.offsets):
                place = f"offsetof({struct.name}, {member.name})"
                out.append(f'_Static_assert({place} == {offset}, "{struct.name}.{member.name}");')
        return "\n".join(out) + "\n"


def main(source: Path, output: Path) -> None:
    headers = Headers()
    for header in HEADERS:
        headers.read(source / header)
    output.mkdir(parents=True, exist_ok=True)
    (output / "raw.ts").write_text(headers.typescript(), encoding="utf-8")
    (output / "layout_check.c").write_text(headers.layout_check(), encoding="utf-8")
    exports = "".join(f"--export={function.name}\n" for function in headers.functions)
    (output / "exports.txt").write_text(exports, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
