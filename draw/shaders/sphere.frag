// Where the line of sight meets the ball.
#include "frame.glsl"
#ifndef DEPTH_ONLY
#include "light.glsl"
uniform float opacity;
out vec4 colour;
#else
uniform bool from_light;
#endif
#include "colour.glsl"

in vec3 at;
flat in vec4 middle;
flat in vec4 own;
in vec2 corner;

void main()
{
#ifdef DEPTH_ONLY
    if (from_light) { // a disc through the middle casts the ball's shadow
        if (dot(corner, corner) > 1.0) discard;
        gl_FragDepth = gl_FragCoord.z;
        return;
    }
#endif
    vec3 d = normalize(at);
    float along = dot(d, middle.xyz), square = middle.w * middle.w;
    vec3 off = middle.xyz - d * along;
    float under = square - dot(off, off);
    if (under < 0.0) discard;
    vec3 hit = d * (along - sqrt(under));
    vec4 clip = clip_from_eye * vec4(hit, 1.0);
    gl_FragDepth = clip.z / clip.w * 0.5 + 0.5;
#ifndef DEPTH_ONLY
    vec3 normal = (hit - middle.xyz) / middle.w;
    colour = vec4(shown(shade(to_linear(own.rgb), normal, -d, visible(gl_FragDepth), 0.6)).rgb, own.a);
#endif
}
