/* PNG files, through stb_image_write. */
#include "draw/image.h"
#include "support/partial.h"

#if LIMBER_HAS_STB

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#include <stb/stb_image_write.h>

typedef struct png_output {
    partial_file *file;
    bool called;
} png_output;

static void take(void *context, void *bytes, int size)
{
    png_output *output = context;
    output->called = true;
    lmi_partial_write(output->file, bytes, (size_t)size);
}

bool image_write_png(const char *path, const image *picture, image_error *error)
{
    partial_file file;
    if (!lmi_partial_open(&file, path, error->text)) {
        return false;
    }
    png_output output = {.file = &file};
    stbi_write_png_compression_level = 20; /* smaller than by default, for a third more time */
    int width = (int)picture->width, height = (int)picture->height;
    if (!stbi_write_png_to_func(take, &output, width, height, 3, picture->pixels, 3 * width) || !output.called) {
        lmi_partial_drop(&file);
        snprintf(error->text, sizeof error->text, "%.300s: out of memory", path);
        return false;
    }
    return lmi_partial_keep(&file, error->text);
}

#else

bool image_write_png(const char *path, const image *picture, image_error *error)
{
    (void)picture;
    snprintf(error->text, sizeof error->text, "%.300s: this build cannot write PNG files (libstb-dev was missing)",
             path);
    return false;
}

#endif
