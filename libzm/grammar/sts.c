/* sts.c - MTA-STS: what a domain says of the hosts that take its mail
 *
 * In     a TXT record; a policy file; words of our own
 * Out    structs whose every byte was checked
 * Holds  nothing
 * Trusts nobody: counts and lengths are bounded before they are kept
 * Spec   RFC 8461 sections 3.1, 3.2, 4.1
 *
 *	record  = "v=STSv1" 1*(delim field) [delim]
 *	delim   = *WSP ";" *WSP
 *	field   = "id=" 1*32(ALPHA / DIGIT) / name "=" value
 *
 *	policy  = 1*(key ":" *WSP value *WSP (LF / CRLF))
 *	value   = "STSv1"				; of version
 *	        / "testing" / "enforce" / "none"	; of mode
 *	        / 1*10DIGIT				; of max_age
 *	        / ["*."] Domain				; of mx
 *	        / *(%x20-7E / UTF-8)			; of another
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <string.h>

#include <idn2.h>

#include "base/ascii.h"
#include "grammar/sts.h"

#include "base/banned.h"

enum { DIGITS_MAX = 10, LABEL_BYTES_MAX = 63, UTF8_BYTES_MAX = 1000,
	NAME_BYTES_MAX = 32 };

static const char *const mode_words[] = { "none", "testing", "enforce" };

const char *
sts_mode_word(enum sts_mode mode)
{
	return mode_words[mode];
}

static bool
sts_mode_read(struct slice word, enum sts_mode *out)
{
	for (unsigned i = 0; i < 3; i++)
		if (slice_is(word, mode_words[i])) {
			*out = (enum sts_mode)i;
			return true;
		}
	return false;
}

/* ---- domains ----------------------------------------------------------- */

static bool
sts_label_is_good(struct slice label)
{
	if (label.n == 0 || label.n > LABEL_BYTES_MAX || label.p[0] == '-' ||
	    label.p[label.n - 1] == '-')
		return false;
	for (size_t i = 0; i < label.n; i++)
		if (!ascii_is_alnum(label.p[i]) && label.p[i] != '-' &&
		    label.p[i] != '_')
			return false;
	return true;
}

/* Labels of letters, digits and hyphens; the last is no number. */
static bool
sts_ascii_domain(struct slice text, char out[STS_DOMAIN_BYTES])
{
	struct slice rest = text, label = text;
	uint64_t number;

	if (text.n == 0 || text.n >= STS_DOMAIN_BYTES)
		return false;
	while (slice_cut(&rest, '.', &label))
		if (!sts_label_is_good(label))
			return false;
	if (text.p[text.n - 1] == '.' ||
	    slice_number(label, 0, UINT64_MAX, &number))
		return false;
	for (size_t i = 0; i < text.n; i++)
		out[i] = ascii_lower(text.p[i]);
	out[text.n] = '\0';
	return true;
}

/* What is not ASCII must be UTF-8; RFC 5891 section 5. */
static bool
sts_unicode_domain(struct slice text, char out[STS_DOMAIN_BYTES])
{
	char name[UTF8_BYTES_MAX + 1];
	uint8_t *ascii;
	bool is_good;

	if (text.n > UTF8_BYTES_MAX || memchr(text.p, '\0', text.n) != NULL)
		return false;
	memcpy(name, text.p, text.n);
	name[text.n] = '\0';
	if (idn2_lookup_u8((const uint8_t *)name, &ascii, IDN2_NFC_INPUT |
	    IDN2_NONTRANSITIONAL) != IDN2_OK)
		return false;
	is_good = sts_ascii_domain(slice_of((const char *)ascii), out);
	idn2_free(ascii);
	return is_good;
}

bool
sts_domain(struct slice text, char out[STS_DOMAIN_BYTES])
{
	if (text.n > 1 && text.p[text.n - 1] == '.')
		text.n--;
	for (size_t i = 0; i < text.n; i++)
		if ((unsigned char)text.p[i] >= 0x80)
			return sts_unicode_domain(text, out);
	return sts_ascii_domain(text, out);
}

/* ---- the record -------------------------------------------------------- */

static struct slice
sts_skip_wsp(struct slice text)
{
	while (text.n > 0 && (text.p[0] == ' ' || text.p[0] == '\t'))
		text = slice_from(text, 1);
	return text;
}

bool
sts_record_is(struct slice text)
{
	if (!slice_starts(text, "v=STSv1"))
		return false;
	text = sts_skip_wsp(slice_from(text, sizeof("v=STSv1") - 1));
	return text.n > 0 && text.p[0] == ';';
}

/* A name of a field: 1 to 32 letters, digits, and inside also "_-." */
static bool
sts_name_is_good(struct slice name)
{
	if (name.n == 0 || name.n > NAME_BYTES_MAX ||
	    !ascii_is_alnum(name.p[0]))
		return false;
	for (size_t i = 1; i < name.n; i++)
		if (!ascii_is_alnum(name.p[i]) && name.p[i] != '_' &&
		    name.p[i] != '-' && name.p[i] != '.')
			return false;
	return true;
}

