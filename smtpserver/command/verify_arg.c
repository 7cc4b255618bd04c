/* verify_arg.c - the argument of VRFY and EXPN
 *
 * In     the bytes after the verb
 * Out    an address; or the refusal
 * Spec   RFC 5321 sections 3.5.1, 4.1.1.6; RFC 6531 section 3.7.4.2
 *
 * SPDX-License-Identifier: ISC
 */
#include "smtpserver/command/argument.h"
#include "smtpserver/command/verify_arg.h"

#include "base/banned.h"

/* Cut a last word SMTPUTF8 off. */
static bool
utf8_cut(struct slice *args)
{
	static const char word[] = " SMTPUTF8";
	size_t n = sizeof(word) - 1;

	if (args->n < n ||
	    !slice_is_nocase(slice_from(*args, args->n - n), word))
		return false;
	*args = slice_trim(slice_first(*args, args->n - n));
	return true;
}

bool
verify_arg_take(const struct session *session, struct slice args,
    struct str *out_text, struct path *out_path, struct session_answer *out)
{
	bool is_utf8 = keyword_is_on(session, EHLO_SMTPUTF8) &&
	    utf8_cut(&args);
	struct slice rest;
	struct path path;
	struct err err;

	if (args.n == 0) {
		answer_set(out, 501, "5.5.4", "an address is expected");
		return false;
	}
	if (!is_utf8 && !argument_is_ascii(args)) {
		answer_set(out, 553, "5.6.7",
		    "an address beyond ASCII needs SMTPUTF8");
		return false;
	}
	if (path_parse(args, PATH_BARE_OK | PATH_LOCAL_OK |
	    (is_utf8 ? PATH_UTF8 : 0), &path, &rest, &err) != 0 ||
	    rest.n > 0) {
		answer_set(out, 501, "5.1.3", "this is not an address");
		return false;
	}
	if (path.domain.n == 0)
		path.domain = slice_of(session->settings->conf->host);
	str_reset(out_text);
	path_add(out_text, &path);
	out_path->local = slice_first(str_slice(out_text), path.local.n);
	out_path->domain = slice_from(str_slice(out_text), path.local.n + 1);
	return true;
}

bool
verify_arg_is_ours(const struct session *session, const struct path *path)
{
	struct arena *arena = arena_new();
	const struct conf *conf = session->settings->conf;
	bool result = conf_domain_find(conf, slice_lower(arena,
	    path->domain)) != NULL ||
	    conf_domain_table(conf, 0, NULL) != NULL;

	arena_free(&arena);
	return result;
}
