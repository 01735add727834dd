"""Makes a wheel of the package that CMake has built in ../build/python. `make python` runs it; it compiles nothing itself."""

import os
import re
from pathlib import Path

from setuptools import Distribution, setup

HERE = Path(__file__).resolve().parent
os.chdir(HERE)  # setuptools takes paths as relative to the folder that it runs in
BUILT = os.environ.get("LIMBER_PYTHON_PACKAGE", "../build/python")


def version() -> str:
    header = (HERE / "../include/limber/limber.h").read_text()
    parts = [re.search(rf"#define LM_VERSION_{part} (\d+)", header) for part in ("MAJOR", "MINOR", "PATCH")]
    return ".".join(part.group(1) for part in parts if part)


class Built(Distribution):
    """A package with modules of machine code."""

    def has_ext_modules(self) -> bool:
        return True


setup(
    name="limber",
    version=version(),
    description="Real-time deformable bodies by shape matching",
    license="MIT",
    packages=["limber"],
    package_dir={"limber": f"{BUILT}/limber"},
    package_data={"limber": ["*.abi3.so", "py.typed"]},
    python_requires=">=3.9",
    install_requires=["cffi>=1.15", "numpy>=1.20"],
    distclass=Built,
    zip_safe=False,
    options={"bdist_wheel": {"py_limited_api": "cp39"}},
)
