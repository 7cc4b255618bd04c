/* selector.c - which messages are meant: match and print
 *
 * In     a parsed selector; one recipient's facts
 * Out    yes or no; the selector's full text
 * Holds  nothing
 * Spec   selector.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stddef.h>

#include "grammar/selector_internal.h"
#include "grammar/smtp/xtext.h"
#include "grammar/units.h"

#include "base/banned.h"

#define FIELD(name) offsetof(struct selector_subject, name)

/* In the order of selector_fields. */
const struct selector_key selector_keys[] = {
	[SELECTOR_KEY_ID] = { "id", SELECTOR_TEXT,
	    "spool id" },
	[SELECTOR_KEY_FROM] = { "from", SELECTOR_ADDRESS,
	    "sender; @domain; <> for reports" },
	[SELECTOR_KEY_TO] = { "to", SELECTOR_ADDRESS,
	    "recipient, as given or as routed; @domain" },
	[SELECTOR_KEY_DEST] = { "dest", SELECTOR_TEXT,
	    "channel/host, or the host alone" },
	[SELECTOR_KEY_DEST_STATE] = { "dest-state", SELECTOR_TEXT,
	    "state of its destination: suspended, down, throttled ..." },
	[SELECTOR_KEY_STATE] = { "state", SELECTOR_TEXT,
	    "ready, waiting, active, held, frozen ..." },
	[SELECTOR_KEY_AREA] = { "area", SELECTOR_TEXT,
	    "queue, deferred, freezer, postman ..." },
	[SELECTOR_KEY_CLASS] = { "class", SELECTOR_TEXT,
	    "class of the last failure" },
	[SELECTOR_KEY_ZONE] = { "zone", SELECTOR_TEXT,
	    "sending zone" },
	[SELECTOR_KEY_USER] = { "user", SELECTOR_TEXT,
	    "who submitted it" },
	[SELECTOR_KEY_SOURCE] = { "source", SELECTOR_TEXT,
	    "user, client or domain it came from" },
	[SELECTOR_KEY_MSGID] = { "msgid", SELECTOR_TEXT,
	    "Message-Id" },
	[SELECTOR_KEY_WHY] = { "why", SELECTOR_TEXT,
	    "last words or cause" },
	[SELECTOR_KEY_AGE] = { "age", SELECTOR_SPAN,
	    "time since it came: 90s 2h 3d" },
	[SELECTOR_KEY_SIZE] = { "size", SELECTOR_BYTES,
	    "bytes: 64K 10M" },
	[SELECTOR_KEY_TRIES] = { "tries", SELECTOR_NUMBER,
	    "attempts so far" },
	[SELECTOR_KEY_PRIORITY] = { "priority", SELECTOR_NUMBER,
	    "MT-PRIORITY" },
	[SELECTOR_KEY_COUNT] = { NULL, SELECTOR_TEXT, NULL }
};

static const size_t fields[SELECTOR_KEY_COUNT] = {
	[SELECTOR_KEY_ID] = FIELD(id),
	[SELECTOR_KEY_FROM] = FIELD(from),
	[SELECTOR_KEY_TO] = FIELD(to),
	[SELECTOR_KEY_DEST] = FIELD(dest),
	[SELECTOR_KEY_DEST_STATE] = FIELD(dest_state),
	[SELECTOR_KEY_STATE] = FIELD(state),
	[SELECTOR_KEY_AREA] = FIELD(area),
	[SELECTOR_KEY_CLASS] = FIELD(class),
	[SELECTOR_KEY_ZONE] = FIELD(zone),
	[SELECTOR_KEY_USER] = FIELD(user),
	[SELECTOR_KEY_SOURCE] = FIELD(source),
	[SELECTOR_KEY_MSGID] = FIELD(msgid),
	[SELECTOR_KEY_WHY] = FIELD(why),
	[SELECTOR_KEY_AGE] = FIELD(age_s),
	[SELECTOR_KEY_SIZE] = FIELD(size_bytes),
	[SELECTOR_KEY_TRIES] = FIELD(tries),
	[SELECTOR_KEY_PRIORITY] = FIELD(priority),
};

