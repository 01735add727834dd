/* In the place of video.c on systems where no program can be fed through a pipe as it does. */
#include "draw/video.h"

#include <stdio.h>

video *video_open(const char *path, uint32_t width, uint32_t height, uint32_t frames_a_second, image_error *error)
{
    (void)width, (void)height, (void)frames_a_second;
    snprintf(error->text, sizeof error->text, "%.200s: no videos on this system (write pictures: --out FILE.png)",
             path);
    return NULL;
}

bool video_add(video *v, const image *frame, image_error *error)
{
    (void)v, (void)frame, (void)error;
    return false;
}

bool video_finish(video *v, image_error *error)
{
    (void)v, (void)error;
    return false;
}

void video_abandon(video *v) { (void)v; }
