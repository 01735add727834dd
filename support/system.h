/*
 * support/: what programs and the readers and writers of files share, and what has nothing to do with the engine. limber_io has a copy of
 * it; the tool, which uses only what is installed of the libraries, is linked with its own.
 *
 *   system.h      the operating system                     text.h        growing strings, JSON
 *   partial.h     files that are whole or not there        nearest.h     "did you mean ...?"
 *   like_printf.h formats that compilers check
 *
 * This header: what programs ask of the operating system besides what the engine does (src/base/os.h): files by names in UTF-8, folders,
 * interruptions, the terminal, the time. One file for each system: system_posix.c, system_windows.c, and system_wasi.c for web assembly.
 *
 * What can fail returns 0, or an error number as errno has them.
 */
#ifndef LIMBER_SUPPORT_SYSTEM_H
#define LIMBER_SUPPORT_SYSTEM_H

#include <stdbool.h>
#include <stdio.h>

typedef enum system_kind { SYSTEM_NOTHING, SYSTEM_FILE, SYSTEM_FOLDER, SYSTEM_OTHER } system_kind;

FILE *lmi_system_open(const char *path, const char *mode); /* as fopen, errno too */
system_kind lmi_system_look(const char *path);
int lmi_system_may_write(const char *path); /* a file, or into a folder, that is there */
int lmi_system_make_folder(const char *path);
int lmi_system_rename(const char *from, const char *to); /* takes the place of what is there */
void lmi_system_remove(const char *path);
long lmi_system_process(void); /* the number of this process */

/* Names of files: what parts folders, what follows the last of them, and whether a name begins at the top of all. On Windows \ is a / too,
 * and drives have letters. */
bool lmi_system_parts_folders(char letter);
const char *lmi_system_last_part(const char *path);
bool lmi_system_is_absolute(const char *path);

/* Until lmi_system_release, `clean_up` is called before an interruption ends the program; and a file that becomes too large is an error
 * of writing. `clean_up` may call nothing but lmi_system_remove and lmi_system_end_process. */
void lmi_system_catch(void (*clean_up)(void));
void lmi_system_release(void);
void lmi_system_end_process(long process); /* at once, and waits until it has ended */

double lmi_system_seconds(void); /* of a clock that only goes forward */

bool lmi_system_is_terminal(FILE *stream);

/* Standard error goes nowhere until it is unmuted with what was returned. */
int lmi_system_mute(void);
void lmi_system_unmute(int before);

/* To be called first: arguments and what is printed are UTF-8 from now on, standard streams that were closed cannot get mixed up with
 * files, and a reader that goes away is an error of writing. False: it cannot be done. */
bool lmi_system_begin(int *argc, char ***argv);

#endif
