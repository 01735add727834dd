/* Options from a table: reading them, and the help made from the same table. */
#include "cli/cli.h"

#include "cli/progress.h"
#include "support/nearest.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cli_fail(int code, const char *format, ...)
{
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    for (char *c = line; *c != '\0'; c++) {
        if (*c == '\n' || *c == '\r') {
            *c = ' '; /* one line, whatever a file name contains */
        }
    }
    progress_clear();
    fprintf(stderr, "limber: %s\n", line);
    return code;
}

static int fail_output(void)
{
    return cli_fail(CLI_FAILED, "cannot write to standard output: %s",
                    errno != 0 ? strerror(errno) : "an earlier write failed");
}

int cli_print(const char *text)
{
    errno = 0;
    return fputs(text, stdout) == EOF ? fail_output() : CLI_OK;
}

int cli_finish_output(void)
{
    errno = 0;
    return fflush(stdout) != 0 || ferror(stdout) ? fail_output() : CLI_OK;
}

#define HELP_INDENT 25
#define HELP_WIDTH 55 /* of what is said of an option, so that lines stay within 80 */

static void print_option(const char *left, const char *doc)
{
    printf("  %-*s", HELP_INDENT - 2, left);
    size_t rest = strlen(doc);
    while (rest > HELP_WIDTH) {
        size_t length = HELP_WIDTH;
        while (length > 0 && doc[length] != ' ') {
            length--;
        }
        if (length == 0) {
            break; /* one long word */
        }
        printf("%.*s\n%*s", (int)length, doc, HELP_INDENT, "");
        doc += length + 1;
        rest -= length + 1;
    }
    printf("%s\n", doc);
}

static void print_help(const cli_command *command, const cli_option *options, uint32_t count)
{
    printf("usage: limber %s%s%s%s\n\n%s\n\noptions:\n", command->name, command->arguments[0] != '\0' ? " " : "",
           command->arguments, count > 0 ? " [OPTION]..." : "", command->summary);
    for (uint32_t i = 0; i < count; i++) {
        char left[64];
        snprintf(left, sizeof left, "%s%s%s", options[i].name, options[i].argument != NULL ? " " : "",
                 options[i].argument != NULL ? options[i].argument : "");
        print_option(left, options[i].doc);
    }
    print_option("--help", "this text");
}

static const cli_option *find_option(const cli_option *options, uint32_t count, const char *name, size_t length)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strlen(options[i].name) == length && strncmp(options[i].name, name, length) == 0) {
            return &options[i];
        }
    }
    return NULL;
}

static int fail_unknown_option(const cli_command *command, const char *name, const cli_option *options, uint32_t count)
{
    nearest_name near = lmi_nearest_to(name);
    for (uint32_t i = 0; i < count; i++) {
        lmi_nearest_offer(&near, options[i].name);
    }
    lmi_nearest_offer(&near, "--help");
    if (near.best != NULL) {
        return cli_fail(CLI_USAGE, "%s: unknown option %s (did you mean %s?)", command->name, name, near.best);
    }
    return cli_fail(CLI_USAGE, "%s: unknown option %s (see limber %s --help)", command->name, name, command->name);
}

static bool parse_count(const char *text, uint32_t low, uint32_t high, uint32_t *out)
{
    if (text[0] < '0' || text[0] > '9') {
        return false;
    }
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (*end != '\0' || errno != 0 || value < low || value > high) {
        return false;
    }
    *out = (uint32_t)value;
    return true;
}

