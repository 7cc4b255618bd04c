/* show.c - what was judged about a message, step by step
 *
 * In     judgements
 * Out    lines for people, an object for programs
 * Trusts nothing in them: what strangers wrote is escaped
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/json.h"
#include "grammar/message/header.h"
#include "tools/zmailer/auth/auth.h"

#include "base/banned.h"

/* ---- for people ------------------------------------------------------- */

static void
show_line(struct str *out, const char *what, struct slice value)
{
	if (value.n == 0)
		return;
	str_addf(out, "       %-10s ", what);
	str_add_escaped(out, value);
	str_addc(out, '\n');
}

static void
show_head(struct str *out, const char *method, enum origin origin,
    const char *reason)
{
	str_addf(out, "%-6s %s", method, origin_text(origin));
	if (reason != NULL && reason[0] != '\0') {
		str_adds(out, ": ");
		str_add_escaped(out, slice_of(reason));
	}
	str_addc(out, '\n');
}

/* A value of several lines on one. */
static void
show_unfolded(struct str *out, struct slice value)
{
	struct str line = STR_INIT;

	header_add_unfolded(&line, value);
	str_addc(out, ' ');
	str_add_escaped(out, str_slice(&line));
	str_addc(out, '\n');
	str_release(&line);
}

static void
show_spf(const struct auth_case *one, struct str *out)
{
	const struct spf *spf = &one->spf;

	if (!one->has_client) {
		str_adds(out, "spf    not judged: --ip ADDRESS says which "
		    "client brought the message\n");
		return;
	}
	show_head(out, "spf", spf->origin, spf->reason);
	show_line(out, "domain", spf->domain);
	show_line(out, "record", spf->record);
	show_line(out, "record at", spf->record_at);
	show_line(out, "term", spf->term);
	show_line(out, "it says", spf->exp);
}

static void
show_dkim(const struct dkim *dkim, struct str *out)
{
	show_head(out, "dkim", dkim->origin, dkim->reason);
	show_line(out, "domain", dkim->domain);
	show_line(out, "selector", dkim->selector);
	show_line(out, "algorithm", dkim->algorithm);
	if (dkim->key_bits > 0)
		str_addf(out, "       %-10s %u bits%s\n", "key",
		    dkim->key_bits, dkim->is_testing ?
		    ", which its domain tests (t=y)" : "");
	if (dkim->unsigned_bytes > 0)
		str_addf(out, "       %-10s %llu bytes of the body (l=)\n",
		    "unsigned", (unsigned long long)dkim->unsigned_bytes);
}

static void
show_dmarc(const struct auth_case *one, struct str *out)
{
	const struct dmarc *dmarc = &one->dmarc;

	if (one->author.n == 0 && dmarc->origin == ORIGIN_NONE) {
		str_adds(out, "dmarc  not judged: the message has not one "
		    "From with one domain\n");
		return;
	}
	show_head(out, "dmarc", dmarc->origin, dmarc->reason);
	show_line(out, "domain", dmarc->domain);
	show_line(out, "of", dmarc->organization);
	show_line(out, "record", dmarc->record);
	show_line(out, "record at", dmarc->record_at);
	if (dmarc->record.n > 0)
		show_line(out, "policy",
		    slice_of(dmarc_policy_text(dmarc->policy)));
}

static void
show_arc(const struct auth_case *one, struct str *out)
{
	const struct arc *arc = &one->arc;

	show_head(out, "arc", arc->origin, arc->reason);
	for (size_t i = arc->sets != NULL ? arc->count : 0; i-- > 0;) {
		str_addf(out, "       set %-6zu ", i + 1);
		str_add_escaped(out, arc->sets[i].domain);
		str_adds(out, " says:");
		show_unfolded(out, arc->sets[i].results);
	}
	if (one->sealer.n > 0) {
		str_adds(out, "       DMARC passes by the seal of ");
		str_add_escaped(out, one->sealer);
		str_adds(out, " (trust arc)\n");
	}
}

