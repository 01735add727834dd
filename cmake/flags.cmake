# limber_flags: what every source of the project is compiled with.

add_library(limber_flags INTERFACE)

# Plain C17. A file that needs a POSIX function defines _POSIX_C_SOURCE itself, before its first include.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
if(NOT WASI) # where everything is linked into one module, and addresses are cheaper without
    set(CMAKE_POSITION_INDEPENDENT_CODE ON)
endif()

# For programs that measure with clock(). Web assembly has no clock of what a program has worked: there it is that of the wall, where it is
# asked for.
add_library(limber_process_clock INTERFACE)
if(WASI)
    target_compile_definitions(limber_process_clock INTERFACE _WASI_EMULATED_PROCESS_CLOCKS)
    target_link_libraries(limber_process_clock INTERFACE wasi-emulated-process-clocks)
endif()

# No fused multiply-add behind our back: results must be the same bits on every instruction set and compiler.
if(MSVC)
    target_compile_options(limber_flags INTERFACE /utf-8 /W3 /fp:precise)
    target_compile_definitions(limber_flags INTERFACE _CRT_SECURE_NO_WARNINGS)
    if(CMAKE_C_COMPILER_ID MATCHES Clang)
        target_compile_options(limber_flags INTERFACE /clang:-ffp-contract=off)
    else()
        target_compile_options(limber_flags INTERFACE $<$<COMPILE_LANGUAGE:C>:/experimental:c11atomics>)
    endif()
    return()
endif()

target_compile_options(limber_flags INTERFACE -ffp-contract=off)
if(WIN32)
    # printf and its relatives as C has them, and checked as such.
    target_compile_definitions(limber_flags INTERFACE __USE_MINGW_ANSI_STDIO=1)
endif()
if(CMAKE_C_SIZEOF_DATA_PTR EQUAL 4 AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(i.86|x86)$")
    # The old floating-point unit keeps more bits than a double has.
    target_compile_options(limber_flags INTERFACE -msse2 -mfpmath=sse)
endif()

target_compile_options(limber_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wvla -Wundef -Wwrite-strings
    $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition>)
if(LIMBER_WERROR)
    target_compile_options(limber_flags INTERFACE -Werror)
endif()

if(LIMBER_SANITIZE)
    target_compile_options(limber_flags INTERFACE
        -fsanitize=${LIMBER_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(limber_flags INTERFACE -fsanitize=${LIMBER_SANITIZE})
endif()

# Fuzzing is guided by what the sources do with an input, so they all report it.
if(LIMBER_BUILD_FUZZ)
    target_compile_options(limber_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
