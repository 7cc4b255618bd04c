/* scram.c - the messages of SCRAM, server's side
 *
 * In     a client's messages, decoded from base64
 * Out    their parts
 * Trusts nothing: order, names and lengths are those of the RFC
 * Spec   RFC 5802 section 7
 *
 *   client-first = gs2-cbind "," [ "a=" name ] "," "n=" name ",r=" nonce
 *   gs2-cbind    = "p=" 1*( ALPHA / DIGIT / "." / "-" ) / "n" / "y"
 *   client-final = "c=" base64 ",r=" nonce ",p=" base64
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "grammar/smtp/scram.h"

#include "base/banned.h"

/* "n=text" at the front of *rest: the text; *rest moves after the comma. */
static bool
scram_take_part(struct slice *rest, char name, struct slice *out)
{
	struct slice piece;

	if (!slice_cut(rest, ',', &piece) || piece.n < 2 ||
	    piece.p[0] != name || piece.p[1] != '=')
		return false;
	*out = slice_from(piece, 2);
	return true;
}

/* saslname: "=2C" is a comma, "=3D" an equals sign. */
static bool
name_decode(struct slice text, char out[SCRAM_NAME_BYTES_MAX + 1])
{
	size_t n = 0;

	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];

		if (n == SCRAM_NAME_BYTES_MAX || c == '\0')
			return false;
		if (c == '=') {
			struct slice code = slice_first(slice_from(text,
			    i + 1), 2);

			c = slice_is(code, "2C") ? ',' : '=';
			if (c == '=' && !slice_is(code, "3D"))
				return false;
			i += 2;
		}
		out[n++] = c;
	}
	out[n] = '\0';
	return n > 0;
}

/* printable: any ASCII but controls, blanks and the comma. */
static bool
is_nonce(struct slice nonce)
{
	for (size_t i = 0; i < nonce.n; i++)
		if (nonce.p[i] <= ' ' || nonce.p[i] > '~')
			return false;
	return nonce.n > 0 && nonce.n <= SCRAM_NONCE_BYTES_MAX;
}

static bool
is_binding_name(struct slice name)
{
	for (size_t i = 0; i < name.n; i++) {
		char c = name.p[i];

		if (!(ascii_is_alnum(c) || c == '.' || c == '-'))
			return false;
	}
	return name.n > 0;
}

/* gs2-header: the flag, "," and "a=" authzid or nothing, ",". */
static bool
gs2_parse(struct slice text, struct scram_first *out)
{
	struct slice rest = text, flag, authzid;

	if (!slice_cut(&rest, ',', &flag) || rest.p == NULL ||
	    !slice_cut(&rest, ',', &authzid) || rest.p == NULL)
		return false;
	if (slice_is(flag, "n"))
		out->binding = SCRAM_NO_BINDING;
	else if (slice_is(flag, "y"))
		out->binding = SCRAM_NOT_OFFERED;
	else if (slice_starts(flag, "p=") &&
	    is_binding_name(slice_from(flag, 2)))
		out->binding = SCRAM_BINDING;
	else
		return false;
	if (out->binding == SCRAM_BINDING)
		out->binding_name = slice_from(flag, 2);
	if (authzid.n > 0 && (!slice_starts(authzid, "a=") ||
	    !name_decode(slice_from(authzid, 2), out->authzid)))
		return false;
	out->gs2 = slice_first(text, text.n - rest.n);
	out->bare = rest;
	return true;
}

int
scram_first_parse(struct slice text, struct scram_first *out,
    struct err *err)
{
	struct slice rest, user;

	memset(out, 0, sizeof(*out));
	if (!gs2_parse(text, out))
		return err_set(err, "this is no SCRAM header");
	rest = out->bare;
	if (slice_starts(rest, "m="))
		return err_set(err, "an extension of SCRAM is not known");
	if (!scram_take_part(&rest, 'n', &user) || !name_decode(user,
	    out->user))
		return err_set(err, "there is no user name");
	if (!scram_take_part(&rest, 'r', &out->nonce) || !is_nonce(out->nonce))
		return err_set(err, "there is no nonce");
	return 0;
}

int
scram_final_parse(struct slice text, struct scram_final *out,
    struct err *err)
{
	struct slice rest = text, piece;

	memset(out, 0, sizeof(*out));
	if (!scram_take_part(&rest, 'c', &out->binding) ||
	    !scram_take_part(&rest, 'r',
	    &out->nonce) || !is_nonce(out->nonce))
		return err_set(err, "this is no SCRAM message");
	while (slice_cut(&rest, ',', &piece))
		if (slice_starts(piece, "p=")) {
			if (rest.p != NULL)
				break;
			out->proof = slice_from(piece, 2);
			out->bare = slice_first(text, text.n - piece.n - 1);
			return 0;
		}
	return err_set(err, "there is no proof at the end");
}