static bool
sts_id_is_good(struct slice id)
{
	if (id.n == 0 || id.n >= STS_ID_BYTES)
		return false;
	for (size_t i = 0; i < id.n; i++)
		if (!ascii_is_alnum(id.p[i]))
			return false;
	return true;
}

/* Visible, but no ";" (cut away) and no "=". */
static bool
sts_value_is_good(struct slice value)
{
	for (size_t i = 0; i < value.n; i++)
		if (value.p[i] <= 0x20 || value.p[i] > 0x7e ||
		    value.p[i] == '=')
			return false;
	return value.n > 0;
}

static int
sts_field_take(struct slice field, char out_id[STS_ID_BYTES],
    struct err *err)
{
	size_t at = slice_find(field, '=');
	struct slice name = slice_first(field, at);
	struct slice value = slice_from(field, at + 1);

	if (at == field.n || !sts_name_is_good(name))
		return err_set(err, "the record has a field that is no "
		    "NAME=VALUE");
	if (!slice_is(name, "id"))
		return sts_value_is_good(value) ? 0 : err_set(err, "the value "
		    "of " SLICE_FMT " in the record is none",
		    SLICE_ARG(name));
	if (!sts_id_is_good(value))
		return err_set(err, "the record's id is not 1 to 32 letters "
		    "and digits");
	if (out_id[0] != '\0')		/* the first counts */
		return 0;
	memcpy(out_id, value.p, value.n);
	out_id[value.n] = '\0';
	return 0;
}

int
sts_record_parse(struct slice text, char out_id[STS_ID_BYTES],
    struct err *err)
{
	struct slice rest = text, field;

	out_id[0] = '\0';
	if (!sts_record_is(text))
		return err_set(err, "the record does not begin with "
		    "v=STSv1;");
	(void)slice_cut(&rest, ';', &field);	/* the version */
	while (slice_cut(&rest, ';', &field)) {
		field = slice_trim(field);
		if (field.n == 0 && sts_skip_wsp(rest).n == 0)
			break;			/* the delimiter at the end */
		if (sts_field_take(field, out_id, err) < 0)
			return -1;
	}
	return out_id[0] != '\0' ? 0 : err_set(err, "the record has no id");
}

/* ---- the policy -------------------------------------------------------- */

const char *
sts_policy_mx(const struct sts_policy *policy, unsigned index)
{
	const char *at = policy->mx;

	if (index >= policy->mx_count)
		return NULL;
	for (unsigned i = 0; i < index; i++)
		at += strlen(at) + 1;
	return at;
}

bool
sts_policy_add_mx(struct sts_policy *policy, struct slice pattern)
{
	bool is_wild = slice_starts(pattern, "*.");
	char domain[STS_DOMAIN_BYTES];
	size_t n;

	if (!sts_domain(slice_from(pattern, is_wild ? 2 : 0), domain))
		return false;
	n = strlen(domain) + (is_wild ? 2 : 0) + 1;
	if (policy->mx_count >= STS_MX_MAX ||
	    n > sizeof(policy->mx) - policy->mx_bytes)
		return false;
	if (is_wild)
		memcpy(policy->mx + policy->mx_bytes, "*.", 2);
	memcpy(policy->mx + policy->mx_bytes + (is_wild ? 2 : 0), domain,
	    strlen(domain) + 1);
	policy->mx_bytes += n;
	policy->mx_count++;
	return true;
}

struct policy_reading {
	struct sts_policy	*policy;
	unsigned		 line;
	bool			 has_version, has_mode, has_age;
};

static int
sts_mx_take(struct policy_reading *reading, struct slice value,
    struct err *err)
{
	if (sts_policy_add_mx(reading->policy, value))
		return 0;
	if (reading->policy->mx_count >= STS_MX_MAX ||
	    reading->policy->mx_bytes + STS_DOMAIN_BYTES > STS_MX_BYTES)
		return err_set(err, "line %u of the policy: more mx than are "
		    "taken (%u, %u bytes)", reading->line, STS_MX_MAX,
		    STS_MX_BYTES);
	return err_set(err, "line %u of the policy: mx is no host name, nor "
	    "one after *.", reading->line);
}

static int
sts_age_take(struct policy_reading *reading, struct slice value,
    struct err *err)
{
	uint64_t number;

	if (value.n > DIGITS_MAX ||
	    !slice_number(value, 0, UINT64_MAX, &number))
		return err_set(err, "line %u of the policy: max_age is not 1 "
		    "to %d digits", reading->line, DIGITS_MAX);
	reading->has_age = true;
	reading->policy->max_age_s = number > STS_MAX_AGE_S ? STS_MAX_AGE_S :
	    (int64_t)number;
	return 0;
}

