// Balls: a square that covers each, in which the fragment shader finds the ball itself.
#include "frame.glsl"
#include "depth.glsl"

#ifdef DEPTH_ONLY
uniform bool from_light;
#endif

layout(location = 0) in vec4 ball; // middle and radius
layout(location = 1) in vec4 colour; // sRGB, opacity

out vec3 at;
flat out vec4 middle;
flat out vec4 own;
out vec2 corner;

void main()
{
    corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
    middle = ball;
    own = colour;
    float away = length(ball.xyz), radius = ball.w;
    vec3 towards = away > 0.0 ? ball.xyz / away : forward.xyz;
#ifdef DEPTH_ONLY
    if (from_light) towards = -to_light.xyz;
    else
#endif
        radius *= inversesqrt(max(1.0 - radius * radius / max(away * away, 1e-30), 0.05)); // seen from near, it hides more
    vec3 x = normalize(cross(towards, abs(towards.y) < 0.9 ? vec3(0.0, 1.0, 0.0) : vec3(1.0, 0.0, 0.0)));
    at = ball.xyz + radius * (corner.x * x + corner.y * cross(x, towards));
    gl_Position = TO_CLIP * vec4(at, 1.0);
}
