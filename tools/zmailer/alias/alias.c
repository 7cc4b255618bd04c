/* alias.c - zmailer alias: names that stand for others
 *
 * In     zmailer alias add|remove|list|show
 * Out    the table of aliases, changed; comments and order stay
 * Trusts no name and no target: each is parsed as the router would
 * Spec   zmailer-alias(8); zmailer-aliases(5)
 *
 * SPDX-License-Identifier: ISC
 */
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/json.h"
#include "grammar/message/alias.h"
#include "mail/table/table.h"
#include "tools/zmailer/alias/alias.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

enum { NAME_BYTES_MAX = 320, LOOP_STEPS_MAX = 64 };

struct entry {			/* where an alias stands in the text */
	size_t		begin, end;	/* its lines, LF included */
	size_t		value;		/* where its value begins */
	struct slice	name;
};

/* ---- the table ------------------------------------------------------ */

static const char *
alias_table(const struct conf *conf, const char *asked)
{
	if (asked != NULL)
		return asked;
	for (size_t i = 0; i < conf->domain_count; i++)
		if (conf->domains[i].alias_count > 0)
			return conf->domains[i].aliases[0];
	return NULL;
}

/* "<name>" or "name" -> its file; NULL after words. */
static const char *
alias_path_of(struct change *change, const char *asked)
{
	const char *name = alias_table(change->conf, asked);
	const struct conf_table *table;

	if (name != NULL && name[0] == '<')
		name = slice_dup(change->arena, (struct slice){ name + 1,
		    strcspn(name + 1, ">") });
	table = name == NULL ? NULL : conf_table_find(change->conf, name);
	if (table == NULL) {
		fprintf(stderr, "zmailer: alias: there is no table of "
		    "aliases%s%s; write: table aliases file:/etc/aliases\n",
		    name == NULL ? "" : " called ", name == NULL ? "" : name);
		return NULL;
	}
	if (conf_table_file(table) == NULL)
		fprintf(stderr, "zmailer: alias: <%s> is %s; only a file: "
		    "can be edited\n", name, table->spec);
	return conf_table_file(table);
}

static size_t
alias_line_end(struct slice text, size_t at)
{
	at += slice_find(slice_from(text, at), '\n');
	return at < text.n ? at + 1 : at;
}

/* The next entry from *at on, with the lines that continue it. */
static bool
entry_next(struct slice text, size_t *at, struct entry *out)
{
	while (*at < text.n) {
		size_t begin = *at, end = alias_line_end(text, begin);
		struct slice line = slice_first(slice_from(text, begin),
		    end - begin), word = slice_trim(line);
		size_t n = 0;

		if (word.n == 0 || line.p[0] == '#' || line.p[0] == ' ' ||
		    line.p[0] == '\t') {
			*at = end;
			continue;
		}
		while (end < text.n && (text.p[end] == ' ' ||
		    text.p[end] == '\t'))
			end = alias_line_end(text, end);
		if (line.p[0] == '"') {
			n = 1 + slice_find(slice_from(line, 1), '"');
			out->name = slice_first(slice_from(line, 1), n - 1);
			n++;
		} else {
			while (n < line.n && line.p[n] != ':' &&
			    line.p[n] != ' ' && line.p[n] != '\t' &&
			    line.p[n] != '\n')
				n++;
			out->name = slice_first(line, n);
		}
		while (n < line.n && (line.p[n] == ' ' || line.p[n] == '\t' ||
		    line.p[n] == ':'))
			n++;
		out->begin = begin;
		out->end = end;
		out->value = begin + n;
		*at = end;
		return true;
	}
	return false;
}

static bool
alias_entry_find(struct slice text, const char *name, struct entry *out)
{
	size_t at = 0;

	while (entry_next(text, &at, out))
		if (slice_is_nocase(out->name, name))
			return true;
	return false;
}

static struct slice
entry_value(struct slice text, const struct entry *entry)
{
	return slice_trim(slice_first(slice_from(text, entry->value),
	    entry->end - entry->value));
}

