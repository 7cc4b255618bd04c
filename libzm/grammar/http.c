/* http.c - the head of a reply, and URLs
 *
 * In     bytes of a server, words of a configuration
 * Out    structs that borrow from them
 * Holds  nothing
 * Trusts nothing: counts and lengths are bounded, a reply with two lengths
 *        is none
 * Spec   RFC 9112 sections 2 to 6; RFC 9110 section 10.2.3; RFC 3986
 *
 *   url         = ( "http" / "https" ) "://" host [ ":" port ] target
 *   host        = domain / IPv4 / "[" IPv6 "]"
 *   target      = [ "/" *VCHAR ] [ "?" *VCHAR ]      ; no "#", no user
 *   head        = status-line *( field CRLF ) CRLF   ; LF alone ends, too
 *   status-line = "HTTP/1." DIGIT SP 3DIGIT [ SP reason ] CRLF
 *   field       = token ":" OWS *octet OWS           ; no folded lines
 *   retry-after = 1*DIGIT / IMF-fixdate
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "grammar/message/date.h"
#include "grammar/http.h"
#include "grammar/net.h"
#include "grammar/smtp/path.h"

#include "base/banned.h"

enum { HTTP_PORT = 80, HTTPS_PORT = 443 };

/* ---- URLs -------------------------------------------------------------- */

static bool
skip_nocase(struct slice *text, const char *prefix)
{
	size_t n = strlen(prefix);

	if (!slice_is_nocase(slice_first(*text, n), prefix))
		return false;
	*text = slice_from(*text, n);
	return true;
}

static int
host_set(struct slice host, struct http_url *out, struct err *err)
{
	struct net net;
	bool is_address;

	if (host.n == 0 || host.n >= sizeof(out->host))
		return err_set(err, "the URL names no host");
	is_address = net_parse(host, &net, NULL) == 0 &&
	    slice_find(host, '/') == host.n;
	if (out->is_six ? !is_address || slice_find(host, ':') == host.n :
	    !is_address && domain_parse(host, NULL) != 0)
		return err_set(err, "'" SLICE_FMT "' is no host",
		    SLICE_ARG(host));
	for (size_t i = 0; i < host.n; i++)
		out->host[i] = ascii_lower(host.p[i]);
	out->host[host.n] = '\0';
	return 0;
}

static int
authority_parse(struct slice text, struct http_url *out, struct err *err)
{
	struct slice host = text, rest;
	uint64_t port = out->is_tls ? HTTPS_PORT : HTTP_PORT;

	if (slice_find(text, '@') < text.n)
		return err_set(err, "no user stands in a URL here; auth-to "
		    "has names and passwords");
	if (text.n > 0 && text.p[0] == '[') {
		out->is_six = true;
		host = slice_from(text, 1);
		rest = slice_from(host, slice_find(host, ']'));
		if (rest.n == 0)
			return err_set(err, "the closing ] is missing");
		host.n -= rest.n;
		rest = slice_from(rest, 1);
	} else {
		host.n = slice_find(text, ':');
		rest = slice_from(text, host.n);
	}
	if (rest.n > 0 && (rest.p[0] != ':' ||
	    !slice_number(slice_from(rest, 1), 1, 65535, &port)))
		return err_set(err, "a port is a number from 1 to 65535");
	out->port = (unsigned)port;
	return host_set(host, out, err);
}

int
http_url_parse(struct slice text, struct http_url *out, struct err *err)
{
	size_t n = 0;

	memset(out, 0, sizeof(*out));
	if (text.n > HTTP_URL_BYTES_MAX)
		return err_set(err, "a URL has at most %d bytes",
		    HTTP_URL_BYTES_MAX);
	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] <= ' ' || text.p[i] > '~' || text.p[i] == '#')
			return err_set(err, "a URL has neither blanks nor "
			    "letters beyond ASCII nor a #");
	if (skip_nocase(&text, "https://"))
		out->is_tls = true;
	else if (!skip_nocase(&text, "http://"))
		return err_set(err, "write http://HOST/... or "
		    "https://HOST/...");
	while (n < text.n && text.p[n] != '/' && text.p[n] != '?')
		n++;
	out->target = slice_from(text, n);
	return authority_parse(slice_first(text, n), out, err);
}

/* ---- the head ---------------------------------------------------------- */

/* Is this word one of a list with commas? */
static bool
has_token(struct slice list, const char *token)
{
	struct slice one;

	while (slice_cut(&list, ',', &one))
		if (slice_is_nocase(slice_trim(one), token))
			return true;
	return false;
}

static int
length_set(struct slice value, struct http_head *out, struct err *err)
{
	uint64_t length;

	if (!slice_number(value, 0, (uint64_t)1 << 62, &length))
		return err_set(err, "its Content-Length is no number");
	if (out->has_length && out->length != length)
		return err_set(err, "it has two Content-Lengths");
	out->has_length = true;
	out->length = length;
	return 1;
}