/* "exploded,feedback" */
static void
flags_add(struct str *out, unsigned flags)
{
	size_t begun = out->len;

	for (unsigned flag = 1; flag <= DKIM2_FEEDHERE; flag <<= 1)
		if (flags & flag)
			str_addf(out, "%s%s", out->len > begun ? "," : "",
			    dkim2_flag_text((enum dkim2_flags)flag));
}

static void
show_dkim2(const struct auth_case *one, struct str *out)
{
	const struct dkim2 *dkim2 = &one->dkim2;

	if (!one->has_dkim2)
		return;
	show_head(out, "dkim2", dkim2->origin, dkim2->reason);
	for (size_t i = dkim2->hops != NULL ? dkim2->count : 0; i-- > 0;) {
		const struct dkim2_hop *hop = &dkim2->hops[i];

		str_addf(out, "       hop %-6zu ", i + 1);
		str_add_escaped(out, hop->domain);
		str_adds(out, " sent it from <");
		str_add_escaped(out, hop->sender);
		str_addf(out, ">, revision %u", hop->revision);
		if (hop->flags != 0)
			str_adds(out, ", ");
		flags_add(out, hop->flags);
		str_addc(out, '\n');
	}
	if (dkim2->count > 0 && !one->mail.has_sender)
		str_adds(out, "       its sender is not judged: --from\n");
	if (dkim2->count > 0 && one->mail.rcpt_count == 0)
		str_adds(out, "       its recipients are not judged: --to\n");
}

static struct origins
auth_origins(const struct auth_case *one)
{
	struct origins all = { .dkims = one->dkims,
	    .dkim_count = one->dkim_count, .sealer = one->sealer,
	    .sender = one->ask.sender, .helo = one->ask.helo };

	if (one->has_client)
		all.spf = &one->spf;
	if (one->author.n > 0 || one->dmarc.origin != ORIGIN_NONE)
		all.dmarc = &one->dmarc;
	if (one->arc.origin != ORIGIN_NONE)
		all.arc = &one->arc;
	if (one->has_dkim2 && one->dkim2.origin != ORIGIN_NONE)
		all.dkim2 = &one->dkim2;
	return all;
}

void
auth_show(const struct auth_case *one, struct str *out)
{
	struct origins origins = auth_origins(one);

	show_spf(one, out);
	if (one->dkim_found == 0)
		str_adds(out, "dkim   none: the message has no signature\n");
	for (size_t i = 0; i < one->dkim_count; i++)
		show_dkim(&one->dkims[i], out);
	if (one->dkim_found > one->dkim_count)
		str_addf(out, "dkim   %zu signatures more are not judged\n",
		    one->dkim_found - one->dkim_count);
	show_dmarc(one, out);
	show_arc(one, out);
	show_dkim2(one, out);
	str_addc(out, '\n');
	authres_add(out, one->host, &origins);
	str_addc(out, '\n');
}

/* ---- for programs ----------------------------------------------------- */

static void
json_origin(struct str *out, const char *key, enum origin origin,
    struct slice domain, const char *reason)
{
	json_begin(out, key);
	json_text(out, "result", slice_of(origin_standard_text(origin)));
	json_text(out, "domain", domain);
	json_text(out, "reason", slice_of(reason));
}

static void
json_spf(const struct auth_case *one, struct str *out)
{
	const struct spf *spf = &one->spf;

	if (!one->has_client)
		return;
	json_origin(out, "spf", spf->origin, spf->domain, spf->reason);
	json_text(out, "record", spf->record);
	json_text(out, "record_at", spf->record_at);
	json_text(out, "term", spf->term);
	json_text(out, "exp", spf->exp);
	json_number(out, "terms", spf->terms);
	json_number(out, "voids", spf->voids);
	json_end(out);
}