static void
alias_replace(struct str *text, size_t begin, size_t end,
    const struct str *with)
{
	struct str fresh = STR_INIT;

	str_add(&fresh, text->buf, begin);
	str_add_slice(&fresh, str_slice(with));
	str_add(&fresh, text->buf + end, text->len - end);
	str_release(text);
	*text = fresh;
}

/* ---- which targets are allowed -------------------------------------- */

static bool
alias_is_name(const char *name)
{
	size_t n = strlen(name);

	if (n == 0 || n > NAME_BYTES_MAX || name[0] == '#')
		return false;
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)name[i] <= 32 || name[i] == 127 ||
		    ascii_is_among(name[i], ":,;\"()<>\\|/"))
			return false;
	return true;
}

static int
complain_word(const char *what, const char *word, const char *why)
{
	struct str shown = STR_INIT;

	str_add_escaped(&shown, slice_of(word));
	fprintf(stderr, "zmailer: alias: '%s' is no %s%s%s\n", shown.buf,
	    what, why[0] != '\0' ? ": " : "", why);
	str_release(&shown);
	return EX_USAGE;
}

/* One item as the router reads it. */
static int
target_check(struct change *change, const char *word)
{
	struct slice rest = slice_of(word);
	struct alias_item item;
	struct err err = { "" };

	for (size_t i = 0; i < rest.n; i++)
		if ((unsigned char)rest.p[i] < 32 || rest.p[i] == 127)
			return complain_word("target", word,
			    "it has control characters");
	if (alias_next(change->arena, &rest, 0, &item, &err) != ALIAS_ITEM)
		return complain_word("target", word, err.text);
	if (slice_trim(rest).n > 0)
		return complain_word("target", word, "one at a time");
	return EX_OK;
}

/* Does the name lead back to itself, by names that are the only value? */
static bool
loops_to(struct slice text, const char *name, struct slice word,
    unsigned depth)
{
	struct entry entry;
	struct slice value, item;
	size_t at = 0;

	word = slice_trim(word);
	if (slice_is_nocase(word, name))
		return true;
	if (depth == LOOP_STEPS_MAX || slice_find(word, '@') < word.n)
		return false;
	while (entry_next(text, &at, &entry)) {
		if (!slice_equal_nocase(entry.name, word))
			continue;
		value = entry_value(text, &entry);
		while (slice_cut(&value, ',', &item))
			if (loops_to(text, name, item, depth + 1))
				return true;
		return false;
	}
	return false;
}

/* ---- add, remove ---------------------------------------------------- */

static bool
has_target(struct slice value, const char *target)
{
	struct slice item;

	while (slice_cut(&value, ',', &item))
		if (slice_is_nocase(slice_trim(item), target))
			return true;
	return false;
}

/* Does the domain know the user?  Where others are asked at RCPT only, or the
 * table cannot be read, yes. */
static bool
alias_is_user(const struct change *change, const struct conf_domain *domain,
    struct slice user)
{
	const struct conf_table *entry;
	enum table_result found;
	struct table *table;
	struct slice value;
	struct err err;
	unsigned line;

	switch (domain->users) {
	case USERS_PASSWD:
		return strcmp(domain->deliver.channel, "local") != 0 ||
		    getpwnam(slice_dup(change->arena, user)) != NULL;
	case USERS_NONE:
		return false;
	case USERS_TABLE:
		entry = conf_table_find(change->conf, domain->users_table);
		if (entry == NULL)
			return true;
		table = table_new(entry->name, entry->spec);
		found = table_lookup(table, user, &value, &line, &err);
		table_free(&table);
		return found != TABLE_NONE;
	case USERS_ANY:
		break;
	}
	return true;
}

static bool
alias_is_list(const struct conf *conf, struct slice local)
{
	for (size_t i = 0; i < conf->list_count; i++)
		if (slice_is_nocase(local, conf->lists[i].local))
			return true;
	return slice_is_nocase(local, "postmaster");
}

