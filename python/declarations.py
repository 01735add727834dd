"""Declarations for cffi, made from C headers.

cffi reads plain declarations and no preprocessor. This turns headers of the project into such, so that the bindings are
those of the headers as they are: comments, conditions, LM_API and the bodies of inline functions go, macros become
constants, and the length of an array in a structure is left to the compiler.
"""

from __future__ import annotations

import re
from pathlib import Path

# A macro is an integer, a number with a fraction, or none of our business.
_INTEGER = re.compile(r"\(?\s*(-?(0x[0-9a-fA-F]+|\d+)[uU]?(\s*<<\s*\d+)?|UINT32_MAX)\s*\)?$")
_FRACTION = re.compile(r"\(?\s*-?\d+(\.\d+)?([eE][-+]?\d+)?[fF]?\s*\)?$")


def _without_comments(text: str) -> str:
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return re.sub(r"//[^\n]*", " ", text)


def _without_conditions(lines: list[str]) -> list[str]:
    """Leaves out #if ... #endif, except the guard around the whole header."""
    kept, depth = [], 0
    for line in lines:
        if re.match(r"\s*#\s*if(?!ndef \w+_H$)", line):
            depth += 1
        elif re.match(r"\s*#\s*endif", line):
            depth = max(0, depth - 1)
        elif depth == 0:
            kept.append(line)
    return kept


def _macro(name: str, value: str) -> str:
    if _INTEGER.match(value):
        return f"#define {name} ..."
    if _FRACTION.match(value):
        return f"static const double {name};"
    return ""


def _expand(text: str, macros: dict[str, tuple[str, str]]) -> str:
    """Expands macros with one parameter that stand for declarations, as LM_DEFINE_ID(name)."""
    for name, (parameter, body) in macros.items():
        pattern = re.compile(rf"^{name}\(\s*(\w+)\s*\)", flags=re.M)
        text = pattern.sub(lambda match: re.sub(rf"\b{parameter}\b", match.group(1), body), text)
    return text


def _declare_inline(text: str) -> str:
    return re.sub(r"static inline ([^{;]*?\))\s*\{.*?\n\}", r"\1;", text, flags=re.S)


def _leave_to_compiler(text: str) -> str:
    text = re.sub(r"\[\s*[A-Z]\w*\s*\](?=\s*[,)])", "[]", text)  # a parameter
    text = re.sub(r"\[\s*[A-Z]\w*\s*\]", "[...]", text)  # a member: char text[ERROR_SIZE]
    return re.sub(r"(\w+)\s*=\s*\d+\s*<<\s*\d+", r"\1 = ...", text)  # an enumerator 1 << 3


def declare(header: Path) -> str:
    """The declarations of one header, without those of the headers that it includes."""
    text = _without_comments(header.read_text(encoding="utf-8")).replace("\\\n", " ")
    lines = _without_conditions(text.split("\n"))
    constants, macros, rest = [], {}, []
    for line in lines:
        simple = re.match(r"\s*#\s*define\s+(\w+)\s+(.+?)\s*$", line)
        complex_ = re.match(r"\s*#\s*define\s+(\w+)\((\w+)\)\s+(.+?)\s*$", line)
        if complex_:
            macros[complex_.group(1)] = (complex_.group(2), complex_.group(3))
        elif simple:
            constants.append(_macro(simple.group(1), simple.group(2)))
        elif not re.match(r"\s*#", line):
            rest.append(line)
    body = _leave_to_compiler(_declare_inline(_expand("\n".join(rest), macros)))
    body = re.sub(r"\bLM_API\b", "", body)
    body = re.sub(r"\bLMI_PRINTF\([^)]*\)", "", body)
    return "\n".join(constant for constant in constants if constant) + "\n" + body


def public_functions(header: Path) -> list[str]:
    """Names of the functions that a header offers, found in another way than declare() does it."""
    text = _without_comments(header.read_text(encoding="utf-8"))
    return sorted(set(re.findall(r"^LM_API [^;]*?\b(lm_\w+)\(", text, flags=re.M | re.S)))
