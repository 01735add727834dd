// A line, faded out over a pixel at its sides.
in vec4 own;
in float side;
flat in float half_width;
out vec4 colour;

void main()
{
    float share = clamp(half_width + 0.5 - abs(side), 0.0, 1.0);
    colour = vec4(own.rgb, own.a * share);
}
