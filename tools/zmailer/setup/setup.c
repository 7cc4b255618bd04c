/* setup.c - zmailer setup: the first configuration, asked for
 *
 * In     answers on a terminal, or flags and --yes
 * Out    a zmailer.conf of few lines, checked; what to do next
 * Trusts no answer: the text is checked before it is written; a configuration
 *        that a person made is never touched
 * Spec   zmailer-setup(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "daemon/machine/machine.h"
#include "io/unix_socket.h"
#include "tools/change/change.h"
#include "tools/run/unit.h"
#include "tools/screen/question.h"
#include "tools/zmailer/alias/alias.h"
#include "tools/zmailer/setup/text.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

enum { ANSWER_BYTES = 512 };

static struct question {
	enum option_id	 option;
	const char	*text, *why;
	const char	*answer;	/* NULL: not given yet */
	bool		 is_asked;	/* on a terminal; else flags alone */
} questions[SETUP_QUESTIONS] = {
	[SETUP_HOST] = { OPT_HOST, "Name of this machine in mail",
	    "other servers look it up in the DNS", NULL, true },
	[SETUP_DOMAIN] = { OPT_DOMAIN, "Domain whose mail ends here",
	    "user@DOMAIN is delivered on this machine; - for none", NULL,
	    true },
	[SETUP_LISTEN] = { OPT_LISTEN,
	    "Take mail from others, or from this machine alone",
	    "all, local, or ADDRESS:PORT", NULL, true },
	[SETUP_VIA] = { OPT_VIA, "Host that all other mail goes through",
	    "a smarthost like smtp.isp.example:587; - for direct, by the DNS",
	    NULL, true },
	[SETUP_POSTMASTER] = { OPT_POSTMASTER,
	    "Who reads the mail for postmaster",
	    "a user of this machine, or an address; - for nobody else", NULL,
	    true },
	[SETUP_CERTIFICATE] = { OPT_CERTIFICATE, "TLS certificate, a PEM file",
	    "- for none yet (zmailer cert install)", NULL, true },
	[SETUP_KEY] = { OPT_KEY, "Its key, a PEM file", "- for none", NULL,
	    true },
	[SETUP_SUBMISSION] = { OPT_SUBMISSION,
	    "Users elsewhere send mail through this machine (ports 587, "
	    "465); they log in by",
	    "pam, unix:/PATH of Dovecot's socket, or /PATH of a table of "
	    "users; - for nobody", NULL, true },
	[SETUP_SPOOL] = { OPT_SPOOL, NULL, NULL, NULL, false },
	[SETUP_RUN] = { OPT_RUN, NULL, NULL, NULL, false },
	[SETUP_LOG] = { OPT_LOG, NULL, NULL, NULL, false },
	[SETUP_MAILBOX] = { OPT_MAILBOX, NULL, NULL, NULL, false },
};

struct setup {
	struct arena	*arena;
	const char	*path;
	bool		 is_yes, is_dry, is_for_now;
	bool		 is_anew;	/* in the place of one for now */
	struct change_file file;
	const char	*aliases;	/* their file; NULL: none */
	const char	*logins;	/* their table, if it was made; NULL */
};

/* ---- answers ---------------------------------------------------------- */

static const char *
setup_preset_of(struct setup *setup, int which)
{
	const char *host = questions[SETUP_HOST].answer, *dot, *mailname;
	struct conf_report report;
	struct conf *conf;

	switch (which) {
	case SETUP_HOST:
		conf = conf_parse("", (struct slice){ "", 0 }, setup->arena,
		    &report);
		host = arena_printf(setup->arena, "%s", conf->host);
		conf_free(&conf);
		return host;
	case SETUP_DOMAIN:
		mailname = conf_mailname(setup->arena);
		if (mailname != NULL)
			return mailname;
		dot = strchr(host, '.');
		return dot != NULL && strchr(dot + 1, '.') != NULL ? dot + 1 :
		    dot != NULL ? host : "-";
	case SETUP_LISTEN:
		return "local";
	default:
		return "-";
	}
}

/* Warn of a name that others cannot look up, and what follows from it. */
static bool
setup_name_is_short(int which, const char *answer)
{
	return (which == SETUP_HOST || which == SETUP_DOMAIN) &&
	    strcmp(answer, "-") != 0 && !conf_name_is_full(answer);
}

