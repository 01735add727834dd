// Colours of vertices: their own, or those of a map of values.
uniform vec3 map_stops[7];  // linear light
uniform vec2 map_range;     // the values at its ends; equal: the vertices' own colours

vec3 to_linear(vec3 c) { return mix(c / 12.92, pow((c + 0.055) / 1.055, vec3(2.4)), step(0.04045, c)); }
vec3 from_linear(vec3 c) { return mix(c * 12.92, 1.055 * pow(c, vec3(1.0 / 2.4)) - 0.055, step(0.0031308, c)); }

vec3 map_colour(float share)
{
    float at = clamp(share, 0.0, 1.0) * 6.0;
    int n = min(int(at), 5);
    return mix(map_stops[n], map_stops[n + 1], at - float(n));
}

vec3 vertex_colour(vec4 own, float value)
{
    return map_range.y > map_range.x ? map_colour((value - map_range.x) / (map_range.y - map_range.x))
                                     : to_linear(own.rgb);
}
