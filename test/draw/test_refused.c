/*
 * Where there is no OpenGL 3.3, one line says so. The environment of the test takes it away (test/CMakeLists.txt).
 */
#include "draw/draw.h"
#include "test/support/support.h"

#include <string.h>

static void opening_fails_with_one_line(void **context)
{
    (void)context;
    for (int n = 0; n < 2; n++) { /* and leaves nothing behind that would change it */
        draw_error error = {""};
        assert_null(draw_open(64, 64, &error));
        assert_true(strlen(error.text) > 10);
        assert_null(strchr(error.text, '\n'));
        assert_non_null(strstr(error.text, "OpenGL"));
        print_message("%s\n", error.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(opening_fails_with_one_line)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
