// Lines of a width in pixels: a square for each, laid along it.
#include "frame.glsl"

uniform float width;       // pixels
uniform float opacity;     // of all of them
uniform float full_length; // pixels: shorter lines are fainter, so that many of them do not cover everything; 0: none are
uniform float nearer; // how far a line is drawn towards the eye, as a share: over the surface that it lies on

#ifdef WIRE
uniform samplerBuffer positions;
uniform samplerBuffer colours; // sRGB
uniform samplerBuffer values;  // of the colour map
#include "colour.glsl"
uniform vec4 ink;              // sRGB; w: how far it takes the place of the vertices' own colours
layout(location = 0) in uvec2 edge;
#else
layout(location = 0) in vec3 from;
layout(location = 1) in vec3 to;
layout(location = 2) in vec4 colour; // sRGB, opacity
#endif

out vec4 own;
out float side; // -1 to 1 across, in half widths
flat out float half_width;

void main()
{
#ifdef WIRE
    vec3 from = texelFetch(positions, int(edge.x)).xyz, to = texelFetch(positions, int(edge.y)).xyz;
    vec3 shown = texelFetch(colours, int(edge.x)).rgb;
    if (map_range.y > map_range.x) {
        float value = 0.5 * (texelFetch(values, int(edge.x)).r + texelFetch(values, int(edge.y)).r);
        shown = from_linear(map_colour((value - map_range.x) / (map_range.y - map_range.x)));
    }
    own = vec4(mix(shown, ink.rgb, ink.w), 0.9);
#else
    own = colour;
#endif
    vec4 a = clip_from_eye * vec4(from * (1.0 - nearer), 1.0), b = clip_from_eye * vec4(to * (1.0 - nearer), 1.0);
    // Cut off what is behind the eye, where nothing can be projected.
    float near = lens.z;
    if (a.w < near && b.w > near) a = mix(a, b, (near - a.w) / (b.w - a.w));
    if (b.w < near && a.w > near) b = mix(b, a, (near - b.w) / (a.w - b.w));
    vec2 along = (b.xy / b.w - a.xy / a.w) * size.xy;
    vec2 across = dot(along, along) > 1e-12 ? normalize(vec2(-along.y, along.x)) : vec2(1.0, 0.0);
    own.a *= opacity;
    if (full_length > 0.0) own.a *= clamp(length(along) / full_length, 0.15, 1.0);
    half_width = 0.5 * width;
    float reach = half_width + 0.5; // a pixel to fade out in
    side = (gl_VertexID & 1) == 0 ? -reach : reach;
    vec4 end = (gl_VertexID >> 1) == 0 ? a : b;
    gl_Position = vec4(end.xy + across * side * 2.0 * size.zw * end.w, end.zw);
}