static void
json_dkims(const struct auth_case *one, struct str *out)
{
	json_begin_list(out, "dkim");
	for (size_t i = 0; i < one->dkim_count; i++) {
		const struct dkim *dkim = &one->dkims[i];

		json_origin(out, NULL, dkim->origin, dkim->domain,
		    dkim->reason);
		json_text(out, "selector", dkim->selector);
		json_text(out, "identity", dkim->identity);
		json_text(out, "algorithm", dkim->algorithm);
		json_number(out, "bits", dkim->key_bits);
		json_number(out, "unsigned", (int64_t)dkim->unsigned_bytes);
		json_bool(out, "testing", dkim->is_testing);
		json_end(out);
	}
	json_end_list(out);
}

static void
json_dmarc(const struct auth_case *one, struct str *out)
{
	const struct dmarc *dmarc = &one->dmarc;

	if (one->author.n == 0 && dmarc->origin == ORIGIN_NONE)
		return;
	json_origin(out, "dmarc", dmarc->origin, dmarc->domain,
	    dmarc->reason);
	json_text(out, "organization", dmarc->organization);
	json_text(out, "record", dmarc->record);
	json_text(out, "record_at", dmarc->record_at);
	json_text(out, "policy", slice_of(dmarc_policy_text(dmarc->policy)));
	json_bool(out, "spf_aligned", dmarc->is_spf_aligned);
	json_bool(out, "dkim_aligned", dmarc->is_dkim_aligned);
	json_end(out);
}

static void
json_arc(const struct auth_case *one, struct str *out)
{
	const struct arc *arc = &one->arc;
	size_t count = arc->sets != NULL ? arc->count : 0;

	json_origin(out, "arc", arc->origin, count == 0 ? SLICE("") :
	    arc->sets[count - 1].domain, arc->reason);
	json_begin_list(out, "sets");
	for (size_t i = 0; i < count; i++) {
		json_begin(out, NULL);
		json_text(out, "domain", arc->sets[i].domain);
		json_text(out, "selector", arc->sets[i].selector);
		json_text(out, "results", slice_trim(arc->sets[i].results));
		json_end(out);
	}
	json_end_list(out);
	json_text(out, "sealer", one->sealer);
	json_end(out);
}

static void
json_hop(struct str *out, const struct dkim2_hop *hop)
{
	struct str flags = STR_INIT;

	flags_add(&flags, hop->flags);
	json_begin(out, NULL);
	json_text(out, "domain", hop->domain);
	json_text(out, "selector", hop->selector);
	json_text(out, "from", hop->sender);
	json_number(out, "revision", hop->revision);
	json_text(out, "flags", str_slice(&flags));
	json_end(out);
	str_release(&flags);
}

static void
json_dkim2(const struct auth_case *one, struct str *out)
{
	const struct dkim2 *dkim2 = &one->dkim2;
	size_t count = dkim2->hops != NULL ? dkim2->count : 0;

	if (!one->has_dkim2)
		return;
	json_origin(out, "dkim2", dkim2->origin, count == 0 ? SLICE("") :
	    dkim2->hops[count - 1].domain, dkim2->reason);
	json_begin_list(out, "hops");
	for (size_t i = 0; i < count; i++)
		json_hop(out, &dkim2->hops[i]);
	json_end_list(out);
	json_number(out, "revisions", dkim2->revisions);
	json_number(out, "body_from", dkim2->body_from);
	json_end(out);
}

void
auth_show_json(const struct auth_case *one, struct str *out)
{
	struct origins origins = auth_origins(one);
	struct str field = STR_INIT;

	authres_add(&field, one->host, &origins);
	json_open_answer(out);
	json_spf(one, out);
	json_dkims(one, out);
	json_dmarc(one, out);
	json_arc(one, out);
	json_dkim2(one, out);
	json_text(out, "field", str_slice(&field));
	json_close(out);
	str_release(&field);
}
