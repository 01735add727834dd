# Writes shaders as C: draw_shader_text of draw/internal.h.
#
#     cmake -D FILES=a.vert;b.frag -D OUTPUT=shaders.c -P embed_shaders.cmake
#
# Each file becomes an array of bytes that ends with a zero: a string literal would be limited in length.

set(arrays "")
set(table "")
foreach(file IN LISTS FILES)
    get_filename_component(name ${file} NAME)
    string(MAKE_C_IDENTIFIER ${name} identifier)
    file(READ ${file} bytes HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(REGEX REPLACE "(....,....,....,....,....,....,....,....,....,....,....,....,....,....,....,....,)" "\\1\n"
        bytes "${bytes}")
    string(APPEND arrays "static const unsigned char text_${identifier}[] = {\n${bytes}0};\n\n")
    string(APPEND table "    {\"${name}\", (const char *)text_${identifier}},\n")
endforeach()

file(WRITE ${OUTPUT} "/* Made by cmake/embed_shaders.cmake from draw/shaders. */
#include \"draw/internal.h\"

#include <string.h>

${arrays}static const struct {
    const char *name;
    const char *text;
} shaders[] = {
${table}    {NULL, NULL},
};

const char *draw_shader_text(const char *name)
{
    for (int i = 0; shaders[i].name != NULL; i++) {
        if (strcmp(shaders[i].name, name) == 0) return shaders[i].text;
    }
    return NULL;
}
")
