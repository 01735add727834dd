/* In place of the viewer, where the packages that it needs were missing: it says which those are. */
#include "viewer/viewer.h"

#include <stdio.h>

bool viewer_run(const viewer_options *options, char error[VIEWER_ERROR_SIZE])
{
    (void)options;
    snprintf(error, VIEWER_ERROR_SIZE,
             "this build of limber has no viewer: build it again with Dear ImGui, SDL2, libepoxy, cglm, stb and a C++ "
             "compiler "
             "(on Debian: apt install g++ pkg-config libimgui-dev libsdl2-dev libepoxy-dev libcglm-dev libstb-dev); "
             "limber render "
             "makes pictures and videos without a window");
    return false;
}