/* Stores the value of an option; returns -1 or the exit code. */
static int store(const cli_command *command, const cli_option *option, const char *value)
{
    switch (option->kind) {
    case CLI_FLAG: *(bool *)option->out = true; break;
    case CLI_TEXT: *(const char **)option->out = value; break;
    case CLI_COUNT:
        if (!parse_count(value, option->low, option->high, option->out)) {
            return cli_fail(CLI_USAGE, "%s: %s %s: expected a whole number from %u to %u", command->name, option->name,
                            value, (unsigned)option->low, (unsigned)option->high);
        }
        break;
    case CLI_TEXTS: {
        cli_texts *texts = option->out;
        const char **items = realloc(texts->items, (texts->count + 1u) * sizeof *items);
        if (items == NULL) {
            return cli_fail(CLI_FAILED, "out of memory");
        }
        items[texts->count++] = value;
        texts->items = items;
        break;
    }
    }
    return -1;
}

/* Reads the option at argv[*i], and its value from there or from the next argument. */
static int take_option(const cli_command *command, int argc, char **argv, int *i, const cli_option *options,
                       uint32_t count)
{
    const char *name = argv[*i];
    size_t length = strcspn(name, "=");
    const cli_option *option = find_option(options, count, name, length);
    if (option == NULL) {
        return fail_unknown_option(command, name, options, count);
    }
    const char *value = name[length] == '=' ? name + length + 1 : NULL;
    if (option->kind == CLI_FLAG && value != NULL) {
        return cli_fail(CLI_USAGE, "%s: %s takes no value", command->name, option->name);
    }
    if (option->kind != CLI_FLAG && value == NULL) {
        if (*i + 1 >= argc) {
            return cli_fail(CLI_USAGE, "%s: %s needs a value (%s)", command->name, option->name, option->argument);
        }
        value = argv[++*i];
    }
    return store(command, option, value);
}

int cli_parse(const cli_command *command, int argc, char **argv, const cli_option *options, uint32_t option_count,
              const char **positional, uint32_t positional_count)
{
    uint32_t found = 0;
    bool only_positional = false;
    for (int i = 0; i < argc; i++) {
        if (!only_positional && (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)) {
            print_help(command, options, option_count);
            return CLI_OK;
        }
        if (!only_positional && strcmp(argv[i], "--") == 0) {
            only_positional = true;
        } else if (!only_positional && argv[i][0] == '-' && argv[i][1] != '\0') {
            int code = take_option(command, argc, argv, &i, options, option_count);
            if (code >= 0) {
                return code;
            }
        } else if (found < positional_count) {
            positional[found++] = argv[i];
        } else {
            return cli_fail(CLI_USAGE, "%s: unexpected argument \"%s\"", command->name, argv[i]);
        }
    }
    if (found < positional_count && positional[found] == NULL) {
        return cli_fail(CLI_USAGE, "%s: %s is missing (see limber %s --help)", command->name, command->arguments,
                        command->name);
    }
    return -1;
}

int cli_choose_isa(const char *name, lm_isa *isa)
{
    *isa = LM_ISA_BEST;
    if (name == NULL) {
        return -1;
    }
    nearest_name near = lmi_nearest_to(name);
    char has[80] = "";
    bool known = false;
    for (int i = 0; i < LM_ISA_COUNT; i++) {
        const char *candidate = lm_isa_name((lm_isa)i);
        lmi_nearest_offer(&near, candidate);
        if (strcmp(candidate, name) == 0) {
            *isa = (lm_isa)i;
            known = true;
        }
        if (i != LM_ISA_BEST && lm_isa_supported((lm_isa)i)) {
            size_t used = strlen(has);
            snprintf(has + used, sizeof has - used, "%s%s", used > 0 ? ", " : "", candidate);
        }
    }
    if (!known && near.best != NULL) {
        return cli_fail(CLI_USAGE, "--isa %s: no such instruction set (did you mean %s?)", name, near.best);
    }
    if (!known) {
        return cli_fail(CLI_USAGE, "--isa %s: no such instruction set (this machine has %s)", name, has);
    }
    if (*isa != LM_ISA_BEST && !lm_isa_supported(*isa)) {
        return cli_fail(CLI_FAILED, "--isa %s: this machine lacks it (it has %s)", name, has);
    }
    return -1;
}