static void
setup_say_short(FILE *to, const char *front, const char *name)
{
	fprintf(to, "%s%s is no full name: others cannot look it up in the "
	    "DNS, many refuse\nmail from it, and no MX can lead to it; write "
	    "NAME.DOMAIN, as mx.example.org\n", front, name);
}

/* A line of the terminal; NULL at its end. */
static const char *
setup_answer_read(struct setup *setup)
{
	char line[ANSWER_BYTES];

	if (fgets(line, sizeof(line), stdin) == NULL)
		return NULL;
	return slice_dup(setup->arena, slice_trim(slice_of(line)));
}

/* Ask again for a name without a dot; if it is given again, it is meant. */
static const char *
setup_answer_sure(struct setup *setup, int which, const char *preset,
    const char *answer)
{
	const char *again;

	while (answer != NULL && setup_name_is_short(which,
	    answer[0] == '\0' ? preset : answer)) {
		const char *short_name = answer[0] == '\0' ? preset : answer;

		setup_say_short(stdout, "  ", short_name);
		printf("  Once more, or the same again to keep it\n  [%s] ",
		    preset);
		fflush(stdout);
		again = setup_answer_read(setup);
		if (again == NULL || strcmp(again[0] == '\0' ? preset : again,
		    short_name) == 0)
			return again;
		answer = again;
	}
	return answer;
}

/* What follows if there is no certificate. */
static bool
setup_is_settled(int which)
{
	return (which == SETUP_KEY || which == SETUP_SUBMISSION) &&
	    strcmp(questions[SETUP_CERTIFICATE].answer, "-") == 0;
}

static bool
setup_is_given(int which)
{
	return strcmp(questions[which].answer, "-") != 0;
}

/* A statement wants a file from the root; a person names it from here. */
static void
answer_from_root(struct setup *setup, int which)
{
	const char *answer = questions[which].answer;
	char here[PATH_MAX];

	if (answer[0] == '/' || answer[0] == '\0' || !setup_is_given(which) ||
	    getcwd(here, sizeof(here)) == NULL)
		return;
	questions[which].answer = arena_printf(setup->arena, "%s/%s",
	    here[1] == '\0' ? "" : here, answer);
}

static int
ask_all(struct setup *setup)
{
	for (int i = 0; i < SETUP_QUESTIONS; i++) {
		struct question *question = &questions[i];
		const char *preset = setup_preset_of(setup, i), *answer = "";

		if (question->answer != NULL) {
			if (setup_name_is_short(i, question->answer))
				setup_say_short(stderr, "zmailer: setup: ",
				    question->answer);
			continue;
		}
		if (question->is_asked && !setup->is_yes &&
		    !setup_is_settled(i)) {
			printf("%s\n  (%s)\n  [%s] ", question->text,
			    question->why, preset);
			fflush(stdout);
			answer = setup_answer_sure(setup, i, preset,
			    setup_answer_read(setup));
		} else if (setup_name_is_short(i, preset) &&
		    setup->is_yes) {
			setup_say_short(stderr, "zmailer: setup: ", preset);
		}
		if (answer == NULL) {
			printf("\nNothing was done.\n");
			return 1;
		}
		question->answer = answer[0] == '\0' ? preset : answer;
	}
	answer_from_root(setup, SETUP_CERTIFICATE);
	answer_from_root(setup, SETUP_KEY);
	return EX_OK;
}

/* ---- the file ----------------------------------------------------------- */

/* A file without a statement (the installed example) is added to; one that was
 * written for now and not changed is replaced; any other stays as it is. */
static int
setup_file_take(struct setup *setup)
{
	struct change reader = { .verb = "setup", .arena = setup->arena };
	struct conf_piece *pieces;
	struct str *text;
	size_t begin;

	text = change_file(&reader, setup->path, false, 0644);
	if (text == NULL)
		return EX_CANTCREAT;
	setup->is_anew = setup_text_is_for_now(str_slice(text), &begin);
	str_truncate(text, begin);
	setup->file = reader.files[0];
	if (conf_pieces(setup->arena, str_slice(text), &pieces) == 0)
		return EX_OK;
	fprintf(stderr, "zmailer: setup: %s is there already and is not "
	    "touched; zmailer domain, limit, cert ... change it, -C FILE "
	    "names another\n", setup->path);
	return EX_CANTCREAT;
}

