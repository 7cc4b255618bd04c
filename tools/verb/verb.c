/* verb.c - what all verbs do alike
 *
 * In     a path, an error
 * Out    a configuration, words on standard error
 * Spec   verb.h; zmailer(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <limits.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/err.h"
#include "tools/verb/verb.h"

#include "base/banned.h"

const char verb_readers[] = "root may, and members of the groups that "
    "`control operators` and `control admins` name in zmailer.conf; "
    "`usermod -aG GROUP USER` and a new login make one a member (zmailer "
    "help control)";

static struct conf *
verb_conf_settle(struct conf *conf, const char *path)
{
	if (conf != NULL)
		return conf;
	if (path == NULL)
		path = conf_default_path();
	fputs(access(path, F_OK) != 0 ?
	    "`zmailer setup` writes one; -C FILE or ZMAILER_CONF "
	    "names another\n" : "mend it, or see `zmailer config "
	    "diff`; `zmailer config undo` goes back\n", stderr);
	exit(EX_CONFIG);
}

struct conf *
verb_conf(const char *conf_path)
{
	return verb_conf_settle(conf_in_force_or_tell(conf_path), conf_path);
}

struct conf *
verb_conf_spool(const char *conf_path)
{
	return verb_conf_settle(conf_makeshift_or_tell(conf_path), conf_path);
}

struct conf *
verb_conf_file(const char *conf_path)
{
	static char path[PATH_MAX];
	struct arena *arena = arena_new();
	const char *file = conf_path_of(arena, conf_path != NULL ? conf_path :
	    conf_default_path());

	if (realpath(file, path) != NULL)
		conf_path = path;
	arena_free(&arena);
	return verb_conf_settle(conf_load_or_tell(conf_path), conf_path);
}

int
verb_failed(const char *name, const struct err *err, int status)
{
	fprintf(stderr, "zmailer: %s: %s%s\n", name, err->text,
	    err_is_denied(err) ? ": not yours; ask as root, or as the account "
	    "that zmailer runs as" : "");
	return err_is_denied(err) ? EX_NOPERM : status;
}

bool
verb_is_fancy(void)
{
	const char *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && getenv("NO_COLOR") == NULL &&
	    term != NULL && strcmp(term, "dumb") != 0;
}

static void
verb_caller(char *out, size_t size)
{
	uid_t uid = getuid();
	struct passwd *pw = getpwuid(uid);

	if (pw != NULL)
		snprintf(out, size, "%s", pw->pw_name);
	else
		snprintf(out, size, "uid%ju", (uintmax_t)uid);
}

/* Of the user for whom a program acts.  NULL: nobody. */
static const char *
verb_named(void)
{
	const char *named = getenv("ZMAILER_WHO");

	return named != NULL && *named != '\0' ? named : NULL;
}

void
verb_who(char *out, size_t size)
{
	const char *named = verb_named();

	if (named != NULL)
		snprintf(out, size, "%s", named);
	else
		verb_caller(out, size);
}

void
verb_by(char out[VERB_BY_BYTES])
{
	const char *named = verb_named();
	char user[64];

	verb_caller(user, sizeof(user));
	if (named != NULL)
		snprintf(out, VERB_BY_BYTES, "%.64s(%s)", named, user);
	else
		snprintf(out, VERB_BY_BYTES, "%s", user);
}
