/* note.c - what the journal keeps of a judgement, for the author's domain
 *
 * In     a judgement; a note
 * Out    a note; the same read back
 * Holds  nothing
 * Trusts no name in a judgement and no note
 * Spec   note.h; RFC 9990 sections 3.1.1 and 3.1.3
 *
 * SPDX-License-Identifier: ISC
 */
#include "origin/dmarc/note.h"
#include "origin/dmarc/record.h"

#include "base/banned.h"

/* ---- of a judgement ----------------------------------------------------- */

/* 0: a good signature of the author's domain itself; 1: a good one; 2. */
static int
note_dkim_rank(const struct dkim *dkim, struct slice author)
{
	if (dkim->origin != ORIGIN_PASS)
		return 2;
	return slice_equal_nocase(dkim->domain, author) ? 0 : 1;
}

static void
note_take_dkims(struct dmarc_note *note, const struct dkim dkims[],
    size_t count)
{
	for (int rank = 0; rank <= 2; rank++)
		for (size_t i = 0; i < count && note->dkim_count <
		    DKIM_SIGNATURES_MAX; i++)
			if (note_dkim_rank(&dkims[i], note->author) == rank)
				note->dkims[note->dkim_count++] =
				    (struct dmarc_note_dkim){ dkims[i].domain,
				    dkims[i].selector, dkims[i].origin };
}

bool
dmarc_note_of(const struct dmarc *dmarc, const struct spf *spf,
    const struct dkim dkims[], size_t dkim_count, struct dmarc_note *out)
{
	struct dmarc_record record;

	if (dmarc->rua.n == 0 ||
	    dmarc_read(dmarc->record, &record) != DMARC_READ)
		return false;
	*out = (struct dmarc_note){ .author = dmarc->domain,
	    .record_at = dmarc->record_at, .p = record.p, .sp = record.sp,
	    .np = record.np, .asked = dmarc->asked,
	    .is_dkim_strict = record.is_dkim_strict,
	    .is_spf_strict = record.is_spf_strict,
	    .is_testing = record.is_testing,
	    .is_spf_aligned = dmarc->is_spf_aligned,
	    .is_dkim_aligned = dmarc->is_dkim_aligned,
	    .spf_domain = spf->domain };
	note_take_dkims(out, dkims, dkim_count);
	return true;
}

/* ---- written ------------------------------------------------------------ */

static void
note_add_name(struct str *out, const char *key, struct slice name)
{
	str_adds(out, key);
	name = slice_first(name, DMARC_NOTE_NAME_BYTES);
	for (size_t i = 0; i < name.n; i++) {
		char c = name.p[i];

		str_addc(out, (unsigned char)c <= ' ' || c == 0x7f ||
		    c == ';' || c == '/' ? '?' : c);
	}
}

static void
note_add_dkim(struct str *out, const struct dmarc_note_dkim *dkim)
{
	note_add_name(out, ";dkim=", dkim->domain);
	note_add_name(out, "/", dkim->selector);
	str_addf(out, "/%s", origin_text(dkim->origin));
}

void
dmarc_note_add(struct str *out, const struct dmarc_note *note)
{
	size_t begin = out->len, end;

	note_add_name(out, "from=", note->author);
	note_add_name(out, ";at=", note->record_at);
	str_addf(out, ";p=%s;sp=%s;np=%s;adkim=%c;aspf=%c;t=%c;asked=%s;"
	    "aligned=%s%s", dmarc_policy_text(note->p),
	    dmarc_policy_text(note->sp), dmarc_policy_text(note->np),
	    note->is_dkim_strict ? 's' : 'r', note->is_spf_strict ? 's' : 'r',
	    note->is_testing ? 'y' : 'n', dmarc_policy_text(note->asked),
	    note->is_spf_aligned ? "spf" : "",
	    !note->is_dkim_aligned ? "" : note->is_spf_aligned ? ",dkim" :
	    "dkim");
	note_add_name(out, ";mfrom=", note->spf_domain);
	for (size_t i = 0; i < note->dkim_count; i++) {
		end = out->len;
		note_add_dkim(out, &note->dkims[i]);
		if (out->len - begin > DMARC_NOTE_BYTES)
			str_truncate(out, end);
	}
}

/* ---- read --------------------------------------------------------------- */

static bool
note_read_policy(struct slice value, enum dmarc_policy *out)
{
	for (enum dmarc_policy i = DMARC_NONE; i <= DMARC_REJECT; i++)
		if (slice_is(value, dmarc_policy_text(i))) {
			*out = i;
			return true;
		}
	return false;
}

/* One of two letters. */
static bool
note_read_letter(struct slice value, char yes, char no, bool *out)
{
	if (value.n != 1 || (value.p[0] != yes && value.p[0] != no))
		return false;
	*out = value.p[0] == yes;
	return true;
}

static bool
note_read_aligned(struct slice value, struct dmarc_note *out)
{
	out->is_spf_aligned = slice_starts(value, "spf");
	out->is_dkim_aligned = slice_ends(value, "dkim");
	return value.n == 0 || slice_is(value, "spf") ||
	    slice_is(value, "dkim") || slice_is(value, "spf,dkim");
}

static bool
note_read_dkim(struct slice value, struct dmarc_note *out)
{
	struct dmarc_note_dkim *dkim = &out->dkims[out->dkim_count];

	if (out->dkim_count == DKIM_SIGNATURES_MAX ||
	    !slice_cut(&value, '/', &dkim->domain) ||
	    !slice_cut(&value, '/', &dkim->selector) ||
	    !origin_of_text(value, &dkim->origin))
		return false;
	out->dkim_count++;
	return true;
}

static bool
note_read_name(struct slice value, struct slice *out)
{
	*out = value;
	return true;
}

static bool
note_read_field(struct slice key, struct slice value, struct dmarc_note *out)
{
	if (slice_is(key, "from"))
		return note_read_name(value, &out->author);
	if (slice_is(key, "at"))
		return note_read_name(value, &out->record_at);
	if (slice_is(key, "p"))
		return note_read_policy(value, &out->p);
	if (slice_is(key, "sp"))
		return note_read_policy(value, &out->sp);
	if (slice_is(key, "np"))
		return note_read_policy(value, &out->np);
	if (slice_is(key, "adkim"))
		return note_read_letter(value, 's', 'r', &out->is_dkim_strict);
	if (slice_is(key, "aspf"))
		return note_read_letter(value, 's', 'r', &out->is_spf_strict);
	if (slice_is(key, "t"))
		return note_read_letter(value, 'y', 'n', &out->is_testing);
	if (slice_is(key, "asked"))
		return note_read_policy(value, &out->asked);
	if (slice_is(key, "aligned"))
		return note_read_aligned(value, out);
	if (slice_is(key, "mfrom"))
		return note_read_name(value, &out->spf_domain);
	if (slice_is(key, "dkim"))
		return note_read_dkim(value, out);
	out->is_set_aside = slice_is(key, "done");
	return out->is_set_aside && slice_is(value, "quarantine");
}

bool
dmarc_note_read(struct slice text, struct dmarc_note *out)
{
	struct slice value, key;

	*out = (struct dmarc_note){ .dkim_count = 0 };
	while (slice_cut(&text, ';', &value))
		if (!slice_cut(&value, '=', &key) || value.p == NULL ||
		    !note_read_field(key, value, out))
			return false;
	return out->author.n > 0 && out->record_at.n > 0;
}