static bool
complaint_hints(const struct conf_complaint *complaint, const char *hint)
{
	return complaint->hint != NULL && strcmp(complaint->hint, hint) == 0;
}

/* Those that want an answer in full, of the others how many. */
static void
setup_add_warnings(const struct setup *setup, const struct conf_report *report,
    struct str *out)
{
	struct conf_report rest = { .complaints = arena_alloc(setup->arena,
	    (report->count + 1) * sizeof(*rest.complaints)) };
	size_t accounts = 0, dirs = 0;

	for (size_t i = 0; i < report->count; i++) {
		const struct conf_complaint *one = &report->complaints[i];

		if (complaint_hints(one, "the first start makes it, if it "
		    "may")) {
			dirs++;
		} else if (complaint_hints(one, "the daemons will not start "
		    "as root without it")) {
			accounts++;
		} else {
			rest.complaints[rest.count++] = *one;
			rest.warnings++;
		}
	}
	if (rest.count > 0)
		conf_report_print(&rest, setup->path, out);
	if (accounts + dirs > 0 && !setup->is_for_now)	/* a package's work */
		str_addf(out, "zmailer check has %zu warning%s more until %s\n",
		    accounts + dirs, accounts + dirs == 1 ? "" : "s",
		    accounts > 0 ? "make install-users has made\nthe accounts "
		    "of doc/zmailer.sysusers, and the first start its "
		    "directories" : "the first start makes its directories");
}

/* The file of aliases that is in force; NULL: none. */
static const char *
setup_aliases_of(const struct setup *setup, const struct conf *conf)
{
	const char *path = conf_table_file(conf_table_find(conf, "aliases"));

	return path == NULL ? NULL : arena_printf(setup->arena, "%s", path);
}

static int
setup_check(struct setup *setup)
{
	struct conf_draft draft = { setup->path,
		str_slice(&setup->file.after) };
	struct str text = STR_INIT;
	struct conf_report report;
	struct conf *conf = conf_load_drafts(setup->path, &draft, 1,
	    setup->arena, &report);
	int status = conf == NULL ? EX_CONFIG : EX_OK;
	const char *note;

	if (conf != NULL)
		machine_check(conf, setup->arena, &report);
	if (report.errors > 0)
		status = EX_CONFIG;
	if (status != EX_OK)
		conf_report_print(&report, setup->path, &text);
	else
		setup_add_warnings(setup, &report, &text);
	if (conf != NULL)
		setup->aliases = setup_aliases_of(setup, conf);
	note = status != EX_OK ? NULL : conf_mailname_note(conf,
	    conf_mailname(setup->arena), setup->arena);
	if (note != NULL)
		str_addf(&text, "%s\n", note);
	fputs(text.buf, stderr);
	if (status != EX_OK)
		fprintf(stderr, "zmailer: setup: nothing was written\n");
	str_release(&text);
	conf_free(&conf);
	return status;
}

/* Row E1, and never over another file: one that appeared meanwhile stays. */
static int
setup_file_put(struct setup *setup)
{
	struct change_file made = setup->file;
	struct err err = { "" };
	int result;

	if (!setup->file.is_new) {
		result = change_file_write(&setup->file, &err);
	} else {
		made.target = arena_printf(setup->arena, "%s.setup-%ld",
		    setup->path, (long)getpid());
		result = change_file_write(&made, &err);
		if (result == 0 && link(made.target, setup->path) != 0)
			result = err_sys(&err, "cannot make %s",
			    setup->path);
		(void)unlink(made.target);	/* E1: ours alone */
	}
	if (result == 0)
		return EX_OK;
	fprintf(stderr, "zmailer: setup: %s\n", err.text);
	return EX_CANTCREAT;
}

/* The host's own instance is started at boot: by its unit where systemd is,
 * elsewhere it is said what to do.  out_start is how it is started now. */
