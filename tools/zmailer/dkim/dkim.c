/* dkim.c - zmailer dkim: keys that sign our mail
 *
 * In     zmailer dkim new|use|publish|rotate|retire|remove|record|list|check
 * Out    keys, a sign statement, or the tables of opendkim(8) and a milter
 *        statement; records
 * Spec   zmailer-dkim(8); RFC 6376
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "grammar/smtp/path.h"
#include "tools/zmailer/dkim/dkim.h"
#include "tools/zmailer/verbs/verb.h"
#include "io/unix_socket.h"

#include "base/banned.h"

/* ---- words ------------------------------------------------------------- */

static const char *
dkim_domain_of(struct change *change, const char *word)
{
	struct str shown = STR_INIT;

	if (word[0] != '[' && domain_parse(slice_of(word), NULL) == 0 &&
	    conf_name_is_full(word))
		return slice_lower(change->arena, slice_of(word)).p;
	str_add_escaped(&shown, slice_of(word));
	fprintf(stderr, "zmailer: dkim: '%s' is no name of a domain that "
	    "others can look up\n", shown.buf);
	str_release(&shown);
	return NULL;
}

/* The key of a domain: of this selector, or the one that signs, or the only
 * one.  NULL after words. */
static struct dkim_own_key *
key_find(struct change *change, const char *domain, const char *selector)
{
	struct dkim_own_key *found = NULL;
	size_t count = 0;

	for (struct dkim_own_key *key = dkim_keys_of(change, domain);
	    key != NULL; key = key->next) {
		if (strcmp(key->domain, domain) != 0)
			continue;
		if (selector != NULL && strcmp(key->selector, selector) == 0)
			return key;
		count++;
		if (found == NULL || key->signs)
			found = key;
	}
	if (selector == NULL && (count == 1 || (found != NULL &&
	    found->signs)))
		return found;
	fprintf(stderr, "zmailer: dkim: %s has %s; zmailer dkim list\n",
	    domain, count == 0 ? "no key" : selector != NULL ?
	    "no key of that selector" : "several keys: say a selector");
	return NULL;
}

/* ---- what is there ----------------------------------------------------- */

static int
dkim_list(struct change *change)
{
	struct str out = STR_INIT;
	struct dkim_own_key *keys = dkim_keys(change);

	for (const struct dkim_own_key *key = keys; key != NULL;
	    key = key->next) {
		str_reset(&out);
		if (change->is_json) {
			json_open_answer(&out);
			json_text(&out, "domain", slice_of(key->domain));
			json_text(&out, "selector", slice_of(key->selector));
			json_bool(&out, "signs", key->signs);
			if (key->retired_s > 0 && !key->signs)
				json_text(&out, "record_until", slice_of(
				    dkim_record_goes(change, key)));
			json_text(&out, "file", slice_of(key->path));
			json_close(&out);
		} else {
			str_addf(&out, "%-28s %-12s %-11s %s\n", key->domain,
			    key->selector, key->signs ? "signs" :
			    key->retired_s > 0 ? "retired" : "does not",
			    key->path);
		}
		fputs(out.buf, stdout);
	}
	str_release(&out);
	if (keys == NULL && !change->is_json)
		fprintf(stderr, "zmailer: dkim: there is no key; zmailer dkim "
		    "new DOMAIN makes one\n");
	return keys != NULL ? EX_OK : 1;
}

static int
record_print(const struct dkim_own_key *key)
{
	struct str pem = STR_INIT, public_key = STR_INIT, out = STR_INIT;
	enum verify_kind kind;
	struct err err = { "" };
	int result = dkim_key_read(key, &pem, &err);

	if (result == 0)
		result = dkim_key_public(str_slice(&pem), &public_key, &kind,
		    &err);
	if (result == 0) {
		dkim_record_add(&out, key, kind, str_slice(&public_key));
		fputs(out.buf, stdout);
	} else {
		fprintf(stderr, "zmailer: dkim: %s: %s\n", key->path,
		    err.text);
	}
	if (pem.cap > 0)
		explicit_bzero(pem.buf, pem.cap);
	str_release(&pem);
	str_release(&public_key);
	str_release(&out);
	return result == 0 ? EX_OK : EX_NOINPUT;
}

/* Of all its keys but those that were retired, in case it has others. */
static int
records_print(struct change *change, const char *domain)
{
	struct dkim_own_key *all = dkim_keys_of(change, domain);
	int status = EX_OK;
	size_t count = 0;

	for (const struct dkim_own_key *key = all; key != NULL; key = key->next)
		if (strcmp(key->domain, domain) == 0 &&
		    (key->signs || key->retired_s == 0)) {
			int one = record_print(key);

			status = one != EX_OK ? one : status;
			count++;
		}
	if (count > 0)
		return status;
	all = key_find(change, domain, NULL);
	return all == NULL ? 1 : record_print(all);
}