static int
http_field_take(struct slice name, struct slice value, struct http_head *out,
    struct err *err)
{
	if (slice_is_nocase(name, "Content-Length"))
		return length_set(value, out, err);
	if (slice_is_nocase(name, "Transfer-Encoding")) {
		if (!slice_is_nocase(value, "chunked"))
			return err_set(err, "its Transfer-Encoding is not "
			    "chunked");
		out->is_chunked = true;
	} else if (slice_is_nocase(name, "Connection")) {
		if (has_token(value, "close"))
			out->is_closing = true;
		else if (out->minor == 0 && has_token(value, "keep-alive"))
			out->is_closing = false;
	} else if (slice_is_nocase(name, "Retry-After")) {
		out->retry_after = value;
	} else if (slice_is_nocase(name, "Content-Type")) {
		out->type = value;
	}
	return 1;
}

/* "HTTP/1.1 200 OK"; the reason may be missing (section 4). */
static int
status_line(struct slice line, struct http_head *out, struct err *err)
{
	uint64_t code;

	if (line.n < 12 || !slice_starts(line, "HTTP/1.") ||
	    (line.p[7] != '0' && line.p[7] != '1') || line.p[8] != ' ' ||
	    !slice_number(slice_first(slice_from(line, 9), 3), 100, 599,
	    &code) || (line.n > 12 && line.p[12] != ' '))
		return err_set(err, "what came is no reply of HTTP/1.1");
	out->minor = line.p[7] == '1';
	out->is_closing = out->minor == 0;
	out->code = (unsigned)code;
	out->reason = slice_trim(slice_from(line, 12));
	return 1;
}

static int
field_line(struct slice line, struct http_head *out, struct err *err)
{
	size_t colon = slice_find(line, ':');

	/* section 5.1: no blank before the colon; 5.2: no folded lines */
	if (colon == 0 || colon == line.n || line.p[0] == ' ' ||
	    line.p[0] == '\t' || line.p[colon - 1] == ' ' ||
	    line.p[colon - 1] == '\t' || memchr(line.p, '\0', line.n) != NULL)
		return err_set(err, "its head has a line that is no field");
	return http_field_take(slice_first(line, colon),
	    slice_trim(slice_from(line, colon + 1)), out, err);
}

/* Lines end in CR LF; a lone LF counts, too (section 2.2). */
enum http_progress
http_head_parse(struct slice in, struct http_head *out, struct err *err)
{
	struct slice rest = slice_first(in, HTTP_HEAD_BYTES_MAX), line;
	size_t lines = 0;

	memset(out, 0, sizeof(*out));
	while (slice_find(rest, '\n') < rest.n) {
		(void)slice_cut(&rest, '\n', &line);
		if (line.n > 0 && line.p[line.n - 1] == '\r')
			line.n--;
		if (line.n == 0 && lines > 0) {
			out->bytes = (size_t)(rest.p - in.p);
			/* both lengths: somebody is being fooled (6.1) */
			if (out->is_chunked && out->has_length)
				return err_set(err, "it has a length and "
				    "chunks");
			return HTTP_DONE;
		}
		if (++lines > HTTP_FIELDS_MAX)
			return err_set(err, "its head has too many fields");
		if ((lines == 1 ? status_line : field_line)(line, out,
		    err) < 0)
			return HTTP_BAD;
	}
	if (in.n >= HTTP_HEAD_BYTES_MAX)
		return err_set(err, "its head is larger than %d bytes",
		    HTTP_HEAD_BYTES_MAX);
	return HTTP_MORE;
}

/* ---- when to come again ------------------------------------------------ */

/* "Sun, 06 Nov 1994 08:49:37 GMT", turned into what date.h reads; the two
 * old forms are not. */
static int64_t
date_read(struct slice text)
{
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	unsigned month = 0;
	char line[32];
	int64_t at;

	if (text.n != 29 || text.p[3] != ',' || !slice_ends(text, " GMT"))
		return -1;
	while (month < 12 && memcmp(months + 3 * (size_t)month, text.p + 8,
	    3) != 0)
		month++;
	snprintf(line, sizeof(line), "%.4s-%02u-%.2sT%.8sZ", text.p + 12,
	    month + 1, text.p + 5, text.p + 17);
	return date_parse(slice_of(line), &at, NULL) == 0 ? at : -1;
}

int64_t
http_retry_after(struct slice value, int64_t now_s)
{
	uint64_t seconds;
	int64_t at;

	if (slice_number(value, 0, UINT32_MAX, &seconds))
		return seconds > HTTP_WAIT_S_MAX ? HTTP_WAIT_S_MAX :
		    (int64_t)seconds;
	at = date_read(value);
	if (at <= now_s)
		return 0;
	return at - now_s > HTTP_WAIT_S_MAX ? HTTP_WAIT_S_MAX : at - now_s;
}
