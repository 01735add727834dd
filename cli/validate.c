/* limber validate: measures materials against theory. */
#include "validate/validate.h"

#include "cli/cli.h"
#include "support/nearest.h"

#include <stdio.h>
#include <string.h>

static int fail_unknown(const char *name)
{
    char known[256] = "";
    nearest_name near = lmi_nearest_to(name);
    for (uint32_t n = 0; validate_name(n) != NULL; n++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, n > 0 ? ", %s" : "%s", validate_name(n));
        lmi_nearest_offer(&near, validate_name(n));
    }
    if (near.best != NULL) {
        return cli_fail(CLI_USAGE, "validate: no study \"%s\" (expected %s; did you mean \"%s\"?)", name, known,
                        near.best);
    }
    return cli_fail(CLI_USAGE, "validate: no study \"%s\" (expected %s)", name, known);
}

static int check_only(const char *only)
{
    for (uint32_t n = 0; only != NULL && validate_name(n) != NULL; n++) {
        if (strcmp(validate_name(n), only) == 0) {
            return -1;
        }
    }
    return only == NULL ? -1 : fail_unknown(only);
}

static int run(const cli_command *command, int argc, char **argv)
{
    validate_options options = {.quick = false};
    bool list = false;
    const cli_option table[] = {
        {"--only", "STUDY", CLI_TEXT, &options.only, 0, 0,
         "hanging, poisson, compression, cantilever, torsion, wave, beam, default, drift, cloth or cost; default: all "
         "of them, some "
         "minutes"},
        {"--quick", NULL, CLI_FLAG, &options.quick, 0, 0, "a few small cases of each, some seconds"},
        {"--json", NULL, CLI_FLAG, &options.json, 0, 0, "one JSON object a line instead of tables"},
        {"--out", "DIR", CLI_TEXT, &options.folder, 0, 0,
         "write DIR/validation.md and its plots, DIR/pictures/validation-*.png; the project's page: --out docs"},
        {"--list", NULL, CLI_FLAG, &list, 0, 0, "say what each study measures, and end"},
    };
    int code = cli_parse(command, argc, argv, table, sizeof table / sizeof table[0], NULL, 0);
    code = code >= 0 ? code : check_only(options.only);
    if (code >= 0) {
        return code;
    }
    if (list) {
        for (uint32_t n = 0; validate_name(n) != NULL; n++) {
            printf("%-12s %s\n", validate_name(n), validate_title(n));
        }
        return CLI_OK;
    }
    if (options.folder != NULL && options.folder[0] == '\0') {
        return cli_fail(CLI_USAGE, "validate: --out: expected the name of a folder");
    }
    char fault[VALIDATE_FAULT_SIZE];
    switch (validate_run(&options, fault)) {
    case VALIDATE_GOOD: return CLI_OK;
    case VALIDATE_OFF: return cli_fail(CLI_FAILED, "validate: some values are outside their limits");
    default: return cli_fail(CLI_FAILED, "validate: %s", fault);
    }
}

const cli_command cli_validate = {"validate", "", "measures materials against theory, with tables, plots and limits",
                                  run};
