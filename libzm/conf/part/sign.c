/* sign.c - what the statement sign does to the settings
 *
 * In     statements that agree with their row
 * Out    rows of signatures in struct conf; the same as text
 * Holds  nothing; the array grows in the arena of the conf
 * Spec   zmailer.conf(5), sign; RFC 6376 section 3.1 (selectors)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "conf/part/part.h"

#include "base/banned.h"

enum { SIGN_SELECTOR, SIGN_KEY, SIGN_KEYS, SIGN_DKIM2, SIGN_7BIT,
	SIGN_ELSE };			/* keywords */

static bool
sign_word_is_given(const struct conf_statement *statement, int word)
{
	return statement->keywords[word].token != NULL;
}

/* Complains about what the statement lacks, or has and must not have. */
static bool
sign_form_is_good(struct conf_loader *loader,
    const struct conf_statement *statement)
{
	bool is_table = statement->args[0].table != NULL;
	const int strange[] = { is_table ? SIGN_SELECTOR : SIGN_KEYS,
	    is_table ? SIGN_KEY : SIGN_KEYS,
	    is_table ? SIGN_DKIM2 : SIGN_KEYS };
	const char *form = is_table ? "write: sign <table> keys DIR" :
	    "write: sign DOMAIN selector NAME key FILE";

	for (size_t i = 0; i < sizeof(strange) / sizeof(strange[0]); i++)
		if (sign_word_is_given(statement, strange[i])) {
			conf_complain(loader, CONF_ERROR,
			    statement->keywords[strange[i]].token, form,
			    is_table ? "the table names the selectors, and "
			    "dkim2 needs a row for each domain" : "keys is "
			    "for a table of domains");
			return false;
		}
	if (is_table ? sign_word_is_given(statement, SIGN_KEYS) :
	    sign_word_is_given(statement, SIGN_SELECTOR) &&
	    sign_word_is_given(statement, SIGN_KEY))
		return true;
	conf_complain(loader, CONF_ERROR, statement->node->tokens, form,
	    is_table ? "the directory of the keys is missing" :
	    "a selector and its key go together");
	return false;
}

static bool
sign_words_are_good(struct conf_loader *loader,
    const struct conf_statement *statement)
{
	const struct conf_value *domain = &statement->args[0];
	const struct conf_value *selector =
	    &statement->keywords[SIGN_SELECTOR];

	if (domain->text[0] == '.' || domain->text[0] == '[') {
		conf_complain(loader, CONF_ERROR, domain->token,
		    "write a row for each domain: sign example.org ...",
		    "a signature is of one domain, by its name");
		return false;
	}
	if (!conf_sign_name_is_good(slice_of(selector->text))) {
		conf_complain(loader, CONF_ERROR, selector->token,
		    "letters, digits and -, as it stands before ._domainkey: "
		    "s1", "this is no selector");
		return false;
	}
	return true;
}

/* Two rows of one selector would be two keys in one place of the DNS. */
static bool
sign_is_new(struct conf_loader *loader,
    const struct conf_statement *statement, const struct conf_sign *fresh)
{
	const struct conf *conf = loader->conf;
	size_t count = 0;

	for (size_t i = 0; i < conf->sign_count; i++) {
		const struct conf_sign *one = &conf->signs[i];

		if (strcmp(one->domain, fresh->domain) != 0)
			continue;
		if (strcmp(one->selector, fresh->selector) == 0) {
			conf_complain_twice(loader, statement->node->tokens,
			    one->at, "this domain has this selector already");
			return false;
		}
		count++;
	}
	if (count < CONF_SIGN_KEYS_MAX)
		return true;
	conf_complain(loader, CONF_ERROR, statement->node->tokens,
	    "delete the rows of keys that are not in use any more",
	    "a domain signs with at most 4 keys");
	return false;
}

static void
sign_table_take(struct conf_loader *loader,
    const struct conf_statement *statement)
{
	struct conf *conf = loader->conf;
	struct conf_sign_table one = {
		.table = statement->args[0].table,
		.dir = statement->keywords[SIGN_KEYS].text,
		.is_7bit = sign_word_is_given(statement, SIGN_7BIT),
		.else_send = sign_word_is_given(statement, SIGN_ELSE),
		.at = conf_at(statement->node->tokens),
	};

	for (size_t i = 0; i < conf->sign_table_count; i++)
		if (strcmp(conf->sign_tables[i].table, one.table) == 0) {
			conf_complain_twice(loader, statement->node->tokens,
			    conf->sign_tables[i].at, "this table signs "
			    "already");
			return;
		}
	conf->sign_tables = arena_grow(conf->arena, conf->sign_tables,
	    conf->sign_table_count, sizeof(*conf->sign_tables));
	conf->sign_tables[conf->sign_table_count++] = one;
}

void
conf_apply_sign(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf *conf = loader->conf;
	const struct conf_value *words = statement->keywords;
	struct conf_sign one = {
		.domain = statement->args[0].text,
		.key = words[SIGN_KEY].text,
		.is_dkim2 = sign_word_is_given(statement, SIGN_DKIM2),
		.is_7bit = sign_word_is_given(statement, SIGN_7BIT),
		.else_send = sign_word_is_given(statement, SIGN_ELSE),
		.at = conf_at(statement->node->tokens),
	};

	if (!sign_form_is_good(loader, statement))
		return;
	if (statement->args[0].table != NULL) {
		sign_table_take(loader, statement);
		return;
	}
	if (!sign_words_are_good(loader, statement))
		return;
	one.selector = slice_lower(conf->arena,
	    slice_of(words[SIGN_SELECTOR].text)).p;
	if (!sign_is_new(loader, statement, &one))
		return;
	conf->signs = arena_grow(conf->arena, conf->signs, conf->sign_count,
	    sizeof(*conf->signs));
	conf->signs[conf->sign_count++] = one;
}

void
conf_sign_add(struct str *out, const struct conf_sign *one)
{
	str_addf(out, "%s selector %s key ", one->domain, one->selector);
	conf_add_word(out, one->key);
	if (one->is_dkim2)
		str_adds(out, " dkim2");
	if (one->is_7bit)
		str_adds(out, " 7bit");
	if (one->else_send)
		str_adds(out, " else send");
}

void
conf_sign_table_add(struct str *out, const struct conf_sign_table *one)
{
	str_addf(out, "<%s> keys ", one->table);
	conf_add_word(out, one->dir);
	if (one->is_7bit)
		str_adds(out, " 7bit");
	if (one->else_send)
		str_adds(out, " else send");
}
