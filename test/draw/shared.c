#include "test/draw/shared.h"

draw *d;

int open_shared(void **context)
{
    (void)context;
    d = open_renderer(WIDTH, HEIGHT);
    return 0;
}

int close_shared(void **context)
{
    (void)context;
    draw_close(d);
    return 0;
}

image shoot(const lm_world *world, const draw_settings *settings)
{
    return make_picture(d, world, settings, WIDTH, HEIGHT);
}

double difference(const lm_world *world, const draw_settings *a, const draw_settings *b)
{
    image first = shoot(world, a), second = shoot(world, b);
    double mean = mean_difference(&first, &second);
    image_free(&first);
    image_free(&second);
    return mean;
}