const char *const selector_ops[SELECTOR_OP_COUNT] = {
	[OP_IS] = "=", [OP_IS_NOT] = "!=", [OP_LESS] = "<",
	[OP_LESS_EQUAL] = "<=", [OP_MORE] = ">", [OP_MORE_EQUAL] = ">="
};

static const void *
field_of(const struct selector_subject *subject, size_t key)
{
	return (const char *)subject + fields[key];
}

/* "@..." speaks of the domain alone; "<>" of the null sender. */
static bool
address_is(struct slice pattern, struct slice address)
{
	size_t at = address.n;

	if (address.p == NULL)
		return false;
	if (slice_is(pattern, "<>"))
		return address.n == 0;
	if (!slice_starts(pattern, "@"))
		return glob_match(pattern, address);
	while (at > 0 && address.p[at - 1] != '@')
		at--;
	return at > 0 && glob_match(pattern, slice_from(address, at - 1));
}

static bool
address_is_encoded(struct slice pattern, struct slice xtext)
{
	struct str plain = STR_INIT;
	struct err err;
	bool result = xtext.n > 0 && xtext_decode(xtext, &plain, &err) == 0 &&
	    address_is(pattern, str_slice(&plain));

	str_release(&plain);
	return result;
}

/* A user of this host, whose address may stand without a domain. */
static bool
address_is_at(struct slice pattern, struct slice address, struct slice host)
{
	struct str whole = STR_INIT;
	bool result = address_is(pattern, address);

	if (result || address.n == 0 || host.n == 0 ||
	    slice_find(address, '@') < address.n)
		return result;
	str_addf(&whole, SLICE_FMT "@" SLICE_FMT, SLICE_ARG(address),
	    SLICE_ARG(host));
	result = address_is(pattern, str_slice(&whole));
	str_release(&whole);
	return result;
}

/* The one place that says whether a recipient has an address: as it is served,
 * as its sender gave it, or as a host before us had it. */
static bool
recipient_is(struct slice pattern, const struct selector_subject *subject)
{
	struct slice type, orcpt = subject->orcpt;

	return address_is_at(pattern, subject->to, subject->host) ||
	    address_is_at(pattern, subject->routed, subject->host) ||
	    address_is_encoded(pattern, subject->given) ||
	    (slice_cut(&orcpt, ';', &type) &&
	    address_is_encoded(pattern, orcpt));
}

/* A destination may be named without its channel. */
static bool
text_is(const struct selector *test, struct slice text)
{
	size_t slash = slice_find(text, '/');

	if (text.n == 0)
		return false;
	if (glob_match(test->pattern, text))
		return true;
	if (test->key == SELECTOR_KEY_STATE)	/* its name until 4.0 */
		return slice_is(text, "ready") &&
		    slice_is_nocase(test->pattern, "queued");
	return test->key == SELECTOR_KEY_DEST && slash < text.n &&
	    slice_find(test->pattern, '/') == test->pattern.n &&
	    glob_match(test->pattern, slice_from(text, slash + 1));
}

static bool
number_fits(const struct selector *test, int64_t value, bool is_known)
{
	if (!is_known)
		return test->op == OP_IS_NOT;
	switch (test->op) {
	case OP_IS:
		return value == test->number;
	case OP_IS_NOT:
		return value != test->number;
	case OP_LESS:
		return value < test->number;
	case OP_LESS_EQUAL:
		return value <= test->number;
	case OP_MORE:
		return value > test->number;
	case OP_MORE_EQUAL:
		return value >= test->number;
	case SELECTOR_OP_COUNT:
		break;
	}
	return false;
}

static bool
test_fits(const struct selector *test, const struct selector_subject *subject)
{
	const void *field = field_of(subject, test->key);
	const struct selector_key *key = &selector_keys[test->key];

	if (test->key == SELECTOR_KEY_TO)
		return recipient_is(test->pattern, subject) ==
		    (test->op == OP_IS);
	if (key->type == SELECTOR_ADDRESS)
		return address_is(test->pattern, *(const struct slice *)field)
		    == (test->op == OP_IS);
	if (key->type == SELECTOR_TEXT)
		return text_is(test, *(const struct slice *)field) ==
		    (test->op == OP_IS);
	return number_fits(test, *(const int64_t *)field,
	    *(const int64_t *)field >= 0 ||
	    test->key == SELECTOR_KEY_PRIORITY);
}

