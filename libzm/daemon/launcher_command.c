/* launcher_command.c - what the launcher executes, and with what environment
 *
 * In     a channel, or the command of a schedule clause; our environment
 * Out    a path, words, an environment by list
 * Trusts the configuration (root's); of the environment only what is listed
 * Spec   launcher.h; zmailer.conf(5), command
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/launcher.h"

#include "base/banned.h"

/* Agents that start as root because they become the recipient. */
static const char *const root_programs[] = { "mailbox", "pipe", "sm" };

/* What an agent sees of our environment; some of it only where nobody
 * gains by it (daemon_is_private). */
static const struct {
	const char *start;
	bool only_private;
} environment_rows[] = {
	{ "TZ=", false },
	{ "ZMAILER_CONF=", false },
	{ "ZMAILER_LIBEXEC=", false },
	{ "ZMAILER_TEST_CLOCK=", false },
	{ "ZMAILER_DNS=", true },
	{ "ASAN_OPTIONS=", true },
	{ "UBSAN_OPTIONS=", true },
	{ "LSAN_OPTIONS=", true },
	{ "TSAN_OPTIONS=", true },
	{ "LD_PRELOAD=", true },
	{ "ZM_NTH_", true },
};

static void
command_place(struct launcher_command *command, const char *program)
{
	char name[256];

	if (program[0] == '/') {
		snprintf(command->path, sizeof(command->path), "%s", program);
		return;
	}
	snprintf(name, sizeof(name), "ta/%s", program);
	daemon_libexec(name, command->path, sizeof(command->path));
	for (size_t i = 0; i < sizeof(root_programs) /
	    sizeof(root_programs[0]); i++)
		if (strcmp(root_programs[i], program) == 0)
			command->as_root = true;
}

int
command_build(struct arena *arena, const char *text, const char *conf_path,
    bool is_many, struct launcher_command *command, struct err *err)
{
	struct slice rest = slice_of(text), word;
	size_t count = 0;

	memset(command, 0, sizeof(*command));
	while (slice_word(&rest, &word)) {
		if (count == COMMAND_WORDS_MAX)
			return err_set(err, "the command '%s' has more than "
			    "%d words", text, COMMAND_WORDS_MAX);
		command->words[count++] = slice_dup(arena, word);
		if (count == 1 && word.p[0] != '/' && conf_path != NULL &&
		    *conf_path != '\0') {
			command->words[count++] = slice_dup(arena,
			    SLICE("-C"));
			command->words[count++] = slice_dup(arena,
			    slice_of(conf_path));
		}
	}
	if (count == 0)
		return err_set(err, "the command is empty");
	if (is_many)
		command->words[count++] = slice_dup(arena,
		    SLICE("--carrier"));
	word = slice_of(command->words[0]);
	if (word.p[0] != '/' && slice_find(word, '/') != word.n)
		return err_set(err, "the command '%s' is neither a name nor "
		    "an absolute path", command->words[0]);
	command_place(command, command->words[0]);
	return 0;
}

static bool
environment_has(const char *entry, bool is_private)
{
	for (size_t i = 0; i < sizeof(environment_rows) /
	    sizeof(environment_rows[0]); i++)
		if (strncmp(entry, environment_rows[i].start,
		    strlen(environment_rows[i].start)) == 0)
			return is_private ||
			    !environment_rows[i].only_private;
	return false;
}

char **
command_environment(bool is_private)
{
	static char path[] = "PATH=/usr/local/bin:/usr/bin:/bin";
	size_t count = 0, kept = 0;
	char **out;

	while (environ[count] != NULL)
		count++;
	out = mem_alloc(count + 2, sizeof(*out));
	out[kept++] = path;
	for (size_t i = 0; i < count; i++)
		if (environment_has(environ[i], is_private))
			out[kept++] = environ[i];
	return out;
}