static int
setup_unit(struct setup *setup, const char **out_start)
{
	if (strcmp(setup->path, conf_default_path()) != 0 || geteuid() != 0 ||
	    getenv("ZMAILER_CONF") != NULL)
		return EX_OK;
	if (!unit_is_installed()) {
		printf("not started at boot: there is no unit %s\n"
		    "  (make install puts it there)\n", unit_path());
		return EX_OK;
	}
	if (!unit_has_manager()) {
		printf("not started at boot: there is no systemctl; let the "
		    "system run\n  zmailer run\n");
		return EX_OK;
	}
	if (!setup->is_yes && !question_is_yes("Start zmailer at each boot "
	    "(systemctl enable %s)", unit_path()))
		return EX_OK;
	*out_start = setup->is_anew ? "systemctl reload-or-restart zmailer" :
	    "systemctl start zmailer";
	return unit_enable() == 0 ? EX_OK : EX_UNAVAILABLE;
}

/* An alias is asked before the statement postmaster is: Debian's package
 * base-passwd, for one, writes `postmaster: root` into /etc/aliases. */
static int
setup_postmaster(struct setup *setup, const struct arguments *arguments)
{
	const char *who = questions[SETUP_POSTMASTER].answer;
	struct alias_place place;
	struct change change;
	int status = EX_OK;

	if (!setup_is_given(SETUP_POSTMASTER) || who[0] == '\0' ||
	    change_open(&change, arguments) != 0)
		return EX_OK;
	if (alias_find(&change, "postmaster", &place) &&
	    strcasecmp(place.value, who) != 0) {
		printf("%s:%u says `postmaster: %s`, and an alias wins over "
		    "the statement postmaster:\n", place.path, place.line,
		    place.value);
		fflush(stdout);
		change.is_quiet_table = true;
		alias_put(&change, "postmaster", who);
		status = change_carry_out(&change);
		if (status != EX_OK)
			fprintf(stderr, "zmailer: setup: mail for postmaster "
			    "goes to %s; `zmailer alias add postmaster %s` "
			    "gives it to both, an edit of %s to one\n",
			    place.value, who, place.path);
	}
	change_release(&change);
	return status == 1 ? EX_OK : status;	/* the answer was no */
}

static void
setup_file_fill(struct setup *setup)
{
	struct setup_answers answers;
	struct str text = STR_INIT;

	for (int i = 0; i < SETUP_QUESTIONS; i++)
		answers.of[i] = questions[i].answer;
	setup_text_add(&text, &answers, str_slice(&setup->file.after));
	printf("\n%s\n", text.buf);
	fflush(stdout);
	conf_put_last(&setup->file.after, text.buf);
	if (setup->is_for_now)
		setup_text_mark(&setup->file.after);
	str_release(&text);
}

/* The table of users, if nobody has made it: empty, for its owner alone.  0;
 * -1: the caller wants the words. */
static int
setup_logins_make(struct setup *setup, struct err *err)
{
	const char *path = questions[SETUP_SUBMISSION].answer;
	int fd;

	if (!setup_is_given(SETUP_SUBMISSION) || path[0] != '/' ||
	    access(path, F_OK) == 0)
		return 0;
	if (setup->is_dry) {
		printf("%s is not there: without --dry-run it is made, "
		    "empty\n", path);
		return 0;
	}
	if (!setup->is_yes && !question_is_yes("%s is not there.  Make it, "
	    "empty", path))
		return 0;	/* the check says what is missing */
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
	    0600);
	if (fd < 0)
		return err_sys(err, "cannot make %s", path);
	(void)close(fd);
	setup->logins = path;
	return 0;
}

static void
setup_logins_tell(const struct setup *setup)
{
	if (setup->logins != NULL)
		printf("made %s, empty; its first line:\n"
		    "  zmailer user add NAME\n", setup->logins);
}

static void
setup_logins_unmake(const struct setup *setup)
{
	if (setup->logins != NULL)
		(void)unlink(setup->logins);
}