/* The domain is ours, the user unknown.  An account may come later: go on. */
static void
warn_unknown(struct change *change, struct slice text, const char *target)
{
	struct slice whole = slice_of(target), local, domain;
	const struct conf_domain *ours;
	struct entry entry;

	if (target[0] == '|' || target[0] == '/' || target[0] == ':' ||
	    strpbrk(target, "\"\\<>() ") != NULL)
		return;
	local = slice_first(whole, slice_find(whole, '@'));
	domain = local.n < whole.n ? slice_from(whole, local.n + 1) :
	    slice_of(change->conf->host);
	ours = conf_domain_find(change->conf, slice_lower(change->arena,
	    domain));
	local = slice_first(local, slice_find(local, '+'));
	local = slice_lower(change->arena, local);
	if (ours == NULL || local.n == 0 || alias_is_list(change->conf,
	    local) || alias_entry_find(text, slice_dup(change->arena, local),
	    &entry) || alias_is_user(change, ours, local))
		return;
	fprintf(stderr, "zmailer: alias: warning: there is no user " SLICE_FMT
	    " here, and no alias: mail to %s is refused until there is one\n",
	    SLICE_ARG(local), target);
}

static int
alias_name_add(struct change *change, struct str *text, int argc, char **argv)
{
	struct str line = STR_INIT;
	struct entry entry;
	bool is_there;

	if (!alias_is_name(argv[0]))
		return complain_word("name of an alias", argv[0], "");
	is_there = alias_entry_find(str_slice(text), argv[0], &entry);
	if (is_there)
		str_add_slice(&line, entry_value(str_slice(text), &entry));
	for (int i = 1; i < argc; i++) {
		int status = target_check(change, argv[i]);

		if (status == EX_OK && loops_to(str_slice(text), argv[0],
		    slice_of(argv[i]), 0)) {
			fprintf(stderr, "zmailer: alias: %s leads back to "
			    "%s\n", argv[i], argv[0]);
			status = EX_USAGE;
		}
		if (status != EX_OK) {
			str_release(&line);
			return status;
		}
		if (has_target(str_slice(&line), argv[i]))
			continue;
		if (line.len > 0)
			str_adds(&line, ", ");
		str_adds(&line, argv[i]);
		warn_unknown(change, str_slice(text), argv[i]);
	}
	if (is_there && slice_equal(str_slice(&line),
	    entry_value(str_slice(text), &entry))) {
		/* nothing new: the change is empty and says so */
	} else if (is_there) {
		str_addc(&line, '\n');
		alias_replace(text, entry.value, entry.end, &line);
	} else {
		struct str fresh = STR_INIT;

		str_addf(&fresh, "%s: %s\n", argv[0], line.buf);
		conf_put_last(text, fresh.buf);
		str_release(&fresh);
	}
	str_release(&line);
	return change_carry_out(change);
}

static int
remove_some(struct change *change, struct str *text, int argc, char **argv)
{
	struct str kept = STR_INIT;
	struct entry entry;
	struct slice value, item;
	bool was_there = true;

	if (!alias_entry_find(str_slice(text), argv[0], &entry)) {
		fprintf(stderr, "zmailer: alias: there is no alias %s\n",
		    alias_is_name(argv[0]) ? argv[0] : "of that name");
		return 1;
	}
	value = entry_value(str_slice(text), &entry);
	for (int i = 1; i < argc && was_there; i++)
		was_there = has_target(value, argv[i]);
	if (!was_there) {
		fprintf(stderr, "zmailer: alias: %s does not go there\n",
		    argv[0]);
		return 1;
	}
	while (argc > 1 && slice_cut(&value, ',', &item)) {
		bool goes = false;

		for (int i = 1; i < argc && !goes; i++)
			goes = slice_is_nocase(slice_trim(item), argv[i]);
		if (goes)
			continue;
		if (kept.len > 0)
			str_adds(&kept, ", ");
		str_add_slice(&kept, slice_trim(item));
	}
	if (kept.len > 0)
		str_addc(&kept, '\n');
	alias_replace(text, kept.len > 0 ? entry.value : entry.begin, entry.end,
	    &kept);
	str_release(&kept);
	return change_carry_out(change);
}

