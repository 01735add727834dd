/* Reading the window back, and feeding videos. */
#include "viewer/capture.h"

#include <epoxy/gl.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool out_of_memory(image_error *error)
{
    snprintf(error->text, sizeof error->text, "out of memory for a picture");
    return false;
}

bool capture_begin(capture *c, const char *path, uint32_t width, uint32_t height, uint32_t rate, image_error *error)
{
    width &= ~1u;
    height &= ~1u;
    if (!image_make(&c->frame, width, height)) {
        return out_of_memory(error);
    }
    c->video = video_open(path, width, height, rate, error);
    if (c->video == NULL) {
        image_free(&c->frame);
        return false;
    }
    snprintf(c->path, sizeof c->path, "%s", path);
    c->frames = 0;
    return true;
}

bool capture_add(capture *c, image_error *error)
{
    if (!video_add(c->video, &c->frame, error)) {
        capture_abandon(c);
        return false;
    }
    c->frames++;
    return true;
}

bool capture_finish(capture *c, image_error *error)
{
    bool good = video_finish(c->video, error);
    c->video = NULL;
    image_free(&c->frame);
    return good;
}

void capture_abandon(capture *c)
{
    video_abandon(c->video);
    c->video = NULL;
    image_free(&c->frame);
}

bool capture_window(const char *path, uint32_t width, uint32_t height, image_error *error)
{
    image picture;
    size_t row = 3 * (size_t)width;
    uint8_t *flipped = malloc(row * height);
    if (flipped == NULL || !image_make(&picture, width, height)) {
        free(flipped);
        return out_of_memory(error);
    }
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glReadPixels(0, 0, (GLsizei)width, (GLsizei)height, GL_RGB, GL_UNSIGNED_BYTE, flipped);
    for (uint32_t y = 0; y < height; y++) { /* OpenGL's lowest row comes first */
        memcpy(picture.pixels + y * row, flipped + (height - 1 - y) * row, row);
    }
    free(flipped);
    bool good = image_write_png(path, &picture, error);
    image_free(&picture);
    return good;
}
