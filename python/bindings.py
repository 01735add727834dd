"""Writes the C sources of the extension modules: bindings.py limber|draw SOURCE_DIR OUTPUT.

limber   the library, and with it scenes, shapes, readers of meshes, exporters and what host.h has
draw     the renderer, which needs SDL2 and OpenGL; apart from the rest, so that nothing else does
"""

from __future__ import annotations

import sys
from pathlib import Path

from cffi import FFI

from declarations import declare

LIMBER_HEADERS = [
    "include/limber/limber.h",
    "include/limber/mesh.h",
    "include/limber/cache.h",
    "include/limber/tets.h",
    "include/limber/export.h",
    "include/limber/seams.h",
    "include/limber/capture.h",
    "include/limber/shapes.h",
    "include/limber/scene.h",
    "python/host.h",
]
# Functions of Python that the library calls: what a world does before each substep (World.substep_function).
CALLED_BACK = 'extern "Python" void limber_python_substep(lm_world *, double, void *);'
DRAW_HEADERS = ["draw/image.h", "draw/draw.h", "support/system.h"]

# From headers of C itself, or too much for the rest of the header: what is left out of the declarations.
LEFT_OUT = {
    "support/system.h": ["FILE *"],
}


def declarations(source: Path, headers: list[str]) -> str:
    parts = []
    for header in headers:
        text = declare(source / header)
        for words in LEFT_OUT.get(header, []):
            text = ";".join(part for part in text.split(";") if words not in part)
        parts.append(text)
    return "\n".join(parts)


def source_text(headers: list[str]) -> str:
    # Paths are those that the sources of the project use.
    names = [header.removeprefix("include/") for header in headers]
    return "\n".join(f'#include "{name}"' for name in names)


def make(kind: str, source: Path) -> FFI:
    limber = FFI()
    limber.cdef(declarations(source, LIMBER_HEADERS))
    limber.cdef(CALLED_BACK)
    limber.set_source("limber._limber", source_text(LIMBER_HEADERS))
    if kind == "limber":
        return limber
    draw = FFI()
    draw.include(limber)
    draw.cdef(declarations(source, DRAW_HEADERS))
    draw.set_source("limber._draw", source_text([*LIMBER_HEADERS, *DRAW_HEADERS]))
    return draw


if __name__ == "__main__":
    make(sys.argv[1], Path(sys.argv[2])).emit_c_code(sys.argv[3])
