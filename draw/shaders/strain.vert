// Strain at a vertex: the largest |stretch - 1| of the triangles around it, against the rest pose.
uniform samplerBuffer positions;
uniform samplerBuffer rest_positions;
uniform usamplerBuffer rings; // the other two corners of each triangle around a vertex, in order

layout(location = 0) in vec4 position;
layout(location = 1) in uvec2 ring; // the first, and how many
layout(location = 2) in vec4 rest;

out float strain;

// The two stretches of a triangle with the rest edges p, q and the deformed edges P, Q, less 1, the larger of both. In a
// frame of the rest triangle, p = (a, 0) and q = (b, h); the metric of the map is what it makes of the unit square.
float stretch(vec3 p, vec3 q, vec3 P, vec3 Q)
{
    float a = length(p);
    if (a == 0.0) return 0.0;
    float b = dot(p, q) / a, h = length(q - p * (b / a));
    if (h < 1e-4 * a) return 0.0; // no area: it says nothing
    vec3 x = P / a, y = (Q - x * b) / h;
    float xx = dot(x, x), yy = dot(y, y), xy = dot(x, y);
    float middle = 0.5 * (xx + yy), apart = length(vec2(0.5 * (xx - yy), xy));
    return max(abs(sqrt(middle + apart) - 1.0), abs(sqrt(max(middle - apart, 0.0)) - 1.0));
}

void main()
{
    strain = 0.0;
    for (uint n = 0u; n < ring.y; n++) {
        uvec2 corner = texelFetch(rings, int(ring.x + n)).xy;
        vec3 P = texelFetch(positions, int(corner.x)).xyz - position.xyz;
        vec3 Q = texelFetch(positions, int(corner.y)).xyz - position.xyz;
        vec3 p = texelFetch(rest_positions, int(corner.x)).xyz - rest.xyz;
        vec3 q = texelFetch(rest_positions, int(corner.y)).xyz - rest.xyz;
        strain = max(strain, stretch(p, q, P, Q));
    }
}
