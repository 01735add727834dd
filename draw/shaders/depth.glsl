// Passes that write depth alone are seen from the camera or from the light.
#ifdef DEPTH_ONLY
uniform mat4 clip_from_position;
#define TO_CLIP clip_from_position
#else
#define TO_CLIP clip_from_eye
#endif
