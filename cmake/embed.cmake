# Files compiled in as text.
#
#     include(cmake/embed.cmake)
#     limber_embed(OUTPUT NAME FILES...)
#
# makes a rule that writes OUTPUT, a C file with the table `const embedded_text NAME[]` (cmake/embedded.h): the name of each
# file (without .json), its text, and nulls at the end. Each text is an array of bytes that ends with a zero: a string literal would be
# limited in length. Run as a script (cmake -P) it is the rule itself.

function(limber_embed output name)
    add_custom_command(
        OUTPUT ${output}
        COMMAND ${CMAKE_COMMAND} -D "FILES=${ARGN}" -D OUTPUT=${output} -D NAME=${name}
            -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
        DEPENDS ${ARGN} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
        COMMENT "Embedding ${name}"
        VERBATIM)
endfunction()

if(NOT CMAKE_SCRIPT_MODE_FILE)
    return()
endif()

set(arrays "")
set(table "")
foreach(file IN LISTS FILES)
    get_filename_component(name ${file} NAME)
    string(REGEX REPLACE "[.]json$" "" name ${name})
    string(MAKE_C_IDENTIFIER ${name} identifier)
    file(READ ${file} bytes HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(REGEX REPLACE "(....,....,....,....,....,....,....,....,....,....,....,....,....,....,....,....,)" "\\1\n"
        bytes "${bytes}")
    string(APPEND arrays "static const unsigned char text_${identifier}[] = {\n${bytes}0};\n\n")
    string(APPEND table "    {\"${name}\", (const char *)text_${identifier}},\n")
endforeach()

file(WRITE ${OUTPUT} "/* Made by cmake/embed.cmake. */
#include \"cmake/embedded.h\"

${arrays}const embedded_text ${NAME}[] = {
${table}    {0, 0},
};
")
