// Boxes with rounded edges, balls and capsules from one mesh: a ball of `radius` whose eight parts are moved apart by `half`.
#include "frame.glsl"
#include "depth.glsl"

layout(location = 0) in vec3 direction; // on the ball
layout(location = 1) in vec3 corner;    // which part of it, -1 or 1 each way
layout(location = 2) in vec4 first;     // rows of rotation and position
layout(location = 3) in vec4 second;
layout(location = 4) in vec4 third;
layout(location = 5) in vec4 extent; // half, radius
layout(location = 6) in vec4 colour; // linear

#ifndef DEPTH_ONLY
out vec3 at, facing, albedo;
#endif

void main()
{
    vec4 local = vec4(direction * extent.w + corner * extent.xyz, 1.0);
    vec3 position = vec3(dot(first, local), dot(second, local), dot(third, local));
#ifndef DEPTH_ONLY
    at = position;
    facing = vec3(dot(first.xyz, direction), dot(second.xyz, direction), dot(third.xyz, direction));
    albedo = colour.rgb;
#endif
    gl_Position = TO_CLIP * vec4(position, 1.0);
}
