/* look.c - is what signs here what the world can verify
 *
 * In     keys, the DNS, the milter's socket
 * Out    the record to be published; a line a finding
 * Holds  one connection for a moment
 * Trusts no record: it is parsed as RFC 6376 section 3.6.1 has it
 * Spec   zmailer-dkim(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>

#include "base/clock.h"
#include "base/json.h"
#include "tools/zmailer/dkim/dkim.h"
#include "tools/zmailer/doctor/doctor.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

enum { STRING_MAX = 255 };	/* RFC 1035 section 3.3 */

struct look {
	struct change	*change;
	struct doctor	 doctor;
	struct doctor_asking asking;
	bool		 is_bad;
};

/* ---- the record -------------------------------------------------------- */

void
dkim_record_add(struct str *out, const struct dkim_own_key *key,
    enum verify_kind kind, struct slice public_key)
{
	struct str text = STR_INIT;
	struct slice rest;

	str_adds(&text, kind == VERIFY_RSA_SHA256 ? "v=DKIM1; k=rsa; p=" :
	    "v=DKIM1; k=ed25519; p=");
	str_add_slice(&text, public_key);
	str_addf(out, SLICE_FMT ". IN TXT (", SLICE_ARG(key->name));
	for (rest = str_slice(&text); rest.n > 0;
	    rest = slice_from(rest, rest.n < STRING_MAX ? rest.n :
	    STRING_MAX))
		str_addf(out, "\n\t\"" SLICE_FMT "\"",
		    SLICE_ARG(slice_first(rest, rest.n < STRING_MAX ?
		    rest.n : STRING_MAX)));
	str_adds(out, " )\n");
	str_release(&text);
}

/* The value of a tag of a record, blanks inside it taken out; false: it has
 * none. */
static bool
tag_find(struct slice record, const char *tag, struct str *out)
{
	struct slice part, name;

	while (slice_cut(&record, ';', &part)) {
		if (!slice_cut(&part, '=', &name) ||
		    !slice_is(slice_trim(name), tag))
			continue;
		for (size_t i = 0; i < part.n; i++)
			if (part.p[i] != ' ' && part.p[i] != '\t')
				str_addc(out, part.p[i]);
		return true;
	}
	return false;
}

/* For words about what to publish. */
static const char *
record_command(struct look *look, const struct dkim_own_key *key)
{
	return arena_printf(look->change->arena, "zmailer dkim record %s %s",
	    key->domain, key->selector);
}

/* ---- findings ---------------------------------------------------------- */

static void
dkim_look_say(struct look *look, const struct dkim_own_key *key, bool is_good,
    const char *what, const char *advice)
{
	struct str line = STR_INIT;

	look->is_bad |= !is_good;
	if (look->change->is_json) {
		json_open_answer(&line);
		json_text(&line, "key", key->name);
		json_bool(&line, "good", is_good);
		json_bool(&line, "signs", key->signs);
		json_text(&line, "what", slice_of(what));
		json_text(&line, "advice", slice_of(advice));
		json_close(&line);
	} else {
		str_addf(&line, "%-3s  ", is_good ? "ok" : "BAD");
		str_add_escaped(&line, key->name);
		str_adds(&line, ": ");
		str_add_escaped(&line, slice_of(what));
		if (advice[0] != '\0')
			str_addf(&line, "; %s", advice);
		str_addc(&line, '\n');
	}
	fputs(line.buf, stdout);
	str_release(&line);
}

/* The first TXT record that claims to be a DKIM key, or the only one. */
static bool
record_find(struct look *look, const struct dkim_own_key *key, struct str *out,
    enum dns_result *out_result)
{
	const struct doctor_answer *answer = doctor_answered(&look->asking,
	    slice_dup(look->change->arena, key->name), DNS_TYPE_TXT);
	struct str all = STR_INIT, tag = STR_INIT;
	struct slice rest, line;
	struct err err;
	bool is_found = false;

	*out_result = answer->result;
	if (answer->result == DNS_OK)
		(void)dns_parse_txt(answer->bytes, answer->n, &all, &err);
	rest = str_slice(&all);
	while (all.len > 0 && !is_found && slice_cut(&rest, '\n', &line)) {
		str_reset(&tag);
		is_found = tag_find(line, "p", &tag);
	}
	if (is_found)
		str_add_slice(out, str_slice(&tag));
	str_release(&all);
	str_release(&tag);
	return is_found;
}

static void
judge_record(struct look *look, const struct dkim_own_key *key,
    struct slice pem)
{
	struct str text = STR_INIT;
	enum dns_result result;
	struct err err = { "" };
	int fits;

