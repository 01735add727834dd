/* Before match/project_lanes.h, match/project.h and match/example_lanes.h over a lane of one float: a region's channels are side by
 * side in private memory. */
#undef LMI_BLOCK
#define LMI_BLOCK 1
