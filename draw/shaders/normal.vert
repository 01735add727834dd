// The normal of a deformed vertex. On a lattice or tetrahedra it is the rest normal, deformed as the cell or tetrahedron
// around the vertex is; elsewhere the mean over the triangles around it, weighted by their areas. Zero without area.
uniform samplerBuffer positions;
uniform samplerBuffer particles; // xyz
uniform samplerBuffer rest_particles;
uniform usamplerBuffer rings;    // the other two corners of each triangle around a vertex, in order
uniform usamplerBuffer riders;   // index, and the bits of the weight

layout(location = 0) in vec4 position;
layout(location = 1) in uvec2 ring; // the first, and how many
layout(location = 2) in vec4 rest;  // w: the spacing of the lattice, -1 on tetrahedra, or 0
layout(location = 3) in uvec3 ride; // the first rider, how many, the body
layout(location = 4) in vec3 rest_normal; // on a lattice or tetrahedra

out vec3 normal;

vec3 sum_areas()
{
    vec3 sum = vec3(0.0);
    for (uint n = 0u; n < ring.y; n++) {
        uvec2 corner = texelFetch(rings, int(ring.x + n)).xy;
        vec3 b = texelFetch(positions, int(corner.x)).xyz - position.xyz;
        vec3 c = texelFetch(positions, int(corner.y)).xyz - position.xyz;
        sum += cross(b, c);
    }
    return sum;
}

// By the cofactors of the deformation gradient, whose columns are the changes over the cell along x, y and z. Bits of a
// corner's number tell on which side of the cell it is.
vec3 deform(vec3 at_rest)
{
    vec3 at[8], place = vec3(0.0);
    for (int k = 0; k < 8; k++) {
        uvec2 rider = texelFetch(riders, int(ride.x) + k).xy;
        at[k] = texelFetch(particles, int(rider.x)).xyz / rest.w;
        place += uintBitsToFloat(rider.y) * vec3(k & 1, (k >> 1) & 1, k >> 2);
    }
    vec3 along_x[4], edge[4];
    for (int k = 0; k < 4; k++) {
        along_x[k] = at[2 * k + 1] - at[2 * k];
        edge[k] = at[2 * k] + place.x * along_x[k];
    }
    vec3 x = mix(mix(along_x[0], along_x[1], place.y), mix(along_x[2], along_x[3], place.y), place.z);
    vec3 y = mix(edge[1] - edge[0], edge[3] - edge[2], place.z);
    vec3 z = mix(edge[2], edge[3], place.y) - mix(edge[0], edge[1], place.y);
    return cross(y, z) * at_rest.x + cross(z, x) * at_rest.y + cross(x, y) * at_rest.z;
}

// By the cofactors of the deformation gradient too, which for edges e of a tetrahedron, E at rest, are
// (e2 x e3, e3 x e1, e1 x e2) (E1, E2, E3)^T but for a factor.
vec3 deform_on_tetrahedron(vec3 at_rest)
{
    vec3 at[4], was[4];
    for (int k = 0; k < 4; k++) {
        int index = int(texelFetch(riders, int(ride.x) + k).x);
        at[k] = texelFetch(particles, index).xyz;
        was[k] = texelFetch(rest_particles, index).xyz;
    }
    vec3 e1 = at[1] - at[0], e2 = at[2] - at[0], e3 = at[3] - at[0];
    return cross(e2, e3) * dot(was[1] - was[0], at_rest) + cross(e3, e1) * dot(was[2] - was[0], at_rest) +
           cross(e1, e2) * dot(was[3] - was[0], at_rest);
}

vec3 to_unit_length(vec3 v)
{
    float size = max(max(abs(v.x), abs(v.y)), abs(v.z)); // squares of tiny areas would vanish
    return size > 0.0 ? normalize(v / size) : vec3(0.0);
}

void main()
{
    if (rest.w == 0.0) {
        normal = to_unit_length(sum_areas());
        return;
    }
    normal = to_unit_length(rest.w > 0.0 ? deform(rest_normal) : deform_on_tetrahedron(rest_normal));
}
