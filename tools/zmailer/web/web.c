/* web.c - zmailer web: the desk in a browser
 *
 * In     --port N; --listen and --roles; --send; users and certificate of the
 *        configuration
 * Out    becomes zm-web, which serves until Ctrl-C
 * Spec   zmailer-web(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/mem.h"
#include "conf/conf.h"
#include "daemon/skeleton.h"
#include "tools/zmailer/verbs/verb.h"
#include "tools/zmailer/web/send.h"

#include "base/banned.h"

/* The running program, whose verbs the desk asks. */
static int
web_self(char out[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", out, PATH_MAX - 1);

	out[n > 0 ? n : 0] = '\0';
	return n > 0 ? 0 : -1;
}

enum { WORDS_MAX = 16 };

/* What zm-web is told of a listener for a network; the texts are copies. */
static int
web_add_door(const struct conf *conf, const struct arguments *arguments,
    const char *address, struct arena *arena, char **words, struct err *err)
{
	const struct conf_table *users = conf->auth.kind == AUTH_USERS ?
	    conf_table_find(conf, conf->auth.table) : NULL;
	struct conf_certificate *rows;
	size_t count;

	if (users == NULL && (conf->auth.kind == AUTH_NONE ||
	    conf->auth.kind == AUTH_USERS))
		return err_set(err, "logins want `auth users <TABLE>`, `auth "
		    "pam`, `auth saslauthd` or `auth dovecot` in the "
		    "configuration");
	if (conf_all_certificates(conf, arena, &rows, &count, err) < 0)
		return -1;
	if (count == 0)
		return err_set(err, "a listener for a network wants `tls "
		    "certificate FILE key FILE` in the configuration");
	words[0] = arena_printf(arena, "%s", address);
	words[1] = arena_printf(arena, "%s", rows[0].file);
	words[2] = arena_printf(arena, "%s", rows[0].key);
	words[3] = arena_printf(arena, "%s", users != NULL ? users->spec :
	    "");
	words[4] = arena_printf(arena, "%s", arguments_text(arguments,
	    OPT_ROLES));
	return 0;
}

/* What zm-web is told of POST /send, the first of its words.  returns how
 * many. */
static size_t
web_add_send(const struct conf *conf, const struct arguments *arguments,
    struct arena *arena, char **words)
{
	const char *dir = arguments_text(arguments, OPT_SEND);
	const char *submit = arguments_text(arguments, OPT_SUBMIT);
	struct str place = STR_INIT;

	if (dir == NULL)
		return 0;
	if (submit == NULL)
		web_send_place(conf, &place);
	else
		str_adds(&place, submit);
	words[0] = arena_printf(arena, "--send");
	words[1] = arena_printf(arena, "%s", dir);
	words[2] = arena_printf(arena, "%s", place.buf);
	words[3] = arena_printf(arena, "%" PRIu64, conf->limits.size_bytes);
	str_release(&place);
	return 4;
}

static int
web_become(const char *program, char **words)
{
	execv(program, words);
	if (errno == ENOENT)
		fprintf(stderr, "zmailer: web: %s is not there: this zmailer "
		    "was built without libevent.  Install the package "
		    "zmailer-web; or libevent-dev, then configure and build "
		    "again\n",
		    program);
	else
		fprintf(stderr, "zmailer: web: %s: %s\n", program,
		    strerror(errno));
	return EX_UNAVAILABLE;
}

/* The words are in the arena. */
static int
web_run(const struct conf *conf, const struct arguments *arguments,
    struct arena *arena)
{
	const char *address = arguments_text(arguments, OPT_DESK);
	char program[PATH_MAX], self[PATH_MAX], port[16];
	char *all[WORDS_MAX] = { program };
	char **words = all + web_add_send(conf, arguments, arena, all + 1);
	struct err err;

	snprintf(port, sizeof(port), "%d", (int)arguments_number(arguments,
	    OPT_PORT, 0));
	words[1] = self;
	words[2] = arena_printf(arena, "%s", arguments->conf_path != NULL ?
	    arguments->conf_path : "");
	words[3] = arena_printf(arena, "%s", conf->run_dir);
	words[4] = port;
	daemon_libexec("zm-web", program, sizeof(program));
	if (address != NULL && web_add_door(conf, arguments, address, arena,
	    words + 5, &err) < 0)
		return verb_failed("web", &err, EX_CONFIG);
	if (web_self(self) < 0)
		return EX_OSERR;
	return web_become(program, all);
}

int
verb_web(struct arguments *arguments)
{
	struct arena *arena;
	struct conf *conf;
	int status;

	if (arguments_has(arguments, OPT_DESK) != arguments_has(arguments,
	    OPT_ROLES))
		return arguments_refuse(arguments, "--listen and --roles "
		    "stand together");
	if (arguments_has(arguments, OPT_SUBMIT) &&
	    !arguments_has(arguments, OPT_SEND))
		return arguments_refuse(arguments, "--submit belongs to "
		    "--send");
	conf = verb_conf_spool(arguments->conf_path);
	arena = arena_new();
	status = web_run(conf, arguments, arena);
	arena_free(&arena);
	conf_free(&conf);
	return status;
}
