/*
 * What tests call of the library that pretends to share with OpenGL (fake_opencl.c), which they load by its path.
 */
#ifndef LIMBER_TEST_FAKE_OPENCL_H
#define LIMBER_TEST_FAKE_OPENCL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The only context and display that it knows. */
#define FAKE_GL_CONTEXT ((void *)0x4711)
#define FAKE_EGL_DISPLAY ((void *)0x0815)

typedef struct fake_counts {
    uint32_t created, freed, acquired, released;
    uint32_t launches, writes; /* that use buffers of OpenGL */
    uint32_t wrong;            /* calls against the rules */
} fake_counts;

typedef void fake_gl_buffer_function(uint32_t name, size_t size);         /* glBufferData */
typedef bool fake_gl_read_function(uint32_t name, void *to, size_t size); /* glGetBufferSubData */
typedef void fake_gl_refuse_function(bool refuse);                        /* from now on the driver fails */
typedef fake_counts fake_gl_counts_function(void);

/* Where there is a real OpenGL: how large its buffers are, and what writes to them when what was released is finished. */
typedef size_t fake_size_function(uint32_t name);
typedef void fake_put_function(uint32_t name, const void *data, size_t size);
typedef void fake_gl_hooks_function(fake_size_function *size, fake_put_function *put);

fake_gl_buffer_function fake_gl_buffer;
fake_gl_read_function fake_gl_read;
fake_gl_refuse_function fake_gl_refuse;
fake_gl_counts_function fake_gl_counts;
fake_gl_hooks_function fake_gl_hooks;

#endif
