/* cmocka wants this header included before its own; web assembly has none, and nothing of it is used (test/bare/cmocka.h). */
#ifndef TEST_BARE_SETJMP_H
#define TEST_BARE_SETJMP_H

#endif
