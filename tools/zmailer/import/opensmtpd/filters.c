/* filters.c - filters of smtpd.conf as rules
 *
 * In     filter NAME phase|chain|proc|proc-exec ...
 * Out    reject, sign
 * Holds  nothing
 * Spec   smtpd.conf(5), "MAIL FILTERING"
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>
#include <unistd.h>

#include "tools/zmailer/import/opensmtpd/opensmtpd.h"

#include "base/banned.h"

/* Does a listener name it, or a chain that one does? */
static bool
filter_is_used(struct opensmtpd *smtpd, struct slice name, int depth)
{
	for (size_t i = 0; i < smtpd->count && depth < 3; i++) {
		struct opensmtpd_row *row = &smtpd->rows[i];
		bool is_chain = strcmp(row->item.name, "filter") == 0 &&
		    row->count > 3 && slice_is(row->words[2].text, "chain");

		if (strcmp(row->item.name, "listen") != 0 && !is_chain)
			continue;
		for (size_t k = 2; k < row->count; k++)
			if (slice_equal(row->words[k].text, name) &&
			    (!is_chain || filter_is_used(smtpd,
			    row->words[1].text, depth + 1)))
				return true;
	}
	return false;
}

/* filter-dkimsign -d DOMAIN -s SELECTOR -k FILE */
static bool
filter_sign(struct opensmtpd *smtpd, struct opensmtpd_row *row,
    struct slice command)
{
	const char *selector = NULL, *key = NULL, *domain;
	struct slice rest = command, word;

	while (slice_word(&rest, &word)) {
		if (slice_is(word, "-s") && slice_word(&rest, &word))
			selector = import_word(smtpd->import, word);
		else if (slice_is(word, "-k") && slice_word(&rest, &word))
			key = import_word(smtpd->import, slice_of(
			    import_file_here(smtpd->import, word)));
	}
	if (key != NULL && access(key, F_OK) != 0) {
		import_item_note(smtpd->import, &row->item, IMPORT_MISSING,
		    "there is no file %s: zmailer dkim new DOMAIN makes a "
		    "key, and `sign`", key);
		return true;
	}
	rest = command;
	while (selector != NULL && key != NULL && slice_word(&rest, &word))
		if (slice_is(word, "-d") && slice_word(&rest, &word) &&
		    (domain = import_domain(smtpd->import, word)) != NULL)
			opensmtpd_say(smtpd, row, IMPORT_RULES,
			    "sign %s selector %s key %s", domain, selector,
			    key);
	return row->item.is_told;
}

static void
filter_program(struct opensmtpd *smtpd, struct opensmtpd_row *row)
{
	struct slice command = opensmtpd_text(row);
	const char *text = slice_dup(smtpd->import->arena, command);

	if (strstr(text, "dkimsign") != NULL && filter_sign(smtpd, row,
	    command))
		return;
	if (strstr(text, "rspamd") != NULL)
		import_item_note(smtpd->import, &row->item, IMPORT_MISSING,
		    "let rspamd's proxy worker speak milter, and write "
		    "`milter inet:127.0.0.1:11332`");
	else if (strstr(text, "spamassassin") != NULL)
		import_item_note(smtpd->import, &row->item, IMPORT_MISSING,
		    "write `milter unix:/PATH` of spamass-milter");
	else if (strstr(text, "senderscore") != NULL)
		import_item_note(smtpd->import, &row->item, IMPORT_MISSING,
		    "write `dnsbl ZONE`, `reject listed 1`, `greylist`");
	else
		import_item_note(smtpd->import, &row->item, IMPORT_MISSING,
		    "a filter's program: what filters by milter "
		    "(zmailer help milter), or a hook (doc/HOOKS.md), does "
		    "the same");
}

