/*
 * Video: pictures of one size, one after the other, into an MP4 file (H.264, yuv420p).
 *
 * The `ffmpeg` program does the work, fed through a pipe: nothing of it is linked.
 */
#ifndef LIMBER_DRAW_VIDEO_H
#define LIMBER_DRAW_VIDEO_H

#include "draw/image.h"

typedef struct video video;

/* Starts ffmpeg. Width and height must be even (H.264 halves the colours' resolution). Null and *error when ffmpeg is not
 * there, or the file cannot be written. */
video *video_open(const char *path, uint32_t width, uint32_t height, uint32_t frames_a_second, image_error *error);

/* The next frame. False when ffmpeg has failed: *error has its own last words. */
bool video_add(video *video, const image *frame, image_error *error);

/* Ends the file and puts it in its place. Frees the video in any case; on failure nothing is left behind. */
bool video_finish(video *video, image_error *error);

/* Stops and leaves nothing behind. Null is allowed. */
void video_abandon(video *video);

#endif
