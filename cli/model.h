/* Pictures of procedural models: each stands on a floor, seen from the front and a little to the right and above. */
#ifndef LIMBER_CLI_MODEL_H
#define LIMBER_CLI_MODEL_H

#include "limber/shapes.h"

/* One picture, or one sheet of all models with their names, into a PNG file. `def` gives the detail, and for one model its
 * name and size. Both return the exit code. */
int model_write_picture(const lm_shape_def *def, uint32_t width, uint32_t height, const char *path);
int model_write_sheet(const lm_shape_def *def, uint32_t tile_width, uint32_t tile_height, const char *path);

#endif
