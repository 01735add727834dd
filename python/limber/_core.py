"""What all modules share: the library, errors, and arrays on their way in and out."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, Mapping, Sequence, Tuple, Type, TypeVar, Union

import numpy as np
import numpy.typing as npt

from . import _limber  # type: ignore[attr-defined]

ffi: Any = _limber.ffi
lib: Any = _limber.lib

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float32]
Indices = npt.NDArray[np.uint32]
Vector = Union[Sequence[float], Array]
Id = Tuple[int, int]


# ---- errors ----


class LimberError(Exception):
    """Something that the library refused. ``result`` is the name of its ``lm_result``, ``line`` what it wrote to its log."""

    result = ""

    def __init__(self, text: str, line: str = "") -> None:
        super().__init__(text)
        self.line = line


class ArgumentError(LimberError, ValueError):
    """A value is out of its range, not finite, or contradicts another."""

    result = "LM_ERROR_ARGUMENT"


class IdError(LimberError, LookupError):
    """The body, collider or the like was destroyed, or belongs to another world."""

    result = "LM_ERROR_ID"


class OutOfMemoryError(LimberError, MemoryError):
    """An allocation failed; nothing was changed."""

    result = "LM_ERROR_MEMORY"


class LimitError(LimberError):
    """More than the engine can hold."""

    result = "LM_ERROR_LIMIT"


class CapacityError(LimberError):
    """A buffer is too small, or worlds of a batch are not alike."""

    result = "LM_ERROR_CAPACITY"


class FormatError(LimberError, ValueError):
    """A snapshot is truncated or damaged; also a file that cannot be read or written as asked."""

    result = "LM_ERROR_FORMAT"


class VersionError(LimberError, ValueError):
    """A snapshot was written by an incompatible version."""

    result = "LM_ERROR_VERSION"


class UnsupportedError(LimberError):
    """This machine lacks the instruction set, driver or program that was asked for."""

    result = "LM_ERROR_UNSUPPORTED"


class ClosedError(LimberError, ValueError):
    """The world or scene was closed."""


ERRORS: dict[int, Type[LimberError]] = {
    getattr(lib, kind.result): kind
    for kind in (
        ArgumentError,
        IdError,
        OutOfMemoryError,
        LimitError,
        CapacityError,
        FormatError,
        VersionError,
        UnsupportedError,
    )
}


def text(pointer: Any) -> str:
    """A C string."""
    return str(ffi.string(pointer).decode("utf-8", "replace")) if pointer != ffi.NULL else ""


def error_of(result: int, line: str = "") -> LimberError:
    """The exception for an ``lm_result`` other than ``LM_OK``."""
    return ERRORS.get(result, LimberError)(line or text(lib.lm_result_text(result)), line)


def check(result: int, line: str = "") -> None:
    if result != lib.LM_OK:
        raise error_of(result, line)


# ---- words for enumerations ----


def words(enum: str, prefix: str) -> dict[str, int]:
    """``{"rigid": 0, ...}`` for an enumeration of the library."""
    elements = ffi.typeof(enum).elements
    return {
        name[len(prefix) :].lower(): value
        for value, name in elements.items()
        if not name.endswith("_COUNT") or enum == "lm_result"
    }


def choose(value: str, known: Mapping[str, int], name: str) -> int:
    if value not in known:
        raise ArgumentError(f"{name}: is {value!r} (expected one of {', '.join(known)})")
    return known[value]


def word_of(value: int, known: Mapping[str, int]) -> str:
    return next(word for word, number in known.items() if number == value)


# ---- numbers ----


def number(value: Any, name: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ArgumentError(f"{name}: is {value!r} (expected a number)") from None


def count(value: Any, name: str, largest: int = 2**32 - 1) -> int:
    try:
        whole = value.__index__()
    except AttributeError:
        raise ArgumentError(f"{name}: is {value!r} (expected a whole number)") from None
    if not 0 <= whole <= largest:
        raise ArgumentError(f"{name}: is {whole} (expected 0 to {largest})")
    return int(whole)


def plain(value: Any, name: str) -> Any:
    """A number of either kind, for a member of a structure that wants it."""
    return count(value, name) if isinstance(value, (int, np.integer)) else number(value, name)


def vector(value: Vector, name: str, length: int = 3) -> tuple[float, ...]:
    array = np.asarray(value)
    if array.shape != (length,) or array.dtype.kind not in "fiu":
        raise ArgumentError(f"{name}: expected {length} numbers")
    return tuple(float(x) for x in array)


def to_array(value: Any) -> Array:
    """A vector or quaternion of the library."""
    parts = [value.x, value.y, value.z] + ([value.w] if hasattr(value, "w") else [])
    return np.array(parts, dtype=np.float64)


# ---- arrays in ----


def floats(value: Any, columns: int, name: str, dtype: Any = np.float32) -> Array:
    """``value`` as rows of ``columns`` floats that the library can read (a copy unless it is so already). 0: a flat list."""
    array = np.asarray(value)
    if array.dtype.kind not in "fiu":
        raise ArgumentError(f"{name}: is an array of {array.dtype} (expected numbers)")
    if columns == 0 and array.ndim != 1:
        raise ArgumentError(f"{name}: has the shape {array.shape} (expected one dimension)")
    if columns > 0 and (array.ndim != 2 or array.shape[1] != columns):
        raise ArgumentError(f"{name}: has the shape {array.shape} (expected (n, {columns}))")
    with np.errstate(over="ignore", invalid="ignore"):
        return np.ascontiguousarray(array, dtype=dtype)


def indices(value: Any, columns: int, name: str) -> Indices:
    """The same for indices, which must be whole numbers from 0 to 2^32 - 1."""
    array = np.asarray(value)
    if array.size == 0:
        array = array.astype(np.uint32)
    if array.dtype.kind not in "iu":
        raise ArgumentError(f"{name}: is an array of {array.dtype} (expected whole numbers)")
    if columns == 0 and array.ndim != 1:
        raise ArgumentError(f"{name}: has the shape {array.shape} (expected one dimension)")
    if columns > 0 and (array.ndim != 2 or array.shape[1] != columns):
        raise ArgumentError(f"{name}: has the shape {array.shape} (expected (n, {columns}))")
    if array.size and (int(array.min()) < 0 or int(array.max()) > 0xFFFFFFFF):
        raise ArgumentError(f"{name}: has numbers that are no indices (expected 0 to 2^32 - 1)")
    return np.ascontiguousarray(array, dtype=np.uint32)


def per(value: Any, length: int, name: str, what: str) -> Floats:
    """One float for each of ``length`` things."""
    array = floats(value, 0, name)
    if len(array) != length:
        raise ArgumentError(f"{name}: has {len(array)} values (expected {length}, one for each {what})")
    return array


def pointer(kind: str, array: Array) -> Any:
    """A C array over a contiguous array, which it keeps alive."""
    return ffi.from_buffer(f"{kind}[]", array)


# ---- arrays out ----


def output(out: Array | None, shape: tuple[int, ...], dtype: Any, name: str = "out") -> Array:
    """``out`` where it can be written to, or a new array."""
    if out is None:
        return np.empty(shape, dtype=dtype)
    if not isinstance(out, np.ndarray) or out.dtype != np.dtype(dtype) or not out.dtype.isnative:
        raise ArgumentError(f"{name}: expected an array of {np.dtype(dtype)}")
    if out.shape != shape:
        raise ArgumentError(f"{name}: has the shape {out.shape} (expected {shape})")
    if not out.flags.c_contiguous or not out.flags.writeable:
        raise ArgumentError(f"{name}: expected an array that is contiguous and can be written to")
    return out


# ---- records ----

T = TypeVar("T")


def record(kind: Type[T], value: Any, **others: Any) -> T:
    """A dataclass from a C structure that has members of the same names."""
    fields = {}
    for field in dataclasses.fields(kind):
        if field.name in others:
            fields[field.name] = others[field.name]
            continue
        member = getattr(value, field.name)
        if isinstance(member, ffi.CData) and ffi.typeof(member).kind == "struct":
            member = to_array(member)
        elif isinstance(member, ffi.CData) and ffi.typeof(member).kind == "array":
            member = np.array(list(member))
        fields[field.name] = member
    return kind(**fields)


Call = Callable[..., Any]