bool
selector_match(const struct selector *selector,
    const struct selector_subject *subject)
{
	switch (selector->kind) {
	case NODE_ALL:
		return true;
	case NODE_ID:
		return subject->id.n >= selector->pattern.n &&
		    slice_equal_nocase(slice_first(subject->id,
			selector->pattern.n), selector->pattern);
	case NODE_TEST:
		return test_fits(selector, subject);
	case NODE_NOT:
		return !selector_match(selector->left, subject);
	case NODE_AND:
		return selector_match(selector->left, subject) &&
		    selector_match(selector->right, subject);
	case NODE_OR:
		return selector_match(selector->left, subject) ||
		    selector_match(selector->right, subject);
	}
	return false;
}

uint32_t
selector_keys_used(const struct selector *selector)
{
	switch (selector->kind) {
	case NODE_ALL:
		return 0;
	case NODE_ID:
		return 1;
	case NODE_TEST:
		return (uint32_t)1 << selector->key;
	case NODE_NOT:
		return selector_keys_used(selector->left);
	case NODE_AND:
	case NODE_OR:
		return selector_keys_used(selector->left) |
		    selector_keys_used(selector->right);
	}
	return UINT32_MAX;
}

static bool
pattern_fits_some(struct slice pattern, const char *const *words,
    size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (glob_match(pattern, slice_of(words[i])))
			return true;
	return false;
}

struct slice
selector_misfit(const struct selector *selector, enum selector_key_row key,
    const char *const *words, size_t count)
{
	struct slice found = { "", 0 };

	if (selector->kind == NODE_TEST && selector->key == key &&
	    !pattern_fits_some(selector->pattern, words, count))
		return selector->pattern;
	if (selector->left != NULL)
		found = selector_misfit(selector->left, key, words, count);
	if (found.n == 0 && selector->right != NULL)
		found = selector_misfit(selector->right, key, words, count);
	return found;
}

bool
selector_is_all(const struct selector *selector)
{
	return selector->kind == NODE_ALL;
}

static void
selector_add_quoted(struct str *out, struct slice text)
{
	/* one with a quote in it was read without quotes, and is again */
	if (slice_find(text, '"') < text.n) {
		str_add_slice(out, text);
		return;
	}
	str_addc(out, '"');
	str_add_slice(out, text);
	str_addc(out, '"');
}

static void
add_test(struct str *out, const struct selector *test)
{
	str_adds(out, selector_keys[test->key].name);
	str_adds(out, selector_ops[test->op]);
	switch (selector_keys[test->key].type) {
	case SELECTOR_TEXT:
	case SELECTOR_ADDRESS:
		selector_add_quoted(out, test->pattern);
		break;
	case SELECTOR_SPAN:
		str_addf(out, "%" PRId64 "s", test->number);
		break;
	case SELECTOR_BYTES:
		str_addf(out, "%" PRId64 "B", test->number);
		break;
	case SELECTOR_NUMBER:
		str_addf(out, "%" PRId64, test->number);
		break;
	}
}

/* Brackets stand where an `or` is part of an `and`, and around what a
 * `not` denies when that is more than one test. */
static void
selector_add_part(struct str *out, const struct selector *part, int kind)
{
	bool is_bracketed = (kind == NODE_AND && part->kind == NODE_OR) ||
	    (kind == NODE_NOT && (part->kind == NODE_OR ||
	    part->kind == NODE_AND));

	if (is_bracketed)
		str_addc(out, '(');
	selector_add(out, part);
	if (is_bracketed)
		str_addc(out, ')');
}

void
selector_add(struct str *out, const struct selector *selector)
{
	switch (selector->kind) {
	case NODE_ALL:
		str_adds(out, "all");
		break;
	case NODE_ID:
		str_add_slice(out, selector->pattern);
		break;
	case NODE_TEST:
		add_test(out, selector);
		break;
	case NODE_NOT:
		str_adds(out, "not ");
		selector_add_part(out, selector->left, NODE_NOT);
		break;
	case NODE_AND:
	case NODE_OR:
		selector_add_part(out, selector->left, selector->kind);
		str_adds(out, selector->kind == NODE_AND ? " and " : " or ");
		selector_add_part(out, selector->right, selector->kind);
		break;
	}
}
