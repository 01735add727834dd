// A plane, as a large square around a point.
#include "frame.glsl"
#include "depth.glsl"

uniform vec3 middle, across, along; // across and along are half its sides

out vec3 at;
out vec2 from_middle; // -1 to 1

void main()
{
    from_middle = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
    at = middle + across * from_middle.x + along * from_middle.y;
    gl_Position = TO_CLIP * vec4(at, 1.0);
}
