/* Before step/project_lanes.h, step/project.h and step/example_lanes.h over a lane of one float: a region's channels are side by
 * side in private memory. */
#undef LMI_BLOCK
#define LMI_BLOCK 1
