// Bodies and colliders.
#include "frame.glsl"
#include "light.glsl"

uniform float opacity; // 1, or less where what is inside is to be seen: then without shadows

in vec3 at, facing, albedo;
out vec4 colour;

void main()
{
    vec3 to_eye = normalize(-at);
    vec3 normal = dot(facing, facing) > 0.0 ? normalize(facing) : to_eye;
    normal = gl_FrontFacing ? normal : -normal;
#ifdef INSIDE
    vec2 seen = textureLod(visibility, gl_FragCoord.xy * size.zw, 0.0).rg; // seldom looked at: as good as need be
#else
    vec2 seen = visible(gl_FragCoord.z);
#endif
    seen = opacity < 1.0 ? vec2(1.0) : seen;
#ifdef MATT
    const float gloss = 0.25;
#else
    const float gloss = 1.0;
#endif
    colour = vec4(shown(shade(albedo, normal, to_eye, seen, gloss)).rgb, opacity);
}
