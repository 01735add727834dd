// Averages visibility over the square of 4 by 4 pixels in which every turn of the samples comes once, where it is of the same
// surface.
#include "frame.glsl"

uniform sampler2D rough_visibility;
uniform sampler2D scene_depths;

in vec2 place;
out vec3 seen; // key light, surroundings, and 1 where the places around are of the same surface

void main()
{
    ivec2 here = ivec2(gl_FragCoord.xy), last = textureSize(rough_visibility, 0) - 1;
    float depth = texelFetch(scene_depths, here, 0).r;
    if (depth >= 1.0) {
        seen = vec3(1.0, 1.0, 0.0);
        return;
    }
    float metres = depth_metres(depth), total = 0.0, farthest = 0.0;
    vec2 sum = vec2(0.0);
    for (int y = -2; y < 2; y++) {
        for (int x = -2; x < 2; x++) {
            ivec2 texel = clamp(here + ivec2(x, y), ivec2(0), last);
            float away = abs(depth_metres(texelFetch(scene_depths, texel, 0).r) - metres) / metres;
            farthest = max(farthest, away);
            float weight = 1.0 / (1.0 + away * away * 2e4);
            sum += weight * texelFetch(rough_visibility, texel, 0).rg;
            total += weight;
        }
    }
    seen = vec3(sum / total, farthest < 0.02 ? 1.0 : 0.0);
}
