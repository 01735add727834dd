/*
 * What a fuzz target provides: called by libFuzzer with one input after another. Returns 0.
 */
#ifndef LIMBER_FUZZ_H
#define LIMBER_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
