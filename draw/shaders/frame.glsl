// What all shaders know of the picture. Positions are in eye space: the world's axes, the camera as the origin; metres.
layout(std140) uniform frame {
    mat4 clip_from_eye;
    mat4 shadow_from_eye; // to the shadow map: 0 to 1 in each direction
    vec4 to_light;        // direction of the key light; w: tangent of half the angle it is seen under
    vec4 right, up, forward; // the camera's axes
    vec4 look_at;         // the middle of the picture; w: its distance
    vec4 size;            // of the picture in pixels, and 1 / that
    vec4 lens;            // tangents of half the angle of view (x, y), near, far
    vec4 shadow;          // 1 / metres across the map, metres along the light in it, metres of a texel, 1 / texels
};

// The direction of a place in the picture (0 to 1), one metre deep.
vec3 direction_at(vec2 place)
{
    vec2 p = (place * 2.0 - 1.0) * lens.xy;
    return forward.xyz + p.x * right.xyz + p.y * up.xyz;
}

// How deep a value of the depth buffer is, metres.
float depth_metres(float depth) { return lens.z * lens.w / (lens.w - depth * (lens.w - lens.z)); }