/* ---- list, show ----------------------------------------------------- */

static void
put_entry(struct slice name, struct slice value, bool is_json)
{
	struct str out = STR_INIT;
	struct slice item;

	if (is_json) {
		json_open_answer(&out);
		json_text(&out, "alias", name);
		json_text(&out, "value", value);
		json_close(&out);
	} else {
		const char *between = "";

		str_add_escaped(&out, name);
		str_addc(&out, ':');
		while (out.len < 24)
			str_addc(&out, ' ');
		while (slice_cut(&value, ',', &item)) {
			str_adds(&out, between);
			str_addc(&out, ' ');
			str_add_escaped(&out, slice_trim(item));
			between = ",";
		}
		str_addc(&out, '\n');
	}
	fputs(out.buf, stdout);
	str_release(&out);
}

static int
alias_list(const struct change *change, const struct str *text)
{
	struct entry entry;
	size_t at = 0;

	while (entry_next(str_slice(text), &at, &entry))
		put_entry(entry.name, entry_value(str_slice(text), &entry),
		    change->is_json);
	return EX_OK;
}

static unsigned
entry_line(const struct str *text, const struct entry *entry)
{
	unsigned line = 1;

	for (size_t i = 0; i < entry->begin; i++)
		line += text->buf[i] == '\n';
	return line;
}

static int
alias_show(const struct change *change, const struct str *text,
    const char *name)
{
	struct entry entry;

	if (!alias_entry_find(str_slice(text), name, &entry)) {
		fprintf(stderr, "zmailer: alias: there is no such alias\n");
		return 1;
	}
	put_entry(entry.name, entry_value(str_slice(text), &entry),
	    change->is_json);
	if (!change->is_json)
		printf("  %s:%u\n", change->files[0].path,
		    entry_line(text, &entry));
	return EX_OK;
}

/* ---- for other verbs -------------------------------------------------- */

/* The text file of aliases, if there is one. */
static const char *
alias_file(const struct conf *conf)
{
	const char *name = alias_table(conf, NULL);
	const char *path = name == NULL ? NULL :
	    conf_table_file(conf_table_find(conf, name));

	return path == NULL || access(path, F_OK) != 0 ? NULL : path;
}

bool
alias_find(struct change *change, const char *name, struct alias_place *out)
{
	const char *path = alias_file(change->conf);
	struct str *text = path == NULL ? NULL :
	    change_file(change, path, true, 0);
	struct entry entry;

	if (text == NULL || !alias_entry_find(str_slice(text), name, &entry))
		return false;
	*out = (struct alias_place){ path, entry_line(text, &entry),
	    slice_dup(change->arena, slice_trim(entry_value(str_slice(text),
	    &entry))) };
	return true;
}

void
alias_put(struct change *change, const char *name, const char *value)
{
	struct str *text = change_file(change, alias_file(change->conf), true,
	    0);
	struct str line = STR_INIT;
	struct entry entry;

	if (text == NULL || !alias_entry_find(str_slice(text), name, &entry))
		return;
	str_addf(&line, "%s\n", value);
	alias_replace(text, entry.value, entry.end, &line);
	str_release(&line);
}

/* ---- the command line ----------------------------------------------- */

static int
alias_run(struct change *change, const struct arguments *arguments)
{
	const char *path = alias_path_of(change,
	    arguments_text(arguments, OPT_TABLE));
	struct str *text = path == NULL ? NULL :
	    change_file(change, path, true, 0644);

	if (text == NULL)
		return EX_CONFIG;
	change->is_quiet_table = true;
	if (arguments_is(arguments, "list"))
		return alias_list(change, text);
	if (arguments_is(arguments, "show"))
		return alias_show(change, text, arguments->words[0]);
	if (arguments_is(arguments, "add"))
		return alias_name_add(change, text, arguments->count,
		    arguments->words);
	return remove_some(change, text, arguments->count, arguments->words);
}

int
verb_alias(struct arguments *arguments)
{
	return change_verb(arguments, alias_run);
}
