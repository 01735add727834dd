// The studio: a seamless backdrop that is a little brighter around what is looked at.
vec3 backdrop(vec3 direction)
{
    vec3 d = normalize(direction), towards = normalize(look_at.xyz);
    const vec3 floor_colour = vec3(0.60, 0.585, 0.565), wall_colour = vec3(0.47, 0.51, 0.55);
    vec3 colour = mix(floor_colour, wall_colour, smoothstep(-0.25, 0.45, d.y));
    float off = 1.0 - dot(d, towards); // darker away from the middle of the picture
    return colour * (1.12 - 0.55 * smoothstep(0.0, 0.25, off));
}