/* The condition of a rule of ours; NULL: there is none. */
static const char *
filter_condition(struct opensmtpd *smtpd, struct opensmtpd_row *row)
{
	static const struct { const char *theirs, *ours;
		enum opensmtpd_role role; } rows[] = {
		{ "src", "from", OPENSMTPD_NETS },
		{ "helo", "helo", OPENSMTPD_DOMAINS },
		{ "mail-from", "sender", OPENSMTPD_ADDRESSES },
		{ "rcpt-to", "to", OPENSMTPD_ADDRESSES },
		{ "rdns", "name", OPENSMTPD_DOMAINS },
	};
	const char *pattern;
	bool is_not;

	/* in some versions the word match stands before it */
	(void)opensmtpd_is(row, "match");
	is_not = opensmtpd_is(row, "!");
	if (is_not && (opensmtpd_is(row, "fcrdns") || (row->at + 1 <
	    row->count && row->words[row->at + 1].kind == OPENSMTPD_WORD &&
	    opensmtpd_is(row, "rdns"))))
		return "name none";
	for (size_t i = 0; !is_not && i < sizeof(rows) / sizeof(rows[0]); i++)
		if (opensmtpd_is(row, rows[i].theirs)) {
			if (opensmtpd_is(row, "regex"))
				return NULL;
			pattern = opensmtpd_pattern(smtpd, row,
			    opensmtpd_word(row), rows[i].role);
			return pattern == NULL ? NULL : arena_printf(
			    smtpd->import->arena, "%s %s", rows[i].ours,
			    pattern);
		}
	return NULL;
}

static void
filter_phase(struct opensmtpd *smtpd, struct opensmtpd_row *row)
{
	const char *condition;

	(void)opensmtpd_text(row);		/* which phase */
	condition = filter_condition(smtpd, row);
	if (condition != NULL && (opensmtpd_is(row, "reject") ||
	    opensmtpd_is(row, "disconnect"))) {
		struct slice words = opensmtpd_text(row);
		bool has_code = words.n > 4 && words.p[3] == ' ';

		opensmtpd_say(smtpd, row, IMPORT_RULES,
		    "reject %s%s text \"%s\"", condition, strncmp(condition,
		    "name", 4) == 0 || strncmp(condition, "helo", 4) == 0 ?
		    " everybody" : "", import_quote(smtpd->import,
		    slice_from(words, has_code ? 4 : 0)));
		if (slice_starts(words, "4"))
			import_item_note(smtpd->import, &row->item,
			    IMPORT_DIFFERS, "its code was for now (4xx): "
			    "write defer instead of reject if that is meant");
		return;
	}
	if (opensmtpd_is(row, "junk"))
		import_item_note(smtpd->import, &row->item, IMPORT_MISSING,
		    "junk: a milter (rspamd) marks spam");
	else if (opensmtpd_is(row, "bypass"))
		import_item_note(smtpd->import, &row->item, IMPORT_MISSING,
		    "bypass: write `accept` with this condition before the "
		    "refusals");
	else
		import_item_note(smtpd->import, &row->item, IMPORT_MISSING,
		    "write a rule: `reject` with from, name, helo, sender or "
		    "to (zmailer help reject)");
}

void
opensmtpd_filter(struct opensmtpd *smtpd, struct opensmtpd_row *row)
{
	struct slice name = opensmtpd_text(row);

	if (!filter_is_used(smtpd, name, 0))
		import_item_note(smtpd->import, &row->item,
		    IMPORT_NOT_NEEDED, "no listener names it");
	else if (opensmtpd_is(row, "chain"))
		import_item_note(smtpd->import, &row->item,
		    IMPORT_NOT_NEEDED, "its filters are told one by one");
	else if (opensmtpd_is(row, "proc-exec"))
		filter_program(smtpd, row);
	else if (opensmtpd_is(row, "proc")) {
		struct opensmtpd_row *proc = opensmtpd_row_of(smtpd, "proc",
		    opensmtpd_text(row));

		row->at = row->count;
		if (proc != NULL && proc->count > 2)
			proc->at = 2;
		import_item_note(smtpd->import, &row->item,
		    IMPORT_NOT_NEEDED, "its program is told at proc");
	} else if (opensmtpd_is(row, "phase"))
		filter_phase(smtpd, row);
	else
		opensmtpd_unknown(smtpd, row);
}
