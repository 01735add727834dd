/* Included before every test on Windows (test/CMakeLists.txt): what its C library lacks. */
#ifndef TEST_BARE_WINDOWS_H
#define TEST_BARE_WINDOWS_H

#include <stddef.h>

void *aligned_alloc(size_t alignment, size_t size); /* to be given to free, as all memory of the tests */
char *mkdtemp(char *name);
int setenv(const char *name, const char *value, int replace);

#endif
