/*
 * Finds the OpenCL library of the machine, if it has one.
 */
#include "base/os.h"
#include "gpu/opencl.h"

#include <string.h>

bool lmi_cl_load(lmi_cl *cl, const char *name)
{
    void *library = lmi_os_library(name ? name : "libOpenCL.so.1");
    if (!library) {
        return false;
    }
    bool complete = true;
    /* A pointer to a function comes as a pointer to data; both have one size wherever a library can be loaded so. */
#define FIND(result, name, parameters)                                                                                 \
    {                                                                                                                  \
        void *found = lmi_os_symbol(library, #name);                                                                   \
        memcpy(&cl->name, &found, sizeof found);                                                                       \
        complete = complete && found;                                                                                  \
    }
    LMI_CL_FUNCTIONS(FIND)
    bool usable = complete;
    LMI_CL_SHARING(FIND)
#undef FIND
    cl->shares = complete;
    return usable;
}

const char *lmi_cl_text(cl_int status)
{
    switch (status) {
    case CL_SUCCESS: return "success";
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_INVALID_BUFFER_SIZE: return "out of device memory";
    case CL_DEVICE_NOT_AVAILABLE: return "it was lost";
    case CL_OUT_OF_RESOURCES: return "out of device resources";
    case CL_OUT_OF_HOST_MEMORY: return "out of memory";
    case CL_BUILD_PROGRAM_FAILURE: return "the kernels do not compile";
    default: return "the device failed";
    }
}
