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

#include "base/ascii.h"
#include "conf/part/part.h"
#include "grammar/smtp/path.h"

#include "base/banned.h"

enum { SIGN_SELECTOR, SIGN_KEY, SIGN_DKIM2, SIGN_ELSE };	/* keywords */

enum { SIGN_ROWS_OF_DOMAIN_MAX = 4 };	/* each is a signature a message */

/* A name of the DNS, below which _domainkey.DOMAIN has its place. */
static bool
sign_selector_is_good(const char *text)
{
	return text[0] != '[' && text[0] != '.' &&
	    domain_parse(slice_of(text), NULL) == 0;
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
	if (!sign_selector_is_good(selector->text)) {
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
	if (count < SIGN_ROWS_OF_DOMAIN_MAX)
		return true;
	conf_complain(loader, CONF_ERROR, statement->node->tokens,
	    "delete the rows of keys that are not in use any more",
	    "a domain signs with at most 4 keys");
	return false;
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
		.is_dkim2 = words[SIGN_DKIM2].token != NULL,
		.else_send = words[SIGN_ELSE].token != NULL,
		.at = conf_at(statement->node->tokens),
	};

	if (!sign_words_are_good(loader, statement))
		return;
	one.selector = slice_lower(conf->arena,
	    slice_of(words[SIGN_SELECTOR].text)).p;
	if (!sign_is_new(loader, statement, &one))
		return;
	conf->signs = conf_push(conf->arena, conf->signs, conf->sign_count,
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
	if (one->else_send)
		str_adds(out, " else send");
}
