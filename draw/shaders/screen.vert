// One triangle that covers the picture, behind everything.
out vec2 place;

void main()
{
    place = vec2(gl_VertexID == 1 ? 2.0 : 0.0, gl_VertexID == 2 ? 2.0 : 0.0);
    gl_Position = vec4(place * 2.0 - 1.0, 1.0, 1.0);
}
