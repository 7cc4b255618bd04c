/* smarthost.c - zmailer smarthost: all other mail goes through a host
 *
 * In     a host, a name and a password for it; the host's answers
 * Out    route, tls-to, auth-to and the table of passwords, changed when the
 *        host took us
 * Trusts no password on the command line, where everybody could read it
 * Spec   zmailer-smarthost(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/json.h"
#include "tools/screen/hidden.h"
#include "tools/zmailer/smarthost/smarthost.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

struct wish {
	struct smarthost host;
	const char	*password_file;
	bool		 is_untested;
};

/* ---- the password ------------------------------------------------------ */

/* The first line of a file, or of a person's terminal.  NULL: none came. */
static const char *
smarthost_line_read(struct change *change, int fd, const char *prompt)
{
	struct str line = STR_INIT;
	const char *result = hidden_line_read(fd, prompt, SMARTHOST_WORD_BYTES,
				 &line) != 0 ?
	    NULL :
	    slice_dup(change->arena, str_slice(&line));

	explicit_bzero(line.buf, line.len);
	str_release(&line);
	return result;
}

static int
password_take(struct change *change, struct wish *wish)
{
	const char *file = wish->password_file;
	int fd = STDIN_FILENO;

	if (file == NULL && !isatty(STDIN_FILENO))
		return arguments_refuse(change->arguments, "--user needs "
		    "--password FILE, or - for standard input");
	if (file != NULL && strcmp(file, "-") != 0)
		fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0) {
		fprintf(stderr, "zmailer: smarthost: %s cannot be read: %m\n",
		    file);
		return EX_NOINPUT;
	}
	wish->host.password = smarthost_line_read(change, fd, file !=
	    NULL ? NULL : arena_printf(change->arena, "Password of %s at "
	    "%s: ", wish->host.user, wish->host.name));
	if (fd != STDIN_FILENO)
		close(fd);
	if (wish->host.password != NULL && wish->host.password[0] != '\0' &&
	    strpbrk(wish->host.password, " \t") == NULL &&
	    strlen(wish->host.password) < SMARTHOST_WORD_BYTES)
		return EX_OK;
	fprintf(stderr, "zmailer: smarthost: the password must be one word, "
	    "of at most %d bytes, on the first line\n",
	    SMARTHOST_WORD_BYTES - 1);
	return EX_DATAERR;
}

/* ---- what is there ----------------------------------------------------- */

static const char *
login_of(const struct conf *conf)
{
	return conf->auth_to.table == NULL ? "none" : conf->auth_to.table;
}

static int
smarthost_show(const struct change *change)
{
	const struct conf_route *route = smarthost_route(change->conf);
	struct str out = STR_INIT;

	if (route == NULL || strcmp(route->channel, "smtp") != 0 ||
	    route->host[0] == '\0') {
		fprintf(stderr, "zmailer: smarthost: there is none: mail goes "
		    "where the DNS says\n");
		return 1;
	}
	if (change->is_json) {
		json_open_answer(&out);
		json_text(&out, "host", slice_of(route->host));
		json_text(&out, "login", slice_of(login_of(change->conf)));
		json_text(&out, "file", slice_of(route->at.file));
		json_number(&out, "line", route->at.line);
		json_close(&out);
	} else {
		str_addf(&out, "%s  (%s:%u)  logins: %s\n", route->host,
		    route->at.file, route->at.line, login_of(change->conf));
	}
	fputs(out.buf, stdout);
	str_release(&out);
	return EX_OK;
}

static int
smarthost_test(const struct change *change)
{
	const struct conf_route *route = smarthost_route(change->conf);

	if (route == NULL || strcmp(route->channel, "smtp") != 0 ||
	    route->host[0] == '\0')
		return smarthost_show(change);
	return smarthost_try(NULL, change->conf_path, route->host);
}

static int
smarthost_take_back(struct change *change)
{
	const struct conf_route *route = smarthost_route(change->conf);
	const char *name = route == NULL ? NULL :
	    smarthost_name(change->arena, route->host);
	int status = smarthost_take(change, name == NULL ? "" : name);

	return status == EX_OK ? change_carry_out(change) : status;
}