/* ---- changes ----------------------------------------------------------- */

/* The directory is there before what is written into it, and goes again when
 * nothing was. */
static int
dkim_carry_out(struct change *change)
{
	bool is_made = false;
	struct err err;
	int status;

	if (!change->is_dry)
		is_made = mkdir(dkim_path(change, ""), 0755) == 0;
	if (!change->is_dry && !is_made && errno != EEXIST) {
		err_sys(&err, "cannot make %s", dkim_path(change, ""));
		return verb_failed("dkim", &err, EX_CANTCREAT);
	}
	status = change_carry_out(change);
	if (is_made && status != EX_OK)
		(void)rmdir(dkim_path(change, ""));	/* while empty */
	return status;
}

static int
dkim_make(struct change *change, const struct dkim_wish *wish)
{
	bool is_first = !dkim_domain_signs(change, wish->domain);
	const struct conf_sign_table *row = wish->socket != NULL ? NULL :
	    dkim_table_for(change, wish->domain);
	struct dkim_own_key *key;
	int status = dkim_edit_new(change, wish);

	if (status == EX_OK)
		status = dkim_carry_out(change);
	if ((status != EX_OK && !change->wants_restart) || change->is_dry)
		return status;
	key = key_find(change, wish->domain, wish->selector);
	if (key == NULL)
		return EX_SOFTWARE;
	printf("publish this record%s:\n", is_first ? "" : row != NULL ?
	    ", and when it has spread, write the row" :
	    ", and when it has spread: zmailer dkim rotate");
	if (record_print(key) != EX_OK)
		status = EX_NOINPUT;
	if (wish->socket != NULL) {
		printf("then:\n  opendkim -x %s      (a running one: "
		    "SIGUSR1)\n", dkim_path(change, DKIM_CONF));
	} else if (row != NULL) {
		printf("what makes it sign, which is yours to write:\n");
		dkim_table_row_say(stdout, change, row, wish->domain,
		    wish->selector);
		printf("then:\n");
	} else {
		printf("the statement that signs%s:\n  sign %s selector %s "
		    "key %s\nthen:\n", is_first ? ", which is there now" :
		    "", wish->domain, wish->selector, key->path);
	}
	if (change->wants_restart)
		printf("  zmailer restart\n");
	printf("  zmailer dkim check %s\n", wish->domain);
	return status;
}

static int
change_key(struct change *change, const struct dkim_own_key *key,
    int (*edit)(struct change *change, const struct dkim_own_key *key))
{
	int status = edit(change, key);

	if (status == EX_OK)
		status = dkim_carry_out(change);
	if (status == EX_OK && !change->is_dry && !key->is_stated &&
	    change->conf->milter_count > 0)
		printf("a running opendkim reads it again at SIGUSR1\n");
	return status;
}

/* ---- the command line -------------------------------------------------- */

static bool
is_selector(const char *word)
{
	size_t n = strlen(word);

	return n > 0 && n <= 63 && strspn(word, "abcdefghijklmnopqrstuvwxyz"
	    "0123456789-") == n && word[0] != '-' && word[n - 1] != '-';
}

/* A key that was removed leaves its file, and so does a call that was ended. */
static bool
selector_is_taken(struct change *change, const struct dkim_own_key *key,
    const char *domain, const char *selector)
{
	if (access(dkim_path(change, arena_printf(change->arena,
	    "%s._domainkey.%s.private", selector, domain)), F_OK) == 0)
		return true;
	while (key != NULL && (strcmp(key->domain, domain) != 0 ||
	    strcmp(key->selector, selector) != 0))
		key = key->next;
	return key != NULL;
}

/* "s20261121", "s20261121b": a name that shows the age of the key. */
static const char *
selector_of_today(struct change *change, const char *domain)
{
	const struct dkim_own_key *keys = dkim_keys_of(change, domain);
	char now[CLOCK_TEXT_BYTES], suffix[2] = "";
	const char *selector;

	clock_rfc3339(clock_wall_us(), now);
	do {
		selector = arena_printf(change->arena, "s%.4s%.2s%.2s%s", now,
		    now + 5, now + 8, suffix);
		suffix[0] = suffix[0] == '\0' ? 'b' : (char)(suffix[0] + 1);
	} while (suffix[0] <= 'z' && selector_is_taken(change, keys, domain,
	    selector));
	return selector;
}

static bool
is_socket(const char *word)
{
	struct slice path;

	return (strncmp(word, "inet:", 5) == 0 ||
	    (unix_socket_path(slice_of(word), &path) && path.p[0] == '/')) &&
	    strpbrk(word, " \t;{}#\"\\<>\n") == NULL;
}

