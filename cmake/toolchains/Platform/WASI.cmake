# CMake 3.25 does not know WASI: programs end in .wasm, and everything is static.
set(WASI 1)
set(CMAKE_EXECUTABLE_SUFFIX ".wasm")
set_property(GLOBAL PROPERTY TARGET_SUPPORTS_SHARED_LIBS FALSE)
