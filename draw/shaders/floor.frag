// Floors. A level one is the backdrop itself where nothing stands in the light, so that it has no edge, and darker in shadows
// and corners. Slopes, and floors that were given a colour, are lit as everything else is and fade out into the backdrop.
#include "frame.glsl"
#include "light.glsl"
#include "backdrop.glsl"

uniform vec4 tint;   // linear light; w: 1 where it counts
uniform vec3 normal;

in vec3 at;
in vec2 from_middle;
out vec4 colour;

void main()
{
    vec2 seen = visible(gl_FragCoord.z);
    float away = length(at - look_at.xyz) / look_at.w;
    seen = mix(seen, vec2(1.0), smoothstep(1.5, 6.0, away)); // shadows fade out where the floor does
    vec3 behind = backdrop(at);
    vec3 light = behind * mix(vec3(0.40, 0.43, 0.49), vec3(1.0), seen.x) * mix(0.25, 1.0, seen.y);
    if (tint.w > 0.0) {
        vec3 own = shade(tint.rgb, normal, normalize(-at), seen, 0.0);
        light = mix(own, behind, smoothstep(0.6, 2.2, away));
    }
    colour = shown(light);
}
