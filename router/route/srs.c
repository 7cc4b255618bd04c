/* srs.c - senders that lead back through us (sender rewriting scheme)
 *
 * In     keys, a day, addresses
 * Out    local parts that only we can make, and what they stand for
 * Holds  nothing
 * Trusts no local part whose mark does not fit
 * Spec   the SRS paper (M. Wong, "Sender Rewriting Scheme", 2004), with a
 *        mark of our own: SipHash in base 32
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/ascii.h"
#include "router/route/srs.h"

#include <string.h>

#include "base/banned.h"

enum { DAYS = 1024 };

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

int
srs_key_add(struct srs *srs, struct slice secret, struct err *err)
{
	static const unsigned char label[16] = "zmailer srs key";
	struct siphash_key from = siphash_key_of(label);
	struct siphash hash = siphash(&from, secret);

	if (secret.n < SRS_SECRET_BYTES_MIN)
		return err_set(err, "a secret needs at least %d bytes",
		    SRS_SECRET_BYTES_MIN);
	if (srs->count == SRS_KEYS_MAX)
		return err_set(err, "more than %d keys", SRS_KEYS_MAX);
	srs->keys[srs->count++] = (struct siphash_key){ hash.low,
	    hash.high };
	return 0;
}

/* The mark over what stands after it; letters count as small ones. */
static void
srs_mark(const struct siphash_key *key, struct slice tail,
    char out[SRS_MARK_CHARS])
{
	char folded[512];
	struct siphash hash;
	size_t n = tail.n < sizeof(folded) ? tail.n : sizeof(folded);

	for (size_t i = 0; i < n; i++)
		folded[i] = ascii_lower(tail.p[i]);
	hash = siphash(key, (struct slice){ folded, n });
	for (int i = 0; i < SRS_MARK_CHARS; i++)
		out[i] = letters[hash.low >> 5 * i & 31];
}

static int
srs_letter_value(char c)
{
	const char *at;

	if (ascii_is_lower(c))
		c = (char)(c - 32);
	at = c != '\0' ? strchr(letters, c) : NULL;
	return at != NULL ? (int)(at - letters) : -1;
}

bool
srs_is(struct slice local)
{
	return local.n > 5 && (slice_is_nocase(slice_first(local, 4),
	    "SRS0") || slice_is_nocase(slice_first(local, 4), "SRS1")) &&
	    ascii_is_among(local.p[4], "=+-");
}

/* ---- making ----------------------------------------------------------- */

/* "SRS0=" or "SRS1=", the mark, and what it marks. */
static bool
srs_finish(const struct srs *srs, const char *prefix, const struct str *tail,
    struct str *out)
{
	char mark[SRS_MARK_CHARS];

	if (tail->len > SRS_LOCAL_BYTES_MAX)
		return false;
	srs_mark(&srs->keys[0], str_slice(tail), mark);
	str_adds(out, prefix);
	str_add(out, mark, sizeof(mark));
	str_addc(out, '=');
	str_add_slice(out, str_slice(tail));
	return true;
}

/* SRS0 of another host: HOST, "=", all after "SRS0" with its separator.
 * SRS1: HOST and rest of the first host stay. */
static bool
srs_make_again(const struct srs *srs, struct slice local, struct slice domain,
    struct str *out)
{
	struct str tail = STR_INIT;
	struct slice rest = slice_from(local, 5);
	bool result;

	if (local.p[3] == '1') {
		rest = slice_from(rest, slice_find(rest, '=') + 1);
		str_add_slice(&tail, rest);
	} else {
		str_add_slice(&tail, domain);
		str_addc(&tail, '=');
		str_add_slice(&tail, slice_from(local, 4));
	}
	result = tail.len > 0 && srs_finish(srs, "SRS1=", &tail, out);
	str_release(&tail);
	return result;
}

bool
srs_make(const struct srs *srs, struct slice local, struct slice domain,
    struct str *out)
{
	struct str tail = STR_INIT;
	unsigned day = (unsigned)(srs->day % DAYS);
	bool result;

	if (srs_is(local))
		return srs_make_again(srs, local, domain, out);
	str_addc(&tail, letters[day >> 5]);
	str_addc(&tail, letters[day & 31]);
	str_addc(&tail, '=');
	str_add_slice(&tail, domain);
	str_addc(&tail, '=');
	str_add_slice(&tail, local);
	result = srs_finish(srs, "SRS0=", &tail, out);
	str_release(&tail);
	return result;
}

/* ---- opening ---------------------------------------------------------- */

static int
srs_check_mark(const struct srs *srs, struct slice mark, struct slice tail,
    struct err *err)
{
	char want[SRS_MARK_CHARS];
	int differs;

	for (size_t i = 0; i < srs->count; i++) {
		srs_mark(&srs->keys[i], tail, want);
		differs = mark.n != sizeof(want);
		for (size_t k = 0; k < mark.n && !differs; k++)
			differs = srs_letter_value(mark.p[k]) !=
			    srs_letter_value(want[k]);
		if (!differs)
			return 0;
	}
	return err_set(err, "this return address was not made here, or it was "
	    "changed");
}

static int
srs_check_day(const struct srs *srs, struct slice stamp, struct err *err)
{
	int high = stamp.n == 2 ? srs_letter_value(stamp.p[0]) : -1;
	int low = stamp.n == 2 ? srs_letter_value(stamp.p[1]) : -1;
	int64_t age;

	if (high < 0 || low < 0)
		return err_set(err, "this return address has no date");
	age = (srs->day % DAYS - (high * 32 + low) + DAYS) % DAYS;
	if (age <= srs->days_good || age == DAYS - 1)	/* our clock is slow */
		return 0;
	return err_set(err, "this return address was good for %lld days, it is "
	    "%lld days old", (long long)srs->days_good, (long long)age);
}

/* "TT=DOMAIN=LOCAL" */
static int
srs_open_first(const struct srs *srs, struct slice tail, struct str *out,
    struct err *err)
{
	struct slice stamp, domain;

	if (!slice_cut(&tail, '=', &stamp) ||
	    srs_check_day(srs, stamp, err) < 0)
		return -1;
	if (!slice_cut(&tail, '=', &domain) || domain.n == 0 ||
	    tail.n == 0)
		return err_set(err, "this return address is cut short");
	str_add_slice(out, tail);
	str_addc(out, '@');
	str_add_slice(out, domain);
	return 0;
}

/* "HOST==REST" or "HOST=+REST": SRS0 with its separator at HOST. */
static int
srs_open_second(struct slice tail, struct str *out, struct err *err)
{
	struct slice host;

	if (!slice_cut(&tail, '=', &host) || host.n == 0 || tail.n < 2 ||
	    !ascii_is_among(tail.p[0], "=+-"))
		return err_set(err, "this return address is cut short");
	str_adds(out, "SRS0");
	str_add_slice(out, tail);
	str_addc(out, '@');
	str_add_slice(out, host);
	return 0;
}

int
srs_open(const struct srs *srs, struct slice local, struct str *out,
    struct err *err)
{
	struct slice rest = slice_from(local, 5), mark;

	if (!srs_is(local) || !slice_cut(&rest, '=', &mark) || rest.n == 0)
		return err_set(err, "this is no return address");
	if (srs_check_mark(srs, mark, rest, err) < 0)
		return -1;
	return local.p[3] == '0' ? srs_open_first(srs, rest, out, err) :
	    srs_open_second(rest, out, err);
}