static int
write_it(struct setup *setup, const struct arguments *arguments)
{
	const char *start = setup->is_anew ? "zmailer reload" :
	    "zmailer start";
	struct err err;
	int status;

	setup_file_fill(setup);
	if (setup_logins_make(setup, &err) < 0)
		return verb_failed("setup", &err, EX_CANTCREAT);
	status = setup_check(setup);
	if (status == EX_OK && setup->is_dry)
		return status;
	if (status == EX_OK && !setup->is_yes &&
	    !question_is_yes("Write this to %s", setup->path))
		status = 1;
	if (status == EX_OK)
		status = setup_file_put(setup);
	if (status != EX_OK) {
		setup_logins_unmake(setup);
		return status;
	}
	printf("wrote %s\n", setup->path);
	if (setup->aliases != NULL)
		printf("the aliases of %s are in force%s (zmailer alias "
		    "list)\n", setup->aliases, access(setup->aliases, F_OK) ==
		    0 ? "" : " as soon as there is one");
	setup_logins_tell(setup);
	fflush(stdout);
	status = setup_postmaster(setup, arguments);
	if (status == EX_OK)
		status = setup_unit(setup, &start);
	printf("next:\n");
	if (!setup->is_for_now)		/* a package starts it itself */
		printf("  %s      %s\n", start, setup->is_anew ?
		    "takes it over, where zmailer runs" :
		    "starts the daemons");
	printf("  zmailer hello      sends one message and follows it\n"
	    "  zmailer doctor     says what the DNS still lacks\n");
	if (!setup_is_given(SETUP_SUBMISSION))
		printf("users elsewhere who are to send through this machine "
		    "(ports 587, 465): %szmailer help auth\n",
		    setup_is_given(SETUP_CERTIFICATE) ? "" :
		    "zmailer cert install FILE KEY, then ");
	return status;
}

/* ---- the command line --------------------------------------------------- */

static int
submission_check(const struct arguments *arguments)
{
	const char *how = questions[SETUP_SUBMISSION].answer;
	struct slice path = SLICE("");

	if (!setup_is_given(SETUP_SUBMISSION))
		return EX_OK;
	if (strcmp(how, "pam") != 0 && how[0] != '/' &&
	    !(unix_socket_path(slice_of(how), &path) &&
	    slice_starts(path, "/")))
		return arguments_refuse(arguments, "--submission: pam, "
		    "unix:/PATH of Dovecot's socket, or /PATH of a table of "
		    "users (a line each: NAME ENTRY, zmailer help auth)");
	if (!setup_is_given(SETUP_CERTIFICATE))
		return arguments_refuse(arguments, "--submission wants "
		    "--certificate and --key: passwords do not go in the "
		    "clear (certbot, or zmailer cert install once there is "
		    "one, then: zmailer help auth)");
	return EX_OK;
}

static int
answers_check(const struct arguments *arguments)
{
	for (int i = 0; i < SETUP_QUESTIONS; i++) {
		const char *flag = option_rows[questions[i].option].name;
		struct slice answer = slice_of(questions[i].answer);

		for (size_t k = 0; k < answer.n; k++)
			if ((unsigned char)answer.p[k] < 32 ||
			    answer.p[k] == 127)
				return arguments_refuse(arguments,
				    "%s: control characters", flag);
		if (i != SETUP_POSTMASTER && i != SETUP_CERTIFICATE &&
		    answer.n == 0)
			return arguments_refuse(arguments, "%s: an empty "
			    "answer", flag);
	}
	if (strpbrk(questions[SETUP_DOMAIN].answer, " ;{}#\"<>") != NULL)
		return arguments_refuse(arguments, "--domain: one name");
	return submission_check(arguments);
}

int
verb_setup(struct arguments *arguments)
{
	const char *conf_path = arguments->conf_path;
	struct setup setup = {
	    .is_dry = arguments_has(arguments, OPT_DRY_RUN),
	    .is_for_now = arguments_has(arguments, OPT_FOR_NOW),
	    .is_yes = arguments_has(arguments, OPT_YES) ||
		arguments_has(arguments, OPT_DRY_RUN) };
	int status;

	for (int i = 0; i < SETUP_QUESTIONS; i++)
		questions[i].answer = arguments_text(arguments,
		    questions[i].option);
	if (!setup.is_yes && !isatty(STDIN_FILENO))
		return arguments_refuse(arguments, "it asks on a terminal; "
		    "elsewhere say --yes, and what is to be different");
	setup.arena = arena_new();
	setup.path = conf_path != NULL ? conf_path : conf_default_path();
	status = setup_file_take(&setup);
	if (status == EX_OK)
		status = ask_all(&setup);
	if (status == EX_OK)
		status = answers_check(arguments);
	if (status == EX_OK)
		status = write_it(&setup, arguments);
	str_release(&setup.file.before);
	str_release(&setup.file.after);
	arena_free(&setup.arena);
	return status;
}
