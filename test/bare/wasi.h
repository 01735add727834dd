/* Included before every test for WASI (test/CMakeLists.txt): what its C library lacks. */
#ifndef TEST_BARE_WASI_H
#define TEST_BARE_WASI_H

char *mkdtemp(char *name);

#endif
