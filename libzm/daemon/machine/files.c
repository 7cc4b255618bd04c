/* files.c - what a configuration needs of the machine is there
 *
 * In     a conf that is right in itself
 * Out    more complaints: directories that are missing or lie on two file
 *        systems, accounts
 * Holds  nothing
 * Spec   zmailer(8), check
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conf/edit.h"
#include "conf/show/show.h"
#include "daemon/machine/look.h"
#include "daemon/machine/machine.h"
#include "daemon/skeleton.h"
#include "grammar/mailq.h"
#include "mail/form.h"
#include "mail/spool/spool.h"

#include "base/banned.h"

static struct conf_at
at_of_setting(const struct machine_look *look, const char *statement,
    const char *key)
{
	const struct conf_setting *setting = conf_setting_find(statement,
	    slice_of(key));

	return look->conf->book->setting_at[setting - conf_settings];
}

/* A file that says what is done: there, and nobody else's to write. */
static void
check_file(struct machine_look *look, const char *what, const char *path,
    struct conf_at at, mode_t forbidden)
{
	struct stat st;
	const char *wrong = NULL;

	if (stat(path, &st) != 0)
		wrong = strerror(errno);
	else if (!S_ISREG(st.st_mode))
		wrong = "it is no regular file";
	else if ((st.st_mode & forbidden) != 0)
		wrong = forbidden & S_IROTH ? "others may read or write it" :
		    "others than its owner may write it";
	if (wrong != NULL)
		machine_tell(look, CONF_ERROR, at,
		    stat(path, &st) != 0 ? "make the file, or name another" :
		    S_ISREG(st.st_mode) ? arena_printf(look->arena,
		    "chmod %s %s", forbidden & S_IROTH ? "o-rw,g-w" : "go-w",
		    path) : "name a file of text lines",
		    arena_printf(look->arena,
		    "%s %s: %s", what, path, wrong));
}

/* Who reads it is another account than root: a process that gives up its
 * rights as that one does looks whether it may.  returns 0 or an errno */
