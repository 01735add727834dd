// How surfaces are lit: a warm key light with soft shadows, a cool fill from the other side without, and what comes from the
// sky above and from the floor below, less where surroundings are in its way.
#include "tone.glsl"

uniform sampler2D scene_depths; // of the picture that visibility was found in
uniform sampler2D visibility;   // red: of the key light; green: of the surroundings

const vec3 KEY = vec3(1.0, 0.92, 0.81) * 1.9;
const vec3 FILL = vec3(0.70, 0.85, 1.0) * 0.35;
const vec3 SKY = vec3(0.80, 0.89, 1.0) * 0.55;
const vec3 BOUNCE = vec3(0.88, 0.80, 0.72) * 0.36;

// Visibility at this pixel, which is `depth` deep in the depth buffer. Where the four nearest places at which it was found are
// of one surface (blue: 1), their mean; else that of the place which is closest in depth.
vec2 visible(float depth)
{
    vec2 place = gl_FragCoord.xy * size.zw;
    vec3 seen = textureLod(visibility, place, 0.0).rgb;
    ivec2 last = textureSize(visibility, 0) - 1, first = ivec2(floor(place * vec2(last + 1) - 0.5));
    float closest = 2.0;
    // A loop rather than a condition around it: software drivers run both sides of a condition, but leave a loop early.
    for (int n = seen.b > 0.99 ? 4 : 0; n < 4; n++) {
        ivec2 texel = clamp(first + ivec2(n & 1, n >> 1), ivec2(0), last);
        float away = abs(texelFetch(scene_depths, texel, 0).r - depth);
        if (away < closest) {
            closest = away;
            seen.rg = texelFetch(visibility, texel, 0).rg;
        }
    }
    return seen.rg;
}

// Light from a lit surface towards the camera. `seen` is its visibility; `gloss` 0 to 1.
vec3 shade(vec3 albedo, vec3 normal, vec3 to_eye, vec2 seen, float gloss)
{
    vec3 around = mix(BOUNCE, SKY, normal.y * 0.5 + 0.5);
    float key = max(dot(normal, to_light.xyz), 0.0) * seen.x;
    float fill = 0.5 - 0.5 * dot(normal.xz, to_light.xz) + 0.2 * normal.y; // from the side across the key light
    vec3 light = albedo * ((around + FILL * max(fill * fill * fill, 0.0)) * seen.y + KEY * key);

    vec3 half_way = normalize(to_light.xyz + to_eye);
    float facing = max(dot(normal, to_eye), 0.0), edge = 1.0 - facing, shine = max(dot(normal, half_way), 0.0);
    edge *= edge * edge * edge; // to the fourth
    shine *= shine, shine *= shine, shine *= shine, shine *= shine; // to the sixteenth
    shine *= shine * shine;                                         // and the forty-eighth
    float mirrored_up = 2.0 * facing * normal.y - to_eye.y;         // where the sky would be mirrored
    vec3 mirrored = mix(BOUNCE, SKY * 1.3, clamp(mirrored_up + 0.4, 0.0, 1.0)) * seen.y;
    return light + gloss * (KEY * (key * shine * 0.22) + mirrored * (0.03 + 0.25 * edge));
}
