/* domain.c - zmailer domain: the domains whose mail is delivered here
 *
 * In     zmailer domain add|remove NAME..., zmailer domain list
 * Out    the domain statements of the configuration, changed; records for
 *        the DNS
 * Spec   zmailer-domain(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/json.h"
#include "grammar/smtp/path.h"
#include "mail/table/table.h"
#include "tools/change/change.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

enum { LINE_BYTES = 2048 };

struct domain_words {		/* what stands in the block of a new one */
	const char	*users, *aliases, *deliver;
};

static const char *
name_of(struct arena *arena, const char *word)
{
	struct slice name = slice_of(word);
	struct err err;

	if (slice_starts(name, "."))
		name = slice_from(name, 1);
	if (name.n == 0 || name.p[0] == '[' || domain_parse(name, &err) != 0)
		return NULL;
	return slice_lower(arena, slice_of(word)).p;
}

static int
complain_name(const char *word)
{
	struct str shown = STR_INIT;

	str_add_escaped(&shown, slice_of(word));
	fprintf(stderr, "zmailer: domain: '%s' is no name of a domain\n",
	    shown.buf);
	str_release(&shown);
	return EX_USAGE;
}

/* ---- list ------------------------------------------------------------- */

static void
put_domain(const struct conf_domain *domain, const char *name, bool is_json)
{
	static const char *const users[] = { "passwd", "any", "none" };
	const char *who = domain->users == USERS_TABLE ?
	    domain->users_table : users[domain->users];
	struct str out = STR_INIT;

	if (is_json) {
		json_open_answer(&out);
		json_text(&out, "domain", slice_of(name));
		json_text(&out, "users", slice_of(who));
		json_text(&out, "channel", slice_of(domain->deliver.channel));
		json_text(&out, "host", slice_of(domain->deliver.host));
		json_text(&out, "file", slice_of(domain->at.file));
		json_number(&out, "line", domain->at.line);
		json_close(&out);
	} else {
		str_addf(&out, "%-32s %-12s %s%s%s  ", name, who,
		    domain->deliver.channel,
		    strcmp(domain->deliver.host, "-") == 0 ? "" : " ",
		    strcmp(domain->deliver.host, "-") == 0 ? "" :
		    domain->deliver.host);
		if (domain->at.file == NULL)
			str_adds(&out, "(preset)\n");
		else
			str_addf(&out, "%s:%u\n", domain->at.file,
			    domain->at.line);
	}
	fputs(out.buf, stdout);
	str_release(&out);
}

struct domain_listing {
	const struct conf_domain	*domain;
	bool				 is_json;
};

/* table_fn */
static bool
put_listed(void *context, struct slice key, struct slice value, unsigned line)
{
	const struct domain_listing *listing = context;
	struct str name = STR_INIT;

	str_add_escaped(&name, key);
	put_domain(listing->domain, name.buf, listing->is_json);
	str_release(&name);
	return true;
}

/* The names in a database, if its definition says how to list them. */
static int
domain_list_asked(const struct change *change)
{
	struct domain_listing listing = { .is_json = change->is_json };
	const struct conf *conf = change->conf;
	int status = EX_OK;
	const char *name;
	struct err err;

	for (size_t i = 0; (name = conf_domain_table(conf, i,
	    &listing.domain)) != NULL; i++) {
		struct table *table = table_new(name, conf_table_find(conf,
		    name)->spec);

		if (table_list(table, put_listed, &listing, &err) ==
		    TABLE_TROUBLE) {
			fprintf(stderr, "zmailer: domain: %s\n", err.text);
			status = EX_TEMPFAIL;
		}
		table_free(&table);
	}
	return status;
}

static int
domain_list(const struct change *change)
{
	const struct conf *conf = change->conf;

	for (size_t i = 0; i < conf->domain_count; i++)
		for (size_t k = 0; k < conf->domains[i].name_count; k++)
			put_domain(&conf->domains[i],
			    conf->domains[i].names[k], change->is_json);
	return domain_list_asked(change);
}

/* ---- add -------------------------------------------------------------- */

/* After the last domain statement of the main file. */
static void
put_statement(struct change *change, struct str *text, const char *line)
{
	static const char *const words[] = { "domain", NULL };

	conf_put_after_last(change->arena, text, words, line);
}

static void
statement_add(struct str *line, const char *name,
    const struct domain_words *words)
{
	bool has_block = words->users != NULL || words->aliases != NULL ||
	    words->deliver != NULL;

	str_addf(line, "domain %s", name);
	if (has_block)
		str_adds(line, " {");
	if (words->users != NULL)
		str_addf(line, " users %s;", words->users);
	if (words->aliases != NULL)
		str_addf(line, " aliases %s;", words->aliases);
	if (words->deliver != NULL)
		str_addf(line, " deliver %s;", words->deliver);
	if (has_block)
		str_adds(line, " }");
	str_addc(line, '\n');
}

