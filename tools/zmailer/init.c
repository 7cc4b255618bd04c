/* init.c - zmailer init: a private instance that any user can start
 *
 * In     zmailer init DIR [--port N] [--sink PORT]
 * Out    DIR with a configuration, users, aliases, a spool; what is there
 *        already is kept as it is
 * Trusts DIR only when it is empty or an instance already
 * Spec   zmailer(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "mail/spool/spool.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

enum { PORT_PRESET = 2525 };

struct init {
	struct arena	*arena;
	const char	*dir;		/* absolute */
	uint64_t	 port, sink_port;
};

static int
init_problem(const char *what, const char *why)
{
	fprintf(stderr, "zmailer: init: %s: %s\n", what, why);
	return EX_CANTCREAT;
}

static mode_t
directory_mode(void)
{
	return geteuid() == 0 ? 0755 : 0700;
}

static int
init_make_directory(const char *path)
{
	if (mkdir(path, directory_mode()) != 0 && errno != EEXIST)
		return init_problem(path, strerror(errno));
	return EX_OK;
}

/* Empty, or made by us before? */
static int
init_check_directory(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	bool is_empty = true, is_instance = false;

	if (dir == NULL)
		return init_problem(path, strerror(errno));
	while ((entry = readdir(dir)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 ||
		    strcmp(entry->d_name, "..") == 0)
			continue;
		is_empty = false;
		if (strcmp(entry->d_name, "zmailer.conf") == 0)
			is_instance = true;
	}
	closedir(dir);
	if (is_empty || is_instance)
		return EX_OK;
	return init_problem(path,
	    "there is something in it that is no instance of "
	    "zmailer; name a new directory");
}

/* Make a file that is not there; one that is stays as it is. */
static int
write_new(const struct init *init, const char *name, const struct str *text)
{
	const char *path = arena_printf(init->arena, "%s/%s", init->dir, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW |
	    O_CLOEXEC, 0644);
	bool is_good;

	if (fd < 0 && errno == EEXIST) {
		printf("  kept %s\n", path);
		return EX_OK;
	}
	if (fd < 0)
		return init_problem(path, strerror(errno));
	is_good = write(fd, text->buf, text->len) == (ssize_t)text->len;
	if (close(fd) != 0 || !is_good)
		return init_problem(path, "cannot be written whole");
	printf("  made %s\n", path);
	return EX_OK;
}

/* A path as the value of a statement. */
static const char *
init_quoted(const struct init *init, const char *before, const char *after)
{
	struct str text = STR_INIT;
	const char *result;

	str_addf(&text, "\"%s", before);
	for (const char *p = init->dir; *p != '\0'; p++) {
		if (*p == '"' || *p == '\\')
			str_addc(&text, '\\');
		str_addc(&text, *p);
	}
	str_addf(&text, "%s\"", after);
	if (strpbrk(init->dir, " \t;{}#\"\\") == NULL)
		result = arena_printf(init->arena, "%.*s",
		    (int)text.len - 2, text.buf + 1);
	else
		result = slice_dup(init->arena, str_slice(&text));
	str_release(&text);
	return result;
}

static int
write_conf(const struct init *init, const char *host)
{
	struct str text = STR_INIT;
	int status;

	str_addf(&text,
	    "# zmailer.conf of a private instance: `zmailer help STATEMENT` "
	    "explains a line,\n"
	    "# `zmailer check` reads the file as the daemons would.\n\n"
	    "host    %s\n"
	    "listen  127.0.0.1:%u\n"
	    "spool   %s\n"
	    "run     %s\n"
	    "log     %s\n"
	    "mailbox maildir %s\n\n"
	    "table  users   %s\n"
	    "table  aliases %s\n"
	    "domain localhost%s%s { users <users>; aliases <aliases> }\n\n",
	    host, (unsigned)init->port, init_quoted(init, "", "/spool"),
	    init_quoted(init, "", "/run"), init_quoted(init, "", "/log"),
	    init_quoted(init, "", "/mail/{user}"), init_quoted(init, "file:",
	    "/users"),
	    init_quoted(init, "file:", "/aliases"),
	    strcmp(host, "localhost") == 0 ? "" : " ",
	    strcmp(host, "localhost") == 0 ? "" : host);
	if (geteuid() == 0)
		str_adds(&text, "# root made this: all of it runs as root, "
		    "with no account of its own\n"
		    "user smtpserver -\nuser router -\nuser scheduler -\n"
		    "user agent -\n\n");
	if (init->sink_port != 0)
		str_addf(&text, "route * via 127.0.0.1:%u\n",
		    (unsigned)init->sink_port);
	else
		str_adds(&text, "# other domains: what the DNS says, unless a "
		    "route says otherwise\n"
		    "#route * via smtp.isp.example:587\n");
	status = write_new(init, "zmailer.conf", &text);
	str_release(&text);
	return status;
}

