/* path.c - the addresses of an SMTP envelope
 *
 * In     bytes after "MAIL FROM:", in an envelope line, of a header field
 * Out    slices of them: local part and domain
 * Trusts nothing; every byte is looked at once
 * Spec   RFC 5321 section 4.1.2 and 4.1.3; RFC 6531 section 3.3
 *
 *   Reverse-path    = Path / "<>"
 *   Forward-path    = "<Postmaster>" / Path
 *   Path            = "<" [ A-d-l ":" ] Mailbox ">"
 *   A-d-l           = At-domain *( "," At-domain )
 *   At-domain       = "@" Domain
 *   Mailbox         = Local-part "@" ( Domain / address-literal )
 *   Local-part      = Dot-string / Quoted-string
 *   Dot-string      = Atom *("."  Atom)
 *   Quoted-string   = DQUOTE *( qtextSMTP / ( "\" %d32-126 ) ) DQUOTE
 *   Domain          = sub-domain *("." sub-domain)
 *   sub-domain      = Let-dig [Ldh-str]          ; "_" is tolerated
 *   address-literal = "[" ( IPv4 / "IPv6:" IPv6 ) "]"
 *                     ; no other tag was ever registered
 *
 * SPDX-License-Identifier: ISC
 */
#include <arpa/inet.h>
#include <string.h>

#include "base/ascii.h"
#include "grammar/smtp/path.h"

#include "base/banned.h"

enum { LABEL_MAX_BYTES = 63 };		/* RFC 1035 section 2.3.4 */

/* A cursor: where the parser stands in the caller's bytes. */
struct scan {
	const char	*at, *end;
	bool		 is_utf8;
};

static bool
is_atext(char c)
{
	return ascii_is_alnum(c) ||
	    (ascii_is_among(c, "!#$%&'*+-/=?^_`{|}~"));
}

static bool
scan_is(const struct scan *scan, char c)
{
	return scan->at < scan->end && *scan->at == c;
}

/* Length of the character here when it is one beyond ASCII and allowed. */
static size_t
scan_utf8(const struct scan *scan)
{
	if (!scan->is_utf8)
		return 0;
	return slice_utf8((struct slice){ scan->at,
	    (size_t)(scan->end - scan->at) });
}

static int
bad_byte(const struct scan *scan, const char *where, struct err *err)
{
	unsigned char c = scan->at < scan->end ? (unsigned char)*scan->at : 0;

	if (scan->at == scan->end)
		return err_set(err, "the address ends in the %s", where);
	if (c > 127 && scan->is_utf8)
		return err_set(err, "the %s is not valid UTF-8", where);
	if (c > 127)
		return err_set(err, "the %s needs SMTPUTF8", where);
	if (c <= ' ' || c == 127)
		return err_set(err, "blank or control character in the %s",
		    where);
	return err_set(err, "unexpected '%c' in the %s", c, where);
}

/* Dot-string.  Leaves the scan after it. */
static int
scan_dot_string(struct scan *scan, struct err *err)
{
	for (;;) {
		const char *start = scan->at;
		size_t n;

		while (scan->at < scan->end) {
			if (is_atext(*scan->at))
				scan->at++;
			else if ((n = scan_utf8(scan)) > 0)
				scan->at += n;
			else
				break;
		}
		if (scan->at == start) {
			if (scan_is(scan, '.'))
				return err_set(err, "dot at an end of the "
				    "local part, or two dots in a row");
			return bad_byte(scan, "local part", err);
		}
		if (!scan_is(scan, '.'))
			break;
		scan->at++;
		if (scan->at == scan->end || *scan->at == '@' ||
		    *scan->at == '>')
			return err_set(err, "dot at the end of the local part");
	}
	if (scan->at < scan->end && (unsigned char)*scan->at > 127)
		return bad_byte(scan, "local part", err);
	return 1;
}

static int
scan_quoted_string(struct scan *scan, struct err *err)
{
	scan->at++;
	while (scan->at < scan->end && *scan->at != '"') {
		bool is_pair = *scan->at == '\\';
		size_t n = 1;

		if (is_pair && ++scan->at == scan->end)
			break;
		if ((unsigned char)*scan->at > 127)
			n = is_pair ? 0 : scan_utf8(scan);
		else if (*scan->at < ' ' || *scan->at == 127)
			n = 0;
		if (n == 0)
			return bad_byte(scan, "quoted local part", err);
		scan->at += n;
	}
	if (scan->at >= scan->end)
		return err_set(err, "the quoted local part has no end");
	scan->at++;
	return 1;
}