/* Nobody looks up a name without a dot, nor an MX that leads to one. */
static void
say_records(const struct change *change, const char *name)
{
	const char *host = change->conf->host;

	if (name[0] != '.' && !conf_name_is_full(name)) {
		printf("%s is known on this machine and its network alone: "
		    "others find no name\nwithout a domain in the DNS, there "
		    "is nothing to publish\n", name);
		return;
	}
	if (!conf_name_is_full(host)) {
		printf("nothing to publish yet: the name of this machine, %s, "
		    "has no domain, and no\nMX can lead to it; write host "
		    "NAME.DOMAIN first, then zmailer doctor dns\n", host);
		return;
	}
	printf("records to publish, unless they are there (zmailer doctor "
	    "dns looks):\n"
	    "  %s.  MX  10 %s.\n"
	    "  %s.  TXT \"v=spf1 mx -all\"\n"
	    "  _dmarc.%s.  TXT \"v=DMARC1; p=none\"\n", name, host, name,
	    name);
}

static int
domain_add(struct change *change, int argc, char **argv,
    const struct domain_words *words)
{
	struct str *text = change_main(change);
	struct str line = STR_INIT;
	int status;

	if (text == NULL)
		return EX_NOINPUT;
	for (int i = 0; i < argc; i++) {
		const char *name = name_of(change->arena, argv[i]);
		const struct conf_domain *there;

		if (name == NULL) {
			str_release(&line);
			return complain_name(argv[i]);
		}
		there = conf_domain_find(change->conf, slice_of(name));
		if (there != NULL && there->at.file != NULL) {
			fprintf(stderr, "zmailer: domain: %s is ours already "
			    "(%s:%u)\n", name, there->at.file,
			    there->at.line);
			str_release(&line);
			return 1;
		}
		statement_add(&line, name, words);
	}
	put_statement(change, text, line.buf);
	str_release(&line);
	status = change_carry_out(change);
	for (int i = 0; i < argc && status == EX_OK && !change->is_dry; i++)
		say_records(change, name_of(change->arena, argv[i]));
	return status;
}

/* ---- remove ----------------------------------------------------------- */

/* Out of its statement, or with it when it was its only name. */
static bool
domain_take_name(struct change *change, struct str *text, const char *name)
{
	struct conf_piece *pieces;
	size_t count = conf_pieces(change->arena, str_slice(text), &pieces);

	for (size_t i = 0; i < count; i++) {
		if (!conf_piece_is(&pieces[i], 0, "domain"))
			continue;
		for (size_t k = 1; k < pieces[i].word_count; k++) {
			if (!conf_piece_is(&pieces[i], k, name))
				continue;
			if (pieces[i].word_count == 2)
				conf_take_piece(text, &pieces[i]);
			else
				conf_take_word(text, &pieces[i].words[k]);
			return true;
		}
	}
	return false;
}

static int
remove_one(struct change *change, const char *word)
{
	const char *name = name_of(change->arena, word);
	const struct conf_domain *domain;
	struct str *text;

	if (name == NULL)
		return complain_name(word);
	domain = conf_domain_find(change->conf, slice_of(name));
	if (domain == NULL || domain->at.file == NULL) {
		fprintf(stderr, "zmailer: domain: no statement names %s\n",
		    name);
		return 1;
	}
	text = change_file(change, domain->at.file, false, 0);
	if (text == NULL)
		return EX_NOINPUT;
	if (domain_take_name(change, text, name))
		return EX_OK;
	fprintf(stderr, "zmailer: domain: %s is not named by itself in %s:%u "
	    "(a table, or .PARENT, has it)\n", name, domain->at.file,
	    domain->at.line);
	return 1;
}

static int
remove_all(struct change *change, int argc, char **argv)
{
	int status = EX_OK;

	for (int i = 0; i < argc && status == EX_OK; i++)
		status = remove_one(change, argv[i]);
	return status == EX_OK ? change_carry_out(change) : status;
}

/* ---- the command line ------------------------------------------------- */

static bool
domain_is_word(const char *text)
{
	return text == NULL || strpbrk(text, "{};#\n\"") == NULL;
}

static int
domain_run(struct change *change, const struct arguments *arguments)
{
	struct domain_words words = {
		.users = arguments_text(arguments, OPT_USERS),
		.aliases = arguments_text(arguments, OPT_ALIASES),
		.deliver = arguments_text(arguments, OPT_DELIVER) };

	if (!domain_is_word(words.users) || !domain_is_word(words.aliases) ||
	    !domain_is_word(words.deliver))
		return arguments_refuse(arguments, "a value has a sign that "
		    "the configuration gives a meaning");
	if (arguments_is(arguments, "add"))
		return domain_add(change, arguments->count, arguments->words,
		    &words);
	if (arguments_is(arguments, "remove"))
		return remove_all(change, arguments->count, arguments->words);
	return domain_list(change);
}

int
verb_domain(struct arguments *arguments)
{
	return change_verb(arguments, domain_run);
}
