/* author.c - the domain of a message's author
 *
 * In     a message
 * Out    the one domain of From
 * Trusts nobody
 * Spec   RFC 9989 section 5.3.1, RFC 5322 section 3.6.2
 *
 * SPDX-License-Identifier: ISC
 */
#include "grammar/message/header.h"
#include "origin/dmarc/dmarc.h"

#include "base/banned.h"

enum { AUTHORS_MAX = 5000 };

enum author { AUTHOR_ONE, AUTHOR_SEVERAL, AUTHOR_UNREADABLE };

/* All authors of one field: of one domain, or none (an empty one)?  An address
 * without a domain says nothing; it exempts no other (it is not even one, RFC
 * 5322 section 3.4.1). */
static enum author
author_of_field(struct slice value, struct arena *arena, struct slice *domain)
{
	bool is_several = false;
	enum header_answer answer;
	struct slice name;
	struct path path;
	struct err err;

	for (int i = 0; i < AUTHORS_MAX; i++) {
		answer = header_address(arena, &value, &path, &err);
		if (answer == HEADER_ADDRESS_END)
			return is_several ? AUTHOR_SEVERAL : AUTHOR_ONE;
		if (answer == HEADER_ADDRESS_BAD)
			return AUTHOR_UNREADABLE;
		if (path.domain.n == 0)
			continue;
		name = origin_name(arena, path.domain);
		if (name.n == 0)
			return AUTHOR_UNREADABLE;
		is_several |= domain->n > 0 &&
		    !slice_equal(name, *domain);
		*domain = name;
	}
	return AUTHOR_UNREADABLE;	/* so many are there to hide one */
}

/* The next field, as the router finds it: a line that is none ends no
 * header, or a From after it would be delivered without a judgement. */
static bool
author_next_field(struct slice *rest, struct header_field *out)
{
	bool is_broken;

	while (header_next(rest, out, &is_broken) != 1) {
		if (!is_broken)
			return false;
		header_junk(rest);
	}
	return true;
}

bool
dmarc_author(struct slice message, struct arena *arena, struct slice *out,
    struct dmarc *out_instead)
{
	enum author author = AUTHOR_ONE;
	struct header_field field;
	const char *why = NULL;
	size_t count = 0;

	*out = (struct slice){ NULL, 0 };
	while (author_next_field(&message, &field))
		if (header_is(&field, "From") && count++ == 0)
			author = author_of_field(field.value, arena, out);
	if (count > 1)
		why = "the header has From twice, and which of them a "
		    "reader is shown is not known";
	else if (author == AUTHOR_UNREADABLE)
		why = "From cannot be read";
	*out_instead = (struct dmarc){ .reason = why, .origin =
	    why != NULL ? ORIGIN_PERMERROR : ORIGIN_NONE };
	if (why == NULL && author == AUTHOR_SEVERAL)
		*out_instead = (struct dmarc){ .origin = ORIGIN_SEVERAL,
		    .reason = "From has addresses of several domains, which "
		    "DMARC does not check" };
	if (out_instead->origin != ORIGIN_NONE)
		*out = (struct slice){ NULL, 0 };
	return out->n > 0;
}
