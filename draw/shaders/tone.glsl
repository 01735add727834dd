// From light to what the picture shows, in sRGB: straight up to a shoulder, beyond which it nears white without reaching it;
// and less than one step of noise, so that gradients show no bands.
vec3 tone(vec3 light)
{
    const float straight = 0.5;
    vec3 over = max(light - straight, 0.0) / (1.0 - straight);
    return min(light, straight) + (1.0 - straight) * over / (1.0 + over);
}

float noise(vec2 pixel) { return fract(52.9829189 * fract(dot(pixel, vec2(0.06711056, 0.00583715)))); }

// Within half a step of eight bits of the curve of sRGB above 0.01; roots cost less than powers.
vec3 to_srgb(vec3 c)
{
    vec3 root = sqrt(c);
    return 0.8905 * root + 0.2452 * sqrt(root) - 0.0717 * c - 0.0640;
}

vec4 shown(vec3 light) { return vec4(to_srgb(tone(light)) + (noise(gl_FragCoord.xy) - 0.5) / 255.0, 1.0); }
