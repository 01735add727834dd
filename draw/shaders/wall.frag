// Steep planes: a pane of frosted glass that fades out.
#include "frame.glsl"
#include "tone.glsl"

uniform vec4 tint;

in vec3 at;
in vec2 from_middle;
out vec4 colour;

void main()
{
    vec2 edge = abs(from_middle);
    float share = (1.0 - smoothstep(0.5, 1.0, edge.x)) * (1.0 - smoothstep(-1.0, 0.6, from_middle.y));
    colour = vec4(shown(tint.rgb).rgb, tint.a * share);
}
