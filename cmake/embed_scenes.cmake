# Writes the built-in scenes as C: scene_builtin_name and scene_builtin_text of scene/scene.h.
#
#     cmake -D FILES=a.json;b.json -D OUTPUT=builtin_scenes.c -P embed_scenes.cmake
#
# Each file becomes an array of bytes that ends with a zero: a string literal would be limited in length.

set(arrays "")
set(table "")
foreach(file IN LISTS FILES)
    get_filename_component(name ${file} NAME_WE)
    string(MAKE_C_IDENTIFIER ${name} identifier)
    file(READ ${file} bytes HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(REGEX REPLACE "(....,....,....,....,....,....,....,....,....,....,....,....,....,....,....,....,)" "\\1\n"
        bytes "${bytes}")
    string(APPEND arrays "static const unsigned char text_${identifier}[] = {\n${bytes}0};\n\n")
    string(APPEND table "    {\"${name}\", (const char *)text_${identifier}},\n")
endforeach()

file(WRITE ${OUTPUT} "/* Made by cmake/embed_scenes.cmake from scenes/. */
#include \"scene/scene.h\"

#include <string.h>

${arrays}static const struct {
    const char *name;
    const char *text;
} scenes[] = {
${table}    {NULL, NULL},
};

const char *scene_builtin_name(uint32_t index)
{
    return index < sizeof scenes / sizeof scenes[0] ? scenes[index].name : NULL;
}

const char *scene_builtin_text(const char *name)
{
    for (uint32_t i = 0; scenes[i].name != NULL; i++) {
        if (strcmp(scenes[i].name, name) == 0) return scenes[i].text;
    }
    return NULL;
}
")
