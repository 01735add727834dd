/*
 * For the leak sanitizer alone: it names the library in which memory was asked for only while that library is loaded, and SDL
 * unloads drivers when it closes. With this in a test program they stay, and draw/leaks.txt can name them.
 */
int dlclose(void *handle);

__attribute__((visibility("default"))) int dlclose(void *handle)
{
    (void)handle;
    return 0;
}
