// Where the line of sight meets the ball.
#include "frame.glsl"
#ifndef DEPTH_ONLY
#include "light.glsl"
uniform bool inside;   // a body that is looked into, whose surface would keep the key light away
uniform float nearer;  // how far it is drawn towards the eye, in radii: over the surface that it lies on
uniform float opacity; // of all of them
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
#ifdef DEPTH_ONLY
    vec3 drawn = hit;
#else
    vec3 drawn = hit - d * nearer * middle.w;
#endif
    vec4 clip = clip_from_eye * vec4(drawn, 1.0);
    gl_FragDepth = clip.z / clip.w * 0.5 + 0.5;
#ifndef DEPTH_ONLY
    vec3 normal = (hit - middle.xyz) / middle.w;
    vec2 seen = visible(gl_FragDepth);
    seen.x = inside ? 1.0 : seen.x;
    colour = vec4(shown(shade(to_linear(own.rgb), normal, -d, seen, 0.6)).rgb, own.a * opacity);
#endif
}
