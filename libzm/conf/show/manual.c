/* manual.c - zmailer.conf(5), printed from the rows
 *
 * In     the rows of statements.h
 * Out    mdoc
 * Holds  nothing
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "conf/statements/rows.h"
#include "conf/show/show.h"

#include "base/banned.h"

static const char head[] =
    ".\\\" made from libzm/conf/statements/\n"
    ".Dd November 20, 2026\n.Dt ZMAILER.CONF 5\n.Os\n"
    ".Sh NAME\n.Nm zmailer.conf\n.Nd the configuration of zmailer\n"
    ".Sh DESCRIPTION\n"
    "One statement on each line.\nAn empty file is valid: this machine then "
    "listens on loopback only and\ndelivers local mail.\n.Pp\n"
    "The file is\n.Pa SYSCONFDIR/zmailer/zmailer.conf ,\nunless the option\n"
    ".Fl C\nof a program or the environment variable\n.Ev ZMAILER_CONF\n"
    "names another.\n"
    ".Dl zmailer check\n"
    "reads it as the daemons would and names the line and column of each "
    "error;\non SIGHUP the supervisor takes over a good file, and refuses a "
    "bad one.\nUntil then the configuration that was taken over before is in "
    "force for daemons,\nagents and programs that start, whatever the files "
    "hold by now\n.Pq Pa zmailer.snapshot No in the run directory .\n"
    ".Dl zmailer config show --all\n"
    "prints every setting in force and where it is written;\n"
    ".Dl zmailer help STATEMENT\nprints the text below.\n"
    ".Sh GRAMMAR\n"
    "A statement is a word and its values; a newline or ; ends it.\n"
    "Some take a block of items in braces: the brace opens on the "
    "statement's line,\nand each item ends like a statement.\n"
    "# at the beginning of a word begins a comment up to the end of the "
    "line.\nA word ends at a blank, ; { or }.\n"
    "A text with blanks must be in double quotes; \\e\" and \\e\\e are "
    "a quote and\na backslash in it.\n"
    "<name> refers to the table of that name, which may be defined "
    "anywhere.\n.Pp\n"
    "Spans of time and sizes need a unit: 250ms 30s 5m 2h 5d 1w; 512B 64K "
    "25M 1G.\n.Pp\n"
    "Where statements are alternatives (rules, routes, schedules), the "
    "first match\nin the file wins.\n"
    ".Sh STATEMENTS\n.Bl -tag -width Ds\n";

static const char zenv[] =
    ".El\n.Sh CLASSIC SETTINGS\n"
    "Lines of the form NAME=value are read as a shell would read them, with "
    "$NAME of\nearlier ones.  POSTOFFICE, LOGDIR, SCHEDULERDIRHASH and MAILBOX "
    "do what spool,\nlog, hash and mailbox do, unless these are given, too; "
    "all others are kept and\notherwise ignored.\n"
    ".Sh FILES\n.Bl -tag -width Ds\n"
    ".It Pa SYSCONFDIR/zmailer/zmailer.conf\nthe configuration\n"
    ".It Pa /etc/aliases\naliases, if no table of that name is "
    "defined; if you make it while\nzmailer runs, it takes effect within a "
    "second\n"
    ".El\n"
    ".Sh EXAMPLES\nA host that accepts mail for a domain and sends all other "
    "mail through a\nprovider:\n"
    ".\\\" conf\n.Bd -literal -offset indent\n"
    "host     mx.example.org\n"
    "domain   example.org localhost { users passwd; aliases <people> }\n"
    "table    people file:/etc/zmailer/people\n"
    "listen   0.0.0.0:25\n"
    "listen   127.0.0.1:587 submission\n"
    "route    * via smtp.isp.example:587\n"
    "schedule smtp/* { retry 5m 15m 1h; expire 3d }\n"
    ".Ed\n.Pp\nThe meaning of each line, and the settings in force:\n"
    ".Bd -literal -offset indent\n"
    "zmailer help route\nzmailer config show --all\n.Ed\n"
    ".Sh SEE ALSO\n.Xr sendmail 1 ,\n.Xr newaliases 1 ,\n"
    ".Xr zmailer-events 5 ,\n.Xr zmailer 8\n";

/* A line of text that roff shows as it is. */
static void
manual_add_line(struct str *out, struct slice line)
{
	if (line.n > 0 && (line.p[0] == '.' || line.p[0] == '\''))
		str_adds(out, "\\&");
	for (size_t i = 0; i < line.n; i++) {
		if (line.p[i] == '\\')
			str_adds(out, "\\e");
		else if (line.p[i] == '-')
			str_adds(out, "\\-");
		else
			str_addc(out, line.p[i]);
	}
	str_addc(out, '\n');
}

static void
manual_add_words(struct str *out, const char *text)
{
	manual_add_line(out, slice_of(text));
}

static void
manual_add_example(struct str *out, const char *example)
{
	struct slice rest = slice_of(example), line;

	str_adds(out, ".Bd -literal -offset indent -compact\n");
	while (slice_cut(&rest, '\n', &line))
		manual_add_line(out, line);
	str_adds(out, ".Ed\n");
}

static void
manual_add_settings(struct str *out, const char *statement)
{
	bool has_list = false;

	for (size_t i = 0; i < conf_setting_count; i++) {
		const struct conf_setting *setting = &conf_settings[i];

		if (strcmp(setting->statement, statement) != 0)
			continue;
		if (setting->key[0] == '\0') {
			str_adds(out, ".Pp\nPreset: ");
			manual_add_words(out, setting->preset[0] ?
			    setting->preset : setting->text);
			continue;
		}
		if (!has_list)
			str_adds(out, ".Bl -tag -width expansion-depth "
			    "-compact\n");
		has_list = true;
		str_addf(out, ".It %s\n", setting->key);
		manual_add_words(out, setting->text);
		str_adds(out, "Preset: ");
		manual_add_words(out, setting->preset);
	}
	if (has_list)
		str_adds(out, ".El\n");
}

static void
manual_add_row(struct str *out, const struct conf_row *row)
{
	str_adds(out, ".It ");
	manual_add_words(out, row->usage);
	manual_add_words(out, row->text);
	manual_add_settings(out, row->name);
	if (row->preset[0] != '\0') {
		str_adds(out, ".Pp\nPreset: ");
		manual_add_words(out, row->preset);
	}
	if (row->block < GROUP_NONE) {
		str_adds(out, ".Bl -tag -width Ds\n");
		for (size_t i = 0; i < conf_row_count; i++)
			if (conf_rows[i].group == row->block)
				manual_add_row(out, &conf_rows[i]);
		str_adds(out, ".El\n");
	}
	manual_add_example(out, row->example);
}

void
conf_manual(struct str *out)
{
	str_adds(out, head);
	for (size_t i = 0; i < conf_row_count; i++)
		if (conf_rows[i].group == GROUP_TOP)
			manual_add_row(out, &conf_rows[i]);
	str_adds(out, zenv);
}
