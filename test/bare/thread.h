/* A thread with a stack of this size runs a function; where there are no threads, it is just called (web assembly). */
#ifndef TEST_BARE_THREAD_H
#define TEST_BARE_THREAD_H

#include <stdbool.h>
#include <stddef.h>

bool bare_run_on_stack(size_t size, void (*run)(void *argument), void *argument);

#endif
