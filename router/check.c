/* check.c - would this recipient be served?
 *
 * In     one address, from anywhere
 * Out    served, refused with a form, or trouble
 * Holds  nothing
 * Trusts the configuration and its tables; no byte of an address
 * Spec   doc/INTERNALS section 7; RFC 5321 section 3.3
 *
 * SPDX-License-Identifier: ISC
 */
#include "router/check.h"

#include "base/mem.h"

#include "base/banned.h"

enum { PLACES_EXPECTED = 1 };

enum check_result
router_check(struct router *router, struct arena *arena,
    const struct path *path, struct slice *out_form, struct err *err)
{
	struct route_request request = { .path = *path };
	struct places places;

	*out_form = SLICE("");
	places_init(&places, arena, PLACES_EXPECTED);
	places.is_check = true;
	if (router_address(router, &places, &request, err) != 1)
		return CHECK_TROUBLE;
	for (size_t i = 0; i < places.count; i++) {
		if (!slice_is(places.list[i].channel, "error"))
			return CHECK_SERVED;
		*out_form = places.list[i].host;
	}
	return out_form->n > 0 ? CHECK_REFUSED : CHECK_SERVED;
}

void
router_check_line(struct router *router, struct arena *arena,
    struct slice line, struct str *out)
{
	struct slice verb = { NULL, 0 }, form, rest;
	struct err err = { "" };
	struct path path;

	if (!slice_word(&line, &verb) || !slice_is(verb, "rcpt") ||
	    path_parse(slice_from(line, line.n > 0), PATH_BARE_OK |
	    PATH_LOCAL_OK | PATH_UTF8, &path, &rest, &err) != 1 ||
	    rest.n > 0) {
		str_addf(out, "trouble not a question: %s", err.text);
		return;
	}
	switch (router_check(router, arena, &path, &form, &err)) {
	case CHECK_SERVED:
		str_adds(out, "ok served");
		break;
	case CHECK_REFUSED:
		str_addf(out, "ok refused " SLICE_FMT, SLICE_ARG(form));
		break;
	case CHECK_TROUBLE:
		str_addf(out, "trouble %s", err.text);
		break;
	}
}
