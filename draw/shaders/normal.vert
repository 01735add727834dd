// The normal of a deformed vertex: the mean over the triangles around it, weighted by their areas; zero without area.
uniform samplerBuffer positions;
uniform usamplerBuffer rings; // the other two corners of each triangle around a vertex, in order

layout(location = 0) in vec4 position;
layout(location = 1) in uvec2 ring; // the first, and how many

out vec3 normal;

void main()
{
    vec3 sum = vec3(0.0);
    for (uint n = 0u; n < ring.y; n++) {
        uvec2 corner = texelFetch(rings, int(ring.x + n)).xy;
        vec3 b = texelFetch(positions, int(corner.x)).xyz - position.xyz;
        vec3 c = texelFetch(positions, int(corner.y)).xyz - position.xyz;
        sum += cross(b, c);
    }
    float size = max(max(abs(sum.x), abs(sum.y)), abs(sum.z)); // squares of tiny areas would vanish
    normal = size > 0.0 ? normalize(sum / size) : vec3(0.0);
}
