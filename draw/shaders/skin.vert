// A vertex of a skin where its riders carry it: the weighted sum over particles and regions of lm_body_get_skin_riders.
//
// Particles and regions are relative to their body's anchor, and the anchor is added last, so that nothing is lost when the
// body is far from the camera.
uniform samplerBuffer particles; // xyz
uniform samplerBuffer regions;   // nine texels each: an lm_region_transform
uniform samplerBuffer anchors;   // one for each body, in eye space
uniform usamplerBuffer riders;   // index, and the bits of the weight

layout(location = 0) in vec3 rest;
layout(location = 1) in uvec3 ride; // the first rider, how many, the body

out vec4 moved;

const uint ON_REGION = 0x80000000u;

// lm_region_transform, as it lies in memory: centre 0-2, constant 3-5, linear 6-14, quadratic 15-32.
vec3 carry(int region)
{
    int at = region * 9;
    vec4 t[9];
    for (int n = 0; n < 9; n++) t[n] = texelFetch(regions, at + n);
    vec3 d = rest - t[0].xyz;
    vec3 square = d * d, mixed = d * d.yzx;
    vec3 constant = vec3(t[0].w, t[1].xy);
    vec3 linear = vec3(dot(vec3(t[1].zw, t[2].x), d), dot(t[2].yzw, d), dot(t[3].xyz, d));
    vec3 quadratic = vec3(dot(vec3(t[3].w, t[4].xy), square) + dot(vec3(t[4].zw, t[5].x), mixed),
                          dot(t[5].yzw, square) + dot(t[6].xyz, mixed),
                          dot(vec3(t[6].w, t[7].xy), square) + dot(vec3(t[7].zw, t[8].x), mixed));
    return constant + linear + quadratic;
}

void main()
{
    vec3 sum = vec3(0.0);
    for (uint n = 0u; n < ride.y; n++) {
        uvec2 rider = texelFetch(riders, int(ride.x + n)).xy;
        float weight = uintBitsToFloat(rider.y);
        int index = int(rider.x & ~ON_REGION);
        sum += weight * ((rider.x & ON_REGION) != 0u ? carry(index) : texelFetch(particles, index).xyz);
    }
    moved = vec4(sum + texelFetch(anchors, int(ride.z)).xyz, 1.0);
}
