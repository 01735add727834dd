/* Pictures and videos out of the viewer. */
#ifndef LIMBER_VIEWER_CAPTURE_H
#define LIMBER_VIEWER_CAPTURE_H

#include "draw/image.h"
#include "draw/video.h"

typedef struct capture {
    video *video;         /* while recording */
    image frame;          /* the next one of the video, in the video's size */
    char path[512];       /* of the video */
    uint32_t frames;      /* in it so far */
    char screenshot[512]; /* to be taken when the window is drawn, or "" */
} capture;

/* A video of this size (made even), a frame for each step of the simulation. */
bool capture_begin(capture *capture, const char *path, uint32_t width, uint32_t height, uint32_t rate,
                   image_error *error);

/* One more frame: what is in `frame`. On failure the recording ends. */
bool capture_add(capture *capture, image_error *error);

/* Ends it. */
bool capture_finish(capture *capture, image_error *error);
void capture_abandon(capture *capture);

/* The framebuffer that is bound for reading, as a PNG file. */
bool capture_window(const char *path, uint32_t width, uint32_t height, image_error *error);

#endif