static int
scan_local(struct scan *scan, struct slice *out, struct err *err)
{
	const char *start = scan->at;
	int rc;

	rc = scan_is(scan, '"') ? scan_quoted_string(scan, err)
	    : scan_dot_string(scan, err);
	if (rc < 0)
		return rc;
	*out = (struct slice){ start, (size_t)(scan->at - start) };
	if (out->n > LOCAL_MAX_BYTES)
		return err_set(err, "the local part is longer than %d bytes",
		    LOCAL_MAX_BYTES);
	return 1;
}

/* sub-domain: one label. */
static int
scan_label(struct scan *scan, struct err *err)
{
	const char *start = scan->at;
	size_t n;

	while (scan->at < scan->end) {
		char c = *scan->at;

		if (ascii_is_alnum(c) || c == '-' || c == '_')
			scan->at++;
		else if ((n = scan_utf8(scan)) > 0)
			scan->at += n;
		else
			break;
	}
	if (scan->at == start && scan_is(scan, '.'))
		return err_set(err, "empty label in the domain");
	if (scan->at == start)
		return bad_byte(scan, "domain", err);
	if (scan->at - start > LABEL_MAX_BYTES)
		return err_set(err, "a label of the domain is longer than "
		    "%d bytes", LABEL_MAX_BYTES);
	if (*start == '-' || scan->at[-1] == '-')
		return err_set(err, "a label of the domain begins or ends "
		    "with a hyphen");
	return 1;
}

static int
scan_domain_name(struct scan *scan, struct slice *out, struct err *err)
{
	const char *start = scan->at;

	for (;;) {
		if (scan_label(scan, err) < 0)
			return -1;
		if (!scan_is(scan, '.'))
			break;
		scan->at++;
		if (scan->at == scan->end || *scan->at == '>')
			return err_set(err, "dot at the end of the domain");
	}
	if (scan->at < scan->end && (unsigned char)*scan->at > 127)
		return bad_byte(scan, "domain", err);
	*out = (struct slice){ start, (size_t)(scan->at - start) };
	if (out->n > DOMAIN_MAX_BYTES)
		return err_set(err, "the domain is longer than %d bytes",
		    DOMAIN_MAX_BYTES);
	return 1;
}

static int
scan_literal(struct scan *scan, struct slice *out, struct err *err)
{
	char text[INET6_ADDRSTRLEN + 8];
	unsigned char address[16];
	struct slice in = { scan->at, (size_t)(scan->end - scan->at) };
	size_t n = slice_find(in, ']');

	if (n == in.n)
		return err_set(err, "the address literal has no ]");
	if (n - 1 >= sizeof(text) || memchr(in.p, '\0', n) != NULL)
		return err_set(err, "that is not an address literal");
	memcpy(text, in.p + 1, n - 1);
	text[n - 1] = '\0';
	if (strncasecmp(text, "IPv6:", 5) == 0
	    ? inet_pton(AF_INET6, text + 5, address) != 1
	    : inet_pton(AF_INET, text, address) != 1)
		return err_set(err, "that is not an address literal; write "
		    "[192.0.2.1] or [IPv6:2001:db8::1]");
	*out = slice_first(in, n + 1);
	scan->at += n + 1;
	return 1;
}

static int
scan_domain(struct scan *scan, struct slice *out, struct err *err)
{
	if (scan_is(scan, '['))
		return scan_literal(scan, out, err);
	return scan_domain_name(scan, out, err);
}

/* A-d-l ":" is obsolete; section 3.6.1 says accept and ignore. */
static int
scan_source_route(struct scan *scan, struct err *err)
{
	struct slice hop;

	while (scan_is(scan, '@')) {
		scan->at++;
		if (scan_domain(scan, &hop, err) < 0)
			return -1;
		if (!scan_is(scan, ','))
			break;
		scan->at++;
		if (!scan_is(scan, '@'))
			return err_set(err, "a source route needs @ before "
			    "each host");
	}
	if (!scan_is(scan, ':'))
		return err_set(err, "the source route has no ':' after it");
	scan->at++;
	return 1;
}

static int
scan_mailbox(struct scan *scan, enum path_flags flags, struct path *out,
    struct err *err)
{
	if (scan_is(scan, '@') && scan_source_route(scan, err) < 0)
		return -1;
	if (scan_local(scan, &out->local, err) < 0)
		return -1;
	if (scan_is(scan, '@')) {
		scan->at++;
		return scan_domain(scan, &out->domain, err);
	}
	if (flags & PATH_LOCAL_OK)
		return 1;
	if ((flags & PATH_POSTMASTER_OK) &&
	    slice_is_nocase(out->local, "postmaster"))
		return 1;
	if (scan->at < scan->end && *scan->at != '>')
		return bad_byte(scan, "local part", err);
	return err_set(err, "the address needs a domain");
}

