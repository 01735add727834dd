// How much of the key light and of the surroundings reaches each place of the small picture.
//
// Key light: the mean distance of what stands in its way gives the width of the half-shadow there, over which the shadow map
// is averaged: sharp where things touch, soft far from what casts the shadow (percentage-closer soft shadows, Fernando 2005).
// Surroundings: what rises above the tangent plane nearby (ambient obscurance after McGuire et al. 2011).
// Samples are turned by another angle in each pixel of a square of 4 by 4, which the next pass averages.
#include "frame.glsl"

uniform sampler2DShadow shadow_map;
uniform sampler2D shadow_depths;
uniform sampler2D scene_depths;

in vec2 place;
out vec2 seen;

const float GOLDEN = 2.39996323; // radians between samples of an even spiral
const int BLOCKERS = 8, TAPS = 12, AROUND = 10;

vec3 position_at(ivec2 texel)
{
    ivec2 last = textureSize(scene_depths, 0) - 1;
    texel = clamp(texel, ivec2(0), last);
    float metres = depth_metres(texelFetch(scene_depths, texel, 0).r);
    return direction_at((vec2(texel) + 0.5) / vec2(last + 1)) * metres;
}

// The flat normal, from the neighbour on either side that is on the same surface.
vec3 normal_at(ivec2 texel, vec3 here)
{
    vec3 right = position_at(texel + ivec2(1, 0)) - here, left = here - position_at(texel - ivec2(1, 0));
    vec3 above = position_at(texel + ivec2(0, 1)) - here, below = here - position_at(texel - ivec2(0, 1));
    ivec2 last = textureSize(scene_depths, 0) - 1;
    bool use_right = texel.x == 0 || (texel.x < last.x && dot(right, right) < dot(left, left));
    bool use_above = texel.y == 0 || (texel.y < last.y && dot(above, above) < dot(below, below));
    vec3 normal = cross(use_right ? right : left, use_above ? above : below);
    return dot(normal, normal) > 0.0 ? normalize(normal) : -normalize(here);
}

vec2 spiral(int n, int count, float turn)
{
    float angle = float(n) * GOLDEN + turn;
    return sqrt((float(n) + 0.5) / float(count)) * vec2(cos(angle), sin(angle));
}

float key_light(vec3 here, vec3 normal, float turn)
{
    float facing = dot(normal, to_light.xyz);
    if (facing <= 0.0) return 0.0; // in its own shadow
    vec3 s = (shadow_from_eye * vec4(here + normal * shadow.z * 1.5, 1.0)).xyz;
    if (s.z >= 1.0) return 1.0;
    // How the depth changes along a plane of this normal, for samples beside the place.
    vec3 n = mat3(shadow_from_eye) * normal;
    n = vec3(n.xy / shadow.x, n.z * shadow.y); // in metres again
    vec2 slope = clamp(-n.xy / min(n.z, -1e-3), -4.0, 4.0) / (shadow.x * shadow.y);

    // As wide as half-shadows get, and no wider where the map is deep: few samples would find what casts them.
    float reach = max(min(to_light.w * shadow.y * 0.35, 0.1 * look_at.w) * shadow.x, 2.0 * shadow.w);
    float sum = 0.0, count = 0.0;
    for (int k = 0; k < BLOCKERS; k++) {
        vec2 offset = spiral(k, BLOCKERS, turn) * reach;
        float depth = textureLod(shadow_depths, s.xy + offset, 0.0).r, plane = s.z + dot(slope, offset);
        if (depth < plane - 2.0 * shadow.z / shadow.y) {
            sum += plane - depth;
            count += 1.0;
        }
    }
    if (count == 0.0) return 1.0;
    float width = clamp(sum / count * shadow.y * to_light.w * shadow.x, 1.25 * shadow.w, reach);
    float lit = 0.0;
    for (int k = 0; k < TAPS; k++) {
        vec2 offset = spiral(k, TAPS, turn) * width;
        lit += textureLod(shadow_map, vec3(s.xy + offset, s.z + dot(slope, offset) - shadow.z / shadow.y), 0.0);
    }
    lit *= smoothstep(0.0, 0.12, facing) / float(TAPS); // flat triangles of a round thing show no steps
    // The map ends four distances away from the eye, and shadows fade out before.
    return mix(lit, 1.0, smoothstep(2.8, 3.9, dot(here, forward.xyz) / look_at.w));
}

float surroundings(vec3 here, vec3 normal, float turn)
{
    float metres = dot(here, forward.xyz), radius = 0.05 * look_at.w;
    vec2 small = vec2(textureSize(scene_depths, 0));
    float pixels = clamp(radius / (metres * lens.y) * 0.5 * small.y, 2.0, small.y * 0.12);
    float sum = 0.0;
    for (int k = 0; k < AROUND; k++) {
        ivec2 texel = ivec2(gl_FragCoord.xy + spiral(k, AROUND, turn) * pixels);
        vec3 to = position_at(texel) - here;
        float square = dot(to, to), fall = max(1.0 - square / (radius * radius), 0.0);
        sum += fall * fall * max(dot(to, normal) - 0.004 * metres, 0.0) / (sqrt(square) + 1e-3 * radius);
    }
    return clamp(1.0 - 2.6 * sum / float(AROUND), 0.0, 1.0);
}

void main()
{
    ivec2 texel = ivec2(gl_FragCoord.xy);
    if (texelFetch(scene_depths, texel, 0).r >= 1.0) {
        seen = vec2(1.0);
        return;
    }
    vec3 here = position_at(texel), normal = normal_at(texel, here);
    float turn = float((texel.x & 3) * 4 + (texel.y & 3)) * 7.0 / 16.0 * 6.2831853;
    seen = vec2(key_light(here, normal, turn), surroundings(here, normal, turn));
}
