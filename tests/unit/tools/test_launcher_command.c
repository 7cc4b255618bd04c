/* test_launcher_command.c - words, places and who stays root
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/launcher.h"

Test(launcher_command, a_command_is_split_placed_and_ranked)
{
	static const struct {
		const char *text, *conf, *path, *words;
		bool as_root;
	} rows[] = {
		{ "smtp", "/etc/z", "/lib/z/ta/smtp", "smtp -C /etc/z", false },
		{ "smtp -x  -y", "/etc/z", "/lib/z/ta/smtp",
		    "smtp -C /etc/z -x -y", false },
		{ "smtp", NULL, "/lib/z/ta/smtp", "smtp", false },
		{ "mailbox", "/etc/z", "/lib/z/ta/mailbox",
		    "mailbox -C /etc/z", true },
		{ "pipe", "", "/lib/z/ta/pipe", "pipe", true },
		{ "/opt/agent a", "/etc/z", "/opt/agent", "/opt/agent a",
		    false },
		/* A foreign program is never root, whatever it is called. */
		{ "/opt/ta/mailbox", "/etc/z", "/opt/ta/mailbox",
		    "/opt/ta/mailbox", false },
		{ "", "/etc/z", NULL, "", false },
		{ "  ", "/etc/z", NULL, "", false },
		{ "../router", "/etc/z", NULL, "", false },
		{ "ta/mailbox", "/etc/z", NULL, "", false },
		{ "a b c d e f g h i j k l m n o p q r s t u v w x y z "
		    "1 2 3 4 5 6 7 8 9", "/etc/z", NULL, "", false },
	};

	setenv("ZMAILER_LIBEXEC", "/lib/z", 1);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct arena *arena = arena_new();
		struct str words = STR_INIT;
		struct launcher_command command;
		struct err err;
		int got = command_build(arena, rows[i].text, rows[i].conf,
		    false, &command, &err);

		cr_expect_eq(got, rows[i].path ? 0 : -1, "'%s'", rows[i].text);
		for (size_t n = 0; got == 0 && command.words[n] != NULL; n++)
			str_addf(&words, "%s%s", n ? " " : "",
			    command.words[n]);
		if (got == 0) {
			cr_expect_str_eq(command.path, rows[i].path);
			cr_expect_str_eq(words.buf, rows[i].words);
			cr_expect_eq(command.as_root, rows[i].as_root, "'%s'",
			    rows[i].text);
		}
		str_release(&words);
		arena_free(&arena);
	}
}

static bool
has(char **environment, const char *entry)
{
	for (size_t i = 0; environment[i] != NULL; i++)
		if (strcmp(environment[i], entry) == 0)
			return true;
	return false;
}

Test(launcher_command, the_environment_is_a_list)
{
	static const struct {
		const char	*name;
		bool		 in_private, with_accounts;
	} rows[] = {
		{ "TZ", true, true }, { "ZMAILER_CONF", true, true },
		{ "ZMAILER_LIBEXEC", true, true },
		{ "LD_PRELOAD", true, false }, { "ZM_NTH_CALL", true, false },
		{ "ASAN_OPTIONS", true, false },
		{ "HOME", false, false }, { "ZMAILER_CONFX", false, false },
		{ "LD_LIBRARY_PATH", false, false }, { "IFS", false, false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		setenv(rows[i].name, "v", 1);
	for (int is_private = 0; is_private < 2; is_private++) {
		char **environment = command_environment(is_private);

		cr_expect(has(environment,
		    "PATH=/usr/local/bin:/usr/bin:/bin"));
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			char entry[64];

			snprintf(entry, sizeof(entry), "%s=v", rows[i].name);
			cr_expect_eq(has(environment, entry), is_private ?
			    rows[i].in_private : rows[i].with_accounts, "%s",
			    entry);
		}
		mem_free(&environment);
	}
}

Test(launcher_command, every_channel_of_ours_has_an_agent)
{
	static const struct { const char *channel, *want; } rows[] = {
		{ "smtp", "smtp" }, { "lmtp", "lmtp" }, { "local", "mailbox" },
		{ "pipe", "pipe" }, { "error", "error" }, { "hold", "hold" },
		{ "nosuch", NULL }, { "", NULL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *got = conf_channel_agent(rows[i].channel);

		cr_expect(rows[i].want == NULL ? got == NULL :
		    got != NULL && strcmp(got, rows[i].want) == 0, "%s",
		    rows[i].channel);
	}
}
