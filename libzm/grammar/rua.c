/* rua.c - where a domain wants reports of others to go
 *
 * In     TXT records, lists of URIs
 * Out    addresses that can stand in RCPT TO and in a header
 * Spec   RFC 8460 section 3; RFC 9990 section 3.5; RFC 6068
 *
 *	record  = "v=TLSRPTv1" 1*(";" name "=" value) [";"]
 *	list    = uri *("," uri)
 *	uri     = "mailto:" mailbox ["?" fields] ["!" size] / other
 *	size    = 1*DIGIT ["k" / "m" / "g" / "t"]
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "grammar/rua.h"
#include "grammar/smtp/path.h"

#include "base/banned.h"

bool
rua_domain_is(struct slice name)
{
	for (size_t i = 0; i < name.n; i++)
		if (!ascii_is_alnum(name.p[i]) &&
		    !ascii_is_among(name.p[i], "-_."))
			return false;
	return name.n > 0 && name.n <= RUA_DOMAIN_BYTES_MAX;
}

/* "v=TLSRPTv1; rua=..." */
bool
rua_of_tls(struct slice record, struct slice *out_uris)
{
	struct slice field, name, value = record;

	if (!slice_cut(&record, ';', &field) || !slice_is(slice_trim(field),
	    "v=TLSRPTv1"))
		return false;
	while (slice_cut(&record, ';', &field)) {
		value = field;
		if (slice_cut(&value, '=', &name) &&
		    slice_is(slice_trim(name), "rua")) {
			*out_uris = slice_trim(value);
			return out_uris->n > 0;
		}
	}
	return false;
}

/* "%40"; what is no escape stands for itself.
 * returns  the length; 0: it is no address, or there is no room */
static size_t
rua_unescape(struct slice in, char out[RUA_ADDRESS_BYTES])
{
	size_t n = 0;

	for (size_t i = 0; i < in.n; i++) {
		unsigned char c = (unsigned char)in.p[i];

		if (c == '%' && i + 2 < in.n &&
		    ascii_hex(in.p[i + 1]) >= 0 && ascii_hex(in.p[i + 2]) >=
		    0) {
			c = (unsigned char)(ascii_hex(in.p[i + 1]) << 4 |
			    ascii_hex(in.p[i + 2]));
			i += 2;
		}
		if (n + 1 >= RUA_ADDRESS_BYTES || c <= ' ' || c == '<' ||
		    c == '>')
			return 0;
		out[n++] = (char)c;
	}
	out[n] = '\0';
	return n;
}

/* "10m", "500k", "1000"; 0: it is none.  RFC 9990 section 3.5 */
static uint64_t
rua_size(struct slice text)
{
	static const char units[] = "kmgt";
	uint64_t value, unit = 1;
	const char *at;

	if (text.n > 0 && (at = memchr(units, ascii_lower(text.p[text.n - 1]),
	    sizeof(units) - 1)) != NULL) {
		unit = 1ull << (10 * (at - units + 1));
		text.n--;
	}
	return slice_number(text, 1, UINT64_MAX / unit, &value) ?
	    value * unit : 0;
}

static bool
rua_take(struct slice uri, struct rua_address *out)
{
	struct slice address, size = SLICE("");
	struct slice rest;
	struct path path;
	size_t bang;

	memset(out, 0, sizeof(*out));
	if (!slice_is_nocase(slice_first(uri, 7), "mailto:"))
		return false;
	address = slice_from(uri, 7);
	bang = slice_find(address, '!');
	if (bang < address.n) {
		size = slice_from(address, bang + 1);
		address = slice_first(address, bang);
	}
	address = slice_first(address, slice_find(address, '?'));
	out->bytes_max = rua_size(size);
	return rua_unescape(address, out->text) > 0 &&
	    path_parse(slice_of(out->text), PATH_BARE_OK, &path, &rest,
	    NULL) == 0 && rest.n == 0 && path.domain.n > 0;
}

size_t
rua_addresses(struct slice uris, struct rua_address out[RUA_MAX],
    size_t *out_other)
{
	struct slice uri;
	size_t count = 0;

	*out_other = 0;
	while (slice_cut(&uris, ',', &uri)) {
		bool is_known = false;

		uri = slice_trim(uri);
		if (uri.n == 0)
			continue;
		if (count == RUA_MAX || !rua_take(uri, &out[count])) {
			++*out_other;
			continue;
		}
		for (size_t i = 0; i < count; i++)
			is_known = is_known || strcmp(out[i].text,
			    out[count].text) == 0;
		count += is_known ? 0 : 1;
	}
	return count;
}