	if (!record_find(look, key, &text, &result)) {
		dkim_look_say(look, key, false, result == DNS_OK || result ==
		    DNS_NONE ||
		    result == DNS_NO_NAME ? "the DNS has no such record" :
		    "the DNS does not answer",
		    result == DNS_TRY_AGAIN ? "try again" :
		    arena_printf(look->change->arena, "%s prints what to "
		    "publish", record_command(look, key)));
		str_release(&text);
		return;
	}
	fits = text.len == 0 ? 0 : dkim_key_fits(pem, str_slice(&text), &err);
	if (text.len == 0)
		dkim_look_say(look, key, false,
		    "the record has been revoked (p= is "
		    "empty)", arena_printf(
		    look->change->arena, "make another key: zmailer dkim "
		    "publish %s", key->domain));
	else if (fits == 1 && key->retired_s > 0 && !key->signs)
		dkim_look_say(look, key, true, arena_printf(
		    look->change->arena, "it was retired; its record stays "
		    "until %s", dkim_record_goes(look->change, key)), "");
	else if (fits == 1)
		dkim_look_say(look, key, true, key->signs ?
		    "it signs, and the DNS has "
		    "the key that verifies it" : "the DNS has it; it does "
		    "not sign yet", key->signs ? "" : dkim_table_for(
		    look->change, key->domain) != NULL ? "zmailer dkim publish "
		    "prints the row to write" : "zmailer dkim rotate");
	else
		dkim_look_say(look, key, false, fits == 0 ?
		    "the DNS has another key: "
		    "what is signed here counts as forged" : err.text,
		    arena_printf(look->change->arena, "publish what %s prints",
		    record_command(look, key)));
	str_release(&text);
}

static void
dkim_look_judge(struct look *look, const struct dkim_own_key *key)
{
	struct str pem = STR_INIT;
	struct err err = { "" };
	struct stat st;

	if (dkim_key_read(key, &pem, &err) != 0)
		dkim_look_say(look, key, false, err.text,
		    "the signer has no key");
	else if (stat(key->path, &st) == 0 && (st.st_mode & 077) != 0)
		dkim_look_say(look, key, false,
		    arena_printf(look->change->arena,
		    "%s can be read by others", key->path),
		    "chmod 600; then make another key");
	else
		judge_record(look, key, str_slice(&pem));
	if (pem.cap > 0)
		explicit_bzero(pem.buf, pem.cap);
	str_release(&pem);
}

/* Does anybody sign, by a statement or asked as a milter? */
static void
judge_signer(struct look *look)
{
	const struct conf *conf = look->change->conf;

	if (conf->milter_count > 0 || conf_signs(conf))
		return;
	look->is_bad = true;
	if (!look->change->is_json)
		printf("BAD  no sign statement is there, and no milter: "
		    "nothing is signed; zmailer dkim new\n");
}

static int
look_begin(struct look *look, struct change *change)
{
	struct err err;

	look->change = change;
	look->doctor.arena = change->arena;
	look->doctor.conf = change->conf;
	look->asking.doctor = &look->doctor;
	look->asking.end_at_ms = clock_steady_ms() + DOCTOR_DNS_MS;
	if (dns_use(change->conf->dns_server, &err) == 0)
		return EX_OK;
	fprintf(stderr, "zmailer: dkim: %s\n", err.text);
	return EX_UNAVAILABLE;
}

bool
dkim_is_seen(struct change *change, const struct dkim_own_key *key,
    const char **why)
{
	struct look look = { .is_bad = false };
	struct str text = STR_INIT, pem = STR_INIT;
	struct err err = { "" };
	enum dns_result result;
	enum dkim_fit fits = DKIM_KEY_BAD;

	if (look_begin(&look, change) != EX_OK)
		return false;
	doctor_ask(&look.asking, slice_dup(change->arena, key->name),
	    DNS_TYPE_TXT);
	doctor_ask_round(&look.asking);
	if (!record_find(&look, key, &text, &result))
		err_set(&err, result == DNS_TRY_AGAIN || result == DNS_BAD ?
		    "the DNS does not answer" : "the DNS does not have it");
	else if (dkim_key_read(key, &pem, &err) == 0 &&
	    (fits = dkim_key_fits(str_slice(&pem), str_slice(&text),
	    &err)) == DKIM_KEY_DIFFERS)
		err_set(&err, "the DNS has another key there");
	if (pem.cap > 0)
		explicit_bzero(pem.buf, pem.cap);
	str_release(&pem);
	str_release(&text);
	*why = arena_printf(change->arena, "%s", err.text);
	return fits == DKIM_KEY_FITS;
}

int
dkim_check(struct change *change, const struct dkim_own_key *keys,
    const char *domain)
{
	struct look look = { .is_bad = false };
	bool is_any = false;
	int status = look_begin(&look, change);

	if (status != EX_OK)
		return status;
	for (const struct dkim_own_key *key = keys; key != NULL; key =
	    key->next)
		doctor_ask(&look.asking, slice_dup(change->arena, key->name),
		    DNS_TYPE_TXT);
	doctor_ask_round(&look.asking);
	for (const struct dkim_own_key *key = keys; key != NULL; key =
	    key->next)
		if (domain == NULL || strcmp(key->domain, domain) == 0) {
			dkim_look_judge(&look, key);
			is_any = true;
		}
	if (is_any)
		judge_signer(&look);
	else
		fprintf(stderr, "zmailer: dkim: there is no key%s%s; zmailer "
		    "dkim new DOMAIN makes one\n", domain != NULL ? " for " :
		    "", domain != NULL ? domain : "");
	return is_any && !look.is_bad ? EX_OK : 1;
}
