// Behind everything.
#include "frame.glsl"
#include "tone.glsl"
#include "backdrop.glsl"

in vec2 place;
out vec4 colour;

void main() { colour = shown(backdrop(direction_at(place))); }
