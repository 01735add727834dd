// A body's surface, deformed already.
#include "frame.glsl"
#include "depth.glsl"

layout(location = 0) in vec4 position;
#ifndef DEPTH_ONLY
layout(location = 1) in vec3 normal;
layout(location = 2) in vec4 colour; // sRGB
layout(location = 3) in float value; // of the colour map

#include "colour.glsl"

out vec3 at, facing, albedo;
#endif

void main()
{
#ifndef DEPTH_ONLY
    at = position.xyz;
    facing = normal;
    albedo = vertex_colour(colour, value);
#endif
    gl_Position = TO_CLIP * vec4(position.xyz, 1.0);
}