int
path_parse(struct slice in, enum path_flags flags, struct path *out,
    struct slice *out_rest, struct err *err)
{
	const char *text = in.n > 0 ? in.p : "";	/* it may be NULL */
	struct scan scan = { text, text + in.n, (flags & PATH_UTF8) != 0 };
	bool has_brackets = scan_is(&scan, '<');

	*out = (struct path){ { "", 0 }, { "", 0 } };
	*out_rest = in;
	if (in.n == 0 && (~flags & (PATH_BARE_OK | PATH_NULL_OK)) == 0)
		return 0;
	if (!has_brackets && !(flags & PATH_BARE_OK))
		return err_set(err, "the address must stand in < >");
	if (has_brackets)
		scan.at++;
	if (has_brackets && scan_is(&scan, '>')) {
		if (!(flags & PATH_NULL_OK))
			return err_set(err, "<> is not an address here");
	} else if (scan_mailbox(&scan, flags, out, err) < 0) {
		return -1;
	}
	if (has_brackets && !scan_is(&scan, '>'))
		return scan.at == scan.end
		    ? err_set(err, "the address has no > at its end")
		    : bad_byte(&scan, "address", err);
	if (has_brackets)
		scan.at++;
	if (scan.at - text > PATH_MAX_BYTES - (has_brackets ? 0 : 2))
		return err_set(err, "the address is longer than %d bytes",
		    PATH_MAX_BYTES);
	*out_rest = (struct slice){ scan.at, (size_t)(scan.end - scan.at) };
	return 0;
}

int
domain_parse(struct slice in, struct err *err)
{
	struct scan scan;
	struct slice domain;

	if (in.n == 0)
		return err_set(err, "a domain name is needed");
	scan = (struct scan){ in.p, in.p + in.n, false };
	if (scan_domain(&scan, &domain, err) < 0)
		return -1;
	if (scan.at != scan.end)
		return bad_byte(&scan, "domain", err);
	return 0;
}

void
path_add(struct str *out, const struct path *path)
{
	str_add_slice(out, path->local);
	if (path->domain.n > 0) {
		str_addc(out, '@');
		str_add_slice(out, path->domain);
	}
}

/* Next byte of a local part as meant: without quotes and backslashes. */
static bool
local_next(struct slice local, size_t *at, char *out_byte)
{
	bool is_quoted = local.n >= 2 && local.p[0] == '"';

	if (is_quoted && *at == 0)
		*at = 1;
	if (*at >= local.n - (is_quoted ? 1 : 0))
		return false;
	if (is_quoted && local.p[*at] == '\\' && *at + 2 < local.n)
		(*at)++;
	*out_byte = local.p[(*at)++];
	return true;
}

bool
path_equal(const struct path *a, const struct path *b)
{
	size_t at_a = 0, at_b = 0;
	char byte_a = 0, byte_b = 0;

	if (!slice_equal_nocase(a->domain, b->domain))
		return false;
	if (path_is_null(a) || path_is_null(b))
		return path_is_null(a) && path_is_null(b);
	for (;;) {
		bool more_a = local_next(a->local, &at_a, &byte_a);
		bool more_b = local_next(b->local, &at_b, &byte_b);

		if (more_a != more_b)
			return false;
		if (!more_a)
			return true;
		if (byte_a != byte_b)
			return false;
	}
}

struct slice
path_local_plain(struct arena *arena, const struct path *path)
{
	char *plain = arena_alloc(arena, path->local.n + 1);
	size_t at = 0, n = 0;

	while (local_next(path->local, &at, &plain[n]))
		n++;
	return (struct slice){ plain, n };
}

bool
path_is_null(const struct path *path)
{
	return path->local.n == 0 && path->domain.n == 0;
}

bool
path_is_mailbox_name(struct slice name)
{
	if (name.n == 0 || name.n > LOCAL_MAX_BYTES || name.p[0] == '.' ||
	    name.p[0] == '-')
		return false;
	for (size_t i = 0; i < name.n; i++) {
		unsigned char c = (unsigned char)name.p[i];

		if (c <= ' ' || c == 127 || c == '/' || c == '\\')
			return false;
	}
	return true;
}