static int
new_key(struct change *change, const struct arguments *arguments)
{
	struct dkim_wish wish = {
		.selector = arguments_text(arguments, OPT_DKIM_SELECTOR),
		.socket = arguments_text(arguments, OPT_SOCKET),
		.kind = arguments_has(arguments, OPT_ED25519) ?
		    VERIFY_ED25519_SHA256 : VERIFY_RSA_SHA256,
		.bits = (unsigned)arguments_number(arguments, OPT_BITS,
		    DKIM_BITS) };

	if (wish.selector != NULL && !is_selector(wish.selector))
		return arguments_refuse(arguments, "--selector %s: a-z, 0-9 "
		    "and - are wanted", wish.selector);
	if (wish.socket != NULL && !is_socket(wish.socket))
		return arguments_refuse(arguments, "--socket %s: inet:HOST:"
		    "PORT or unix:/PATH is wanted", wish.socket);
	wish.domain = dkim_domain_of(change, arguments->words[0]);
	if (wish.domain == NULL)
		return EX_USAGE;
	if (wish.selector == NULL)
		wish.selector = selector_of_today(change, wish.domain);
	return dkim_make(change, &wish);
}

static int
with_key(struct change *change, const struct arguments *arguments)
{
	const char *domain = dkim_domain_of(change, arguments->words[0]);
	const char *selector = arguments_word(arguments, 1);
	bool is_record = arguments_is(arguments, "record");
	struct dkim_own_key *key;

	if (domain == NULL)
		return EX_USAGE;
	if (is_record && selector == NULL)
		return records_print(change, domain);
	key = key_find(change, domain, selector);
	if (key == NULL)
		return 1;
	if (is_record)
		return record_print(key);
	return change_key(change, key, arguments_is(arguments, "use") ?
	    dkim_edit_use : dkim_edit_remove);
}

static int
dkim_publish_again(struct change *change, const struct dkim_own_key *key)
{
	const struct conf_sign_table *row = dkim_table_for(change,
	    key->domain);
	int status = record_print(key);

	if (status == EX_OK && row != NULL) {
		printf("when it has spread, write:\n");
		dkim_table_row_say(stdout, change, row, key->domain,
		    key->selector);
	}
	return status;
}

/* The key that waits to sign is there once: a second call prints it again. */
static int
dkim_publish(struct change *change, const struct arguments *arguments)
{
	const char *domain = dkim_domain_of(change, arguments->words[0]);
	const char *selector = arguments_text(arguments, OPT_DKIM_SELECTOR);

	if (domain == NULL)
		return EX_USAGE;
	if (!dkim_domain_signs(change, domain)) {
		fprintf(stderr, "zmailer: dkim: nothing signs for %s yet; "
		    "zmailer dkim new %s makes its first key\n", domain,
		    domain);
		return 1;
	}
	if (!arguments_has(arguments, OPT_ED25519))
		for (const struct dkim_own_key *key = dkim_keys_of(change,
		    domain); key != NULL; key = key->next)
			if (strcmp(key->domain, domain) == 0 && !key->signs &&
			    key->retired_s == 0 && (selector == NULL ||
			    strcmp(selector, key->selector) == 0))
				return dkim_publish_again(change, key);
	return new_key(change, arguments);
}

static int
dkim_rotate(struct change *change, const struct arguments *arguments)
{
	const char *domain = dkim_domain_of(change, arguments->words[0]);
	bool is_retire = arguments_is(arguments, "retire");
	struct dkim_own_key *key = domain == NULL ? NULL : dkim_rotating(change,
	    domain, arguments_word(arguments, 1), is_retire);
	int status;

	if (key == NULL)
		return domain == NULL ? EX_USAGE : 1;
	status = change_key(change, key, is_retire ? dkim_edit_retire :
	    dkim_edit_rotate);
	if (status != EX_OK || change->is_dry)
		return status;
	if (is_retire)
		printf("its record may go: " SLICE_FMT ". IN TXT, and its "
		    "file, %s\n", SLICE_ARG(key->name), key->path);
	else
		dkim_rotated_say(change, domain);
	return EX_OK;
}

static int
dkim_check_published(struct change *change, const char *word)
{
	const char *domain = word == NULL ? NULL : dkim_domain_of(change, word);

	if (word != NULL && domain == NULL)
		return EX_USAGE;
	return dkim_check(change, domain == NULL ? dkim_keys(change) :
	    dkim_keys_of(change, domain), domain);
}

static int
dkim_run(struct change *change, const struct arguments *arguments)
{
	if (arguments_is(arguments, "list"))
		return dkim_list(change);
	if (arguments_is(arguments, "check"))
		return dkim_check_published(change,
		    arguments_word(arguments, 0));
	if (arguments_is(arguments, "new"))
		return new_key(change, arguments);
	if (arguments_is(arguments, "publish"))
		return dkim_publish(change, arguments);
	if (arguments_is(arguments, "rotate") ||
	    arguments_is(arguments, "retire"))
		return dkim_rotate(change, arguments);
	return with_key(change, arguments);
}

int
verb_dkim(struct arguments *arguments)
{
	return change_verb(arguments, dkim_run);
}