/* ---- a new one --------------------------------------------------------- */

/* As the new texts have it; NULL after words. */
static const char *
smarthost_field_of(struct change *change)
{
	struct conf_draft draft = { change->conf_path,
		str_slice(&change->files[0].after) };
	const struct conf_route *route;
	struct str text = STR_INIT;
	struct conf_report report;
	struct conf *conf = conf_load_drafts(change->conf_path, &draft, 1,
	    change->arena, &report);
	const char *field = NULL;

	route = conf == NULL ? NULL : smarthost_route(conf);
	if (conf == NULL)
		conf_report_print(&report, change->conf_path, &text);
	else if (route == NULL || strcmp(route->channel, "smtp") != 0 ||
	    route->host[0] == '\0')
		str_adds(&text, "zmailer: smarthost: say the name of a host, "
		    "like smtp.isp.example:587\n");
	else
		field = arena_printf(change->arena, "%s", route->host);
	fputs(text.len > 0 ? text.buf : "", stderr);
	str_release(&text);
	conf_free(&conf);
	return field;
}

static int
smarthost_put(struct change *change, struct wish *wish)
{
	const char *field;
	int status;

	if (wish->host.user != NULL) {
		status = password_take(change, wish);
		if (status != EX_OK)
			return status;
		if (wish->host.level == NULL)	/* it goes to nobody else */
			wish->host.level = "verify";
	}
	status = smarthost_edit(change, &wish->host);
	if (status != EX_OK)
		return status;
	field = smarthost_field_of(change);
	if (field == NULL)
		return EX_CONFIG;
	if (!wish->is_untested && !change_is_empty(change)) {
		status = smarthost_try(change, change->conf_path, field);
		if (status != EX_OK) {
			fprintf(stderr, "zmailer: smarthost: it does not take "
			    "us; nothing was changed (--untested writes it "
			    "all the same)\n");
			return status;
		}
	}
	return change_carry_out(change);
}

/* ---- the command line -------------------------------------------------- */

static bool
smarthost_is_word(const char *word)
{
	if (word[0] == '\0' || word[0] == '-')
		return false;
	for (const char *p = word; *p != '\0'; p++)
		if ((unsigned char)*p <= ' ' || *p == 127 ||
		    ascii_is_among(*p, ";{}#\"\\<>"))
			return false;
	return true;
}

static int
smarthost_take_words(struct change *change,
    const struct arguments *arguments, struct wish *wish)
{
	const char *words[4];

	*wish = (struct wish){
		.host = { .target = arguments->words[0],
		.user = arguments_text(arguments, OPT_USER),
		.level = arguments_text(arguments, OPT_TLS),
		.roots = arguments_text(arguments, OPT_CA) },
		.password_file = arguments_text(arguments, OPT_PASSWORD),
		.is_untested = arguments_has(arguments, OPT_UNTESTED) };
	words[0] = wish->host.target;
	words[1] = wish->host.user;
	words[2] = wish->host.level;
	words[3] = wish->host.roots;
	for (int i = 0; i < 4; i++)
		if (words[i] != NULL && !smarthost_is_word(words[i]))
			return arguments_refuse(arguments, "'%s' is no plain "
			    "word", words[i]);
	wish->host.name = smarthost_name(change->arena, wish->host.target);
	if (wish->host.name == NULL)
		return arguments_refuse(arguments, "%s is no name of a host",
		    wish->host.target);
	return EX_OK;
}

static int
smarthost_run(struct change *change, const struct arguments *arguments)
{
	struct wish wish;
	int status;

	if (arguments_is(arguments, "show"))
		return smarthost_show(change);
	if (arguments_is(arguments, "test"))
		return smarthost_test(change);
	if (arguments_is(arguments, "remove"))
		return smarthost_take_back(change);
	status = smarthost_take_words(change, arguments, &wish);
	return status == EX_OK ? smarthost_put(change, &wish) : status;
}

int
verb_smarthost(struct arguments *arguments)
{
	return change_verb(arguments, smarthost_run);
}