/* Letters and digits only: it becomes a line of a table. */
static bool
init_is_plain(const char *name)
{
	return name[0] != '\0' && strspn(name, "abcdefghijklmnopqrstuvwxyz"
	    "0123456789_-.") == strlen(name);
}

static int
write_users(const struct init *init)
{
	const struct passwd *account = getpwuid(getuid());
	struct str text = STR_INIT;
	int status;

	str_adds(&text, "# who has a mailbox here, one name a line\n"
	    "postmaster\nalice\nbob\n");
	if (account != NULL && init_is_plain(account->pw_name) &&
	    strcmp(account->pw_name, "postmaster") != 0 &&
	    strcmp(account->pw_name, "alice") != 0 &&
	    strcmp(account->pw_name, "bob") != 0)
		str_addf(&text, "%s\n", account->pw_name);
	status = write_new(init, "users", &text);
	str_release(&text);
	return status;
}

static int
write_aliases(const struct init *init)
{
	struct str text = STR_INIT;
	int status;

	str_adds(&text, "# names that stand for others\n"
	    "mailer-daemon: postmaster\n"
	    "abuse:         postmaster\n"
	    "everybody:     alice, bob\n");
	status = write_new(init, "aliases", &text);
	str_release(&text);
	return status;
}

static int
make_spool(const struct init *init)
{
	struct spool *spool;
	struct err err;

	if (spool_open(arena_printf(init->arena, "%s/spool", init->dir),
	    SPOOL_CREATE, 0, &spool, &err) != 0)
		return init_problem("the spool", err.text);
	spool_close(&spool);
	return EX_OK;
}

/* Our name: the system's, if mail can use it. */
static const char *
host_name(struct arena *arena)
{
	struct conf_report report;
	struct conf *conf = conf_parse("", (struct slice){ "", 0 }, arena,
	    &report);
	const char *host = arena_printf(arena, "%s",
	    conf ? conf->host : "localhost");

	conf_free(&conf);
	return host;
}

static void
say_next(const struct init *init)
{
	printf("next:\n"
	    "  export ZMAILER_CONF=%s/zmailer.conf\n"
	    "  zmailer check\n"
	    "  zmailer start\n"
	    "  printf 'Subject: hello\\n\\nfrom me\\n' | sendmail "
	    "alice@localhost\n"
	    "  cat %s/mail/alice/new/*\n"
	    "  zmailer stop\n", init->dir, init->dir);
	if (geteuid() == 0)
		printf("all of this instance runs as root; better make and "
		    "start one as another user\n");
}

static int
make_instance(struct init *init, const char *dir)
{
	static const char *const names[] = { "spool", "run", "log", "mail" };
	char *path;
	int status = init_make_directory(dir);

	if (status == EX_OK)
		status = init_check_directory(dir);
	if (status != EX_OK)
		return status;
	path = realpath(dir, NULL);
	if (path == NULL)
		return init_problem(dir, strerror(errno));
	init->dir = arena_printf(init->arena, "%s", path);
	free(path);	/* realpath made it */
	for (const char *p = init->dir; *p != '\0'; p++)
		if ((unsigned char)*p < 32)
			return init_problem(dir,
			    "a path with control characters");
	/* first: it is what makes it an instance, so that a second call may
	 * finish what a first one began */
	status = write_conf(init, host_name(init->arena));
	for (size_t i = 0; i < 4 && status == EX_OK; i++)
		status = init_make_directory(arena_printf(init->arena, "%s/%s",
		    init->dir, names[i]));
	if (status == EX_OK)
		status = make_spool(init);
	if (status == EX_OK)
		status = write_users(init);
	if (status == EX_OK)
		status = write_aliases(init);
	if (status == EX_OK)
		say_next(init);
	return status;
}

int
verb_init(struct arguments *arguments)
{
	struct init init = {
	    .port = (uint64_t)arguments_number(arguments, OPT_PORT,
		PORT_PRESET),
	    .sink_port = (uint64_t)arguments_number(arguments, OPT_SINK,
		0) };
	int status;

	if (init.port == 0)
		return arguments_refuse(arguments, "--port wants a port");
	init.arena = arena_new();
	status = make_instance(&init, arguments->words[0]);
	arena_free(&init.arena);
	return status;
}
