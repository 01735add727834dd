/*
 * The command line: one file for each command, and what they share.
 *
 * Exit codes: 0; 2 for anything wrong in the arguments themselves; 1 for everything else, with one line on standard
 * error.
 */
#ifndef LIMBER_CLI_H
#define LIMBER_CLI_H

#include "limber/limber.h"
#include "support/text.h"

#define CLI_OK 0
#define CLI_FAILED 1
#define CLI_USAGE 2

typedef struct cli_command {
    const char *name;
    const char *arguments; /* "SCENE" */
    const char *summary;   /* one line for `limber --help` */
    int (*run)(const struct cli_command *command, int argc, char **argv);
} cli_command;

extern const cli_command cli_list, cli_devices, cli_run, cli_render, cli_export, cli_view, cli_bench, cli_shape,
    cli_info, cli_schema, cli_validate;

/* One line on standard error that begins with "limber: "; returns `code`. */
int cli_fail(int code, const char *format, ...) LIKE_PRINTF(2, 3);

typedef enum cli_kind { CLI_FLAG, CLI_COUNT, CLI_TEXT, CLI_TEXTS } cli_kind;

typedef struct cli_texts {
    const char **items;
    uint32_t count;
} cli_texts;

/* One option; `out` is a bool, a uint32_t, a const char * or a cli_texts (an option that may be repeated). */
typedef struct cli_option {
    const char *name;     /* "--frames" */
    const char *argument; /* "N"; null for a flag */
    cli_kind kind;
    void *out;
    uint32_t low, high; /* of a count */
    const char *doc;
} cli_option;

/* Reads options and exactly `positional_count` other arguments (those that are not null beforehand may be left out). Returns -1 to go on, or the exit code: help was asked
 * for and printed, or something is wrong and was reported. */
int cli_parse(const cli_command *command, int argc, char **argv, const cli_option *options, uint32_t option_count,
              const char **positional, uint32_t positional_count);

/* An instruction set by name, which this machine must have; null or "best" is the widest. Returns -1 or the exit code. */
int cli_choose_isa(const char *name, lm_isa *isa);

/* A long text to standard output. Returns CLI_OK, or CLI_FAILED after reporting why. */
int cli_print(const char *text);

/* Flushes standard output; fails when anything could not be written. */
int cli_finish_output(void);

#endif