/* Of what may stand once the first counts. */
static int
sts_key_take(struct policy_reading *reading, struct slice key,
    struct slice value, struct err *err)
{
	if (slice_is(key, "mx"))
		return sts_mx_take(reading, value, err);
	if (slice_is(key, "max_age") && !reading->has_age)
		return sts_age_take(reading, value, err);
	if (slice_is(key, "version") && !reading->has_version) {
		reading->has_version = slice_is(value, "STSv1");
		return reading->has_version ? 0 : err_set(err, "line %u of the "
		    "policy: version is not STSv1", reading->line);
	}
	if (slice_is(key, "mode") && !reading->has_mode) {
		reading->has_mode = sts_mode_read(value,
		    &reading->policy->mode);
		return reading->has_mode ? 0 : err_set(err, "line %u of the "
		    "policy: mode is not enforce, testing or none",
		    reading->line);
	}
	return 0;
}

static int
sts_line_take(struct policy_reading *reading, struct slice line,
    struct err *err)
{
	size_t colon = slice_find(line, ':');
	struct slice key = slice_first(line, colon);

	if (slice_trim(line).n == 0)
		return 0;
	if (colon == line.n || !sts_name_is_good(key))
		return err_set(err, "line %u of the policy is no KEY: VALUE",
		    reading->line);
	return sts_key_take(reading, key, slice_trim(slice_from(line,
	    colon + 1)), err);
}

static int
sts_policy_check(const struct policy_reading *reading, struct err *err)
{
	if (!reading->has_version)
		return err_set(err, "the policy has no version");
	if (!reading->has_mode)
		return err_set(err, "the policy has no mode");
	if (!reading->has_age)
		return err_set(err, "the policy has no max_age");
	if (reading->policy->mode != STS_NONE &&
	    reading->policy->mx_count == 0)
		return err_set(err, "the policy has no mx");
	return 0;
}

int
sts_policy_parse(struct slice body, struct sts_policy *out, struct err *err)
{
	struct policy_reading reading = { .policy = out };
	struct slice line;

	memset(out, 0, sizeof(*out));
	if (body.n > STS_BODY_BYTES_MAX)
		return err_set(err, "the policy has more than %d bytes",
		    STS_BODY_BYTES_MAX);
	if (body.n > 0 && memchr(body.p, '\0', body.n) != NULL)
		return err_set(err, "the policy has a NUL");
	while (slice_cut(&body, '\n', &line)) {
		reading.line++;
		if (sts_line_take(&reading, line, err) < 0)
			return -1;
	}
	return sts_policy_check(&reading, err);
}

/* "*." stands for one label and its dot. */
static bool
sts_mx_matches(const char *pattern, const char *host)
{
	const char *dot;

	if (pattern[0] != '*')
		return strcmp(pattern, host) == 0;
	dot = strchr(host, '.');
	return dot != NULL && strcmp(pattern + 1, dot) == 0;
}

bool
sts_policy_allows(const struct sts_policy *policy, struct slice host)
{
	const char *pattern = policy->mx;
	char name[STS_DOMAIN_BYTES];

	if (!sts_domain(host, name))
		return false;
	for (unsigned i = 0; i < policy->mx_count; i++) {
		if (sts_mx_matches(pattern, name))
			return true;
		pattern += strlen(pattern) + 1;
	}
	return false;
}

/* ---- words of our own -------------------------------------------------- */

void
sts_policy_add_words(struct str *out, const struct sts_policy *policy)
{
	const char *pattern = policy->mx;

	str_addf(out, "%s %" PRId64 " %s", sts_mode_word(policy->mode),
	    policy->max_age_s, policy->id[0] != '\0' ? policy->id : "-");
	for (unsigned i = 0; i < policy->mx_count; i++) {
		str_addf(out, " %s", pattern);
		pattern += strlen(pattern) + 1;
	}
}

int
sts_policy_read_words(struct slice words, struct sts_policy *out,
    struct err *err)
{
	struct slice word;
	uint64_t age;

	memset(out, 0, sizeof(*out));
	if (!slice_word(&words, &word) || !sts_mode_read(word, &out->mode) ||
	    !slice_word(&words, &word) ||
	    !slice_number(word, 0, STS_MAX_AGE_S, &age) ||
	    !slice_word(&words, &word) ||
	    (!slice_is(word, "-") && !sts_id_is_good(word)))
		return err_set(err, "these are not the words of a policy");
	out->max_age_s = (int64_t)age;
	if (!slice_is(word, "-"))
		memcpy(out->id, word.p, word.n);
	while (slice_word(&words, &word))
		if (!sts_policy_add_mx(out, word))
			return err_set(err, "a host of the policy is none");
	return out->mode == STS_NONE || out->mx_count > 0 ? 0 :
	    err_set(err, "the policy has no hosts");
}

void
sts_policy_add_file(struct str *out, const struct sts_policy *policy)
{
	const char *pattern = policy->mx;

	str_addf(out, "version: STSv1\r\nmode: %s\r\n",
	    sts_mode_word(policy->mode));
	for (unsigned i = 0; i < policy->mx_count; i++) {
		str_addf(out, "mx: %s\r\n", pattern);
		pattern += strlen(pattern) + 1;
	}
	str_addf(out, "max_age: %" PRId64 "\r\n", policy->max_age_s);
}