static int
role_why_unread(const struct machine_look *look, enum conf_role role,
    const char *path)
{
	pid_t pid = fork();
	struct err err;
	int status;

	if (pid == 0) {
		int fd = daemon_drop(look->conf, role, &err) < 0 ? 0 :
		    open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

		_exit(fd < 0 ? errno : 0);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

static void
check_reader(struct machine_look *look, enum conf_role role, const char *what,
    const char *path, struct conf_at at)
{
	const char *account = look->conf->accounts[role];

	if (geteuid() != 0 || strcmp(account, "-") == 0 ||
	    access(path, F_OK) != 0 ||
	    role_why_unread(look, role, path) != EACCES)
		return;
	machine_tell(look, CONF_ERROR, at, arena_printf(look->arena,
	    "chgrp %s %s; chmod g+r %s; its directories need x for %s",
	    account, path, path, account), arena_printf(look->arena,
	    "%s %s: the account %s, which reads it, may not", what, path,
	    account));
}

static void
check_expansion(struct machine_look *look)
{
	const struct conf *conf = look->conf;

	for (size_t i = 0; i < conf->list_count; i++) {
		check_file(look, "the members of the list,",
		    conf->lists[i].members, conf->lists[i].at,
		    S_IWGRP | S_IWOTH);
		check_reader(look, ROLE_ROUTER, "the members of the list,",
		    conf->lists[i].members, conf->lists[i].at);
	}
	if (conf->srs.domain == NULL)
		return;
	check_file(look, "the keys of srs,", conf->srs.key, conf->srs.at,
	    S_IWGRP | S_IWOTH | S_IROTH);
}

static const char *const system_directories[] = { "/", "/bin", "/boot", "/dev",
    "/etc", "/home", "/lib", "/media", "/mnt", "/opt", "/proc", "/root", "/run",
    "/sbin", "/srv", "/sys", "/tmp", "/usr", "/usr/local", "/var", "/var/cache",
    "/var/lib", "/var/lock", "/var/log", "/var/mail", "/var/run", "/var/spool",
    "/var/spool/mail", "/var/tmp", "/etc/zmailer" };

/* Others use it, and a start as root would give it an owner and a mode. */
static bool
directory_is_of_system(const char *path)
{
	struct slice text = slice_of(path);

	while (text.n > 1 && text.p[text.n - 1] == '/')
		text.n--;
	for (size_t i = 0; i < sizeof(system_directories) /
	    sizeof(system_directories[0]); i++)
		if (slice_is(text, system_directories[i]))
			return true;
	return false;
}

/* Returns whether it is a directory. */
static bool
check_directory(struct machine_look *look, const char *statement,
    const char *path, struct stat *out)
{
	struct conf_at at = at_of_setting(look, statement, "");

	if (directory_is_of_system(path)) {
		machine_tell(look, CONF_ERROR, at, arena_printf(look->arena,
		    "name one of its own, as %s/zmailer",
		    strcmp(path, "/") == 0 ? "/var/spool" : path),
		    arena_printf(look->arena, "%s %s is a directory of the "
		    "system: its owner and mode would be changed", statement,
		    path));
		return false;
	}
	if (stat(path, out) != 0) {
		machine_tell(look, CONF_WARNING, at,
		    "the first start makes it, if it may",
		    arena_printf(look->arena, "%s %s: %s", statement, path,
		    strerror(errno)));
		return false;
	}
	if (S_ISDIR(out->st_mode))
		return true;
	machine_tell(look, CONF_ERROR, at, NULL, arena_printf(look->arena,
	    "%s %s is no directory", statement, path));
	return false;
}

static void
check_area(struct machine_look *look,
    const struct stat *spool, const char *name)
{
	const char *path = arena_printf(look->arena, "%s/%s",
	    look->conf->spool_dir, name);
	struct stat st;

	if (stat(path, &st) != 0) {
		if (errno != ENOENT)
			machine_tell(look, CONF_WARNING,
			    at_of_setting(look, "spool", ""), NULL,
			    arena_printf(look->arena, "%s: %s", path,
			    strerror(errno)));
		return;
	}
	if (st.st_dev != spool->st_dev)
		machine_tell(look, CONF_ERROR,
		    at_of_setting(look, "spool", ""),
		    "a spool is one file system: mail moves by rename(2)",
		    arena_printf(look->arena, "%s is on another file system "
		    "than %s", path, look->conf->spool_dir));
}

/* The directory in front of the first part that depends on the user. */
static void
check_mailbox(struct machine_look *look)
{
	const char *path = look->conf->mailbox_path;
	const char *account = look->conf->mailbox_account;
	const char *brace = strchr(path, '{');
	size_t n = brace ? (size_t)(brace - path) : strlen(path);
	struct stat st;
	char *dir;

	while (n > 0 && path[n - 1] != '/')
		n--;
	if (n == 0)
		return;
	dir = arena_dup(look->arena, path, n > 1 ? n - 1 : 1);
	if (stat(dir, &st) != 0)
		machine_tell(look, CONF_WARNING, look->conf->book->mailbox_at,
		    account == NULL ? "make that directory" : arena_printf(
		    look->arena, "install -d -o %s %s", account, dir),
		    arena_printf(look->arena, "mailboxes in %s: %s", dir,
		    strerror(errno)));
}

/* Accounts matter only to who can change to them. */
static void
check_accounts(struct machine_look *look)
{
	for (size_t i = 0; i < ROLE_COUNT && geteuid() == 0; i++) {
		const char *name = look->conf->accounts[i];
		uint64_t number;

		if (!conf_uses_role(look->conf, (int)i) ||
		    (conf_role_is_extra((int)i) &&
		    daemon_is_private(look->conf)) ||
		    strcmp(name, "-") == 0 || getpwnam(name) != NULL ||
		    slice_number(slice_of(name), 1, UINT32_MAX, &number))
			continue;
		machine_tell(look, CONF_WARNING,
		    at_of_setting(look, "user", conf_role_names[i]),
		    "the daemons will not start as root without it",
		    arena_printf(look->arena, "the account '%s' of %s does "
		    "not exist", name, conf_role_names[i]));
	}
}

static void
check_classes(struct machine_look *look)
{
	struct err err;

	if (conf_classes_load(look->conf, &err) < 0)
		machine_tell(look, CONF_ERROR,
		    at_of_setting(look, "classes", ""),
		    NULL, arena_printf(look->arena, "%s: %s",
		    look->conf->classes_path, err.text));
}

/* The scheduler goes on without a language whose form is bad. */
static void
check_forms(struct machine_look *look)
{
	struct slice rest = slice_of(look->conf->report_languages), word;
	struct report_form form;
	struct stat st;
	struct err err;

	while (slice_word(&rest, &word)) {
		const char *language = slice_dup(look->arena, word);

		if (form_load(look->arena, look->conf->report_forms, language,
		    &form, &err) == 0)
			continue;
		/* English is built in */
		if (strcmp(language, "en") == 0 && stat(arena_printf(
		    look->arena, "%s/en", look->conf->report_forms),
		    &st) != 0 && errno == ENOENT)
			continue;
		machine_tell(look, CONF_ERROR, at_of_setting(look, "report",
		    "languages"), "reports would not be in this language",
		    arena_printf(look->arena, "%s", err.text));
	}
}

#define MAILQ_USER_FORM "write NAME:PASSWORD:RIGHT...[:[ADDRESS]/WIDTH...], " \
	"rights SNMP QQ TT ETRN KILL ALL NONE; no reload is needed"

/* Each bad line; the line itself is not shown, it has a password. */
static void
check_mailq_users(struct machine_look *look, const char *path)
{
	struct str text = STR_INIT;
	struct slice rest, line;
	struct conf_at at = { path, 0, 1 };
	struct mailq_user user;
	struct err err;

	if (conf_read_file(path, &text, &err) < 0)
		str_reset(&text);	/* check_file has said so */
	rest = str_slice(&text);
	while (slice_cut(&rest, '\n', &line)) {
		at.line++;
		if (mailq_user_parse(line, &user, &err) == MAILQ_LINE_BAD)
			conf_complain_line(look->report, look->arena,
			    CONF_ERROR, at, 1, NULL, MAILQ_USER_FORM,
			    err.text);
	}
	str_release(&text);
}

static void
check_mailq(struct machine_look *look)
{
	const struct conf_mailq *mailq = &look->conf->mailq;

	if (mailq->users == NULL)
		return;
	check_file(look, "the users of mailq,", mailq->users,
	    mailq->listen.at, S_IWGRP | S_IWOTH | S_IROTH);
	check_reader(look, ROLE_AGENT, "the users of mailq,", mailq->users,
	    mailq->listen.at);
	check_mailq_users(look, mailq->users);
}

/* Who can write the configuration says what root runs. */
static void
check_source(struct machine_look *look, const char *path,
    const struct stat *st)
{
	struct conf_at nowhere = { .file = NULL };

	if ((st->st_mode & S_IWOTH) != 0)
		machine_tell(look, CONF_WARNING, nowhere,
		    arena_printf(look->arena, "chmod o-w %s: who "
		    "writes there says what runs as root", path),
		    arena_printf(look->arena, "%s can be changed by "
		    "everybody on this machine", path));
	else if (st->st_uid != 0 && geteuid() == 0)
		machine_tell(look, CONF_WARNING, nowhere,
		    arena_printf(look->arena, "chown root %s: who "
		    "writes there says what runs as root", path),
		    arena_printf(look->arena, "%s belongs to uid %ju, who "
		    "can change it", path, (uintmax_t)st->st_uid));
}

static void
check_sources(struct machine_look *look)
{
	const struct conf_source *one = look->conf->book->sources;
	const char *main_path = look->conf->path;
	struct stat st;

	for (; one != NULL; one = one->next) {
		if (one->name == NULL || stat(one->name, &st) != 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		check_source(look, one->name, &st);
		if (conf_is_empty(look->conf) && main_path != NULL &&
		    strcmp(one->name, main_path) == 0)
			machine_tell(look, CONF_WARNING,
			    (struct conf_at){ .file = NULL },
			    "zmailer setup on a new host; else zmailer config "
			    "undo, or put its text back, before it is taken "
			    "over", arena_printf(look->arena,
			    "%s is empty: no mail from the network, and none "
			    "for a domain", one->name));
	}
}

void
machine_check(const struct conf *conf, struct arena *arena,
    struct conf_report *report)
{
	struct machine_look look = { conf, arena, report, 1 };
	struct stat spool, st;

	machine_check_tables(&look);
	if (check_directory(&look, "spool", conf->spool_dir, &spool))
		for (size_t i = 0; i < AREA_COUNT; i++)
			check_area(&look, &spool, spool_area_names[i]);
	check_directory(&look, "run", conf->run_dir, &st);
	check_directory(&look, "log", conf->log_dir, &st);
	check_expansion(&look);
	check_mailbox(&look);
	check_classes(&look);
	machine_check_programs(&look);
	machine_check_hooks(&look);
	check_forms(&look);
	check_mailq(&look);
	check_sources(&look);
	check_accounts(&look);
	machine_check_certificates(conf, arena, report);
	machine_check_signs(&look);
	machine_check_cluster(&look);
	machine_check_notify(&look);
	machine_check_resolver(&look);
	machine_check_neighbours(&look);
	machine_check_log_to(&look);
	machine_check_postmaster(&look);
	machine_check_relay(&look);
	machine_check_warm_ups(&look);
	conf_report_sort(report, conf->book);
}
