/* choose.c - which signatures of very many are read
 *
 * In     signature fields, the author's domain
 * Out    those whose domain has most in common with it
 * Holds  nothing of what is left out: thousands take no memory
 * Trusts nobody
 * Spec   internal.h; RFC 6376 section 6.1
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "origin/dkim/internal.h"

#include "base/banned.h"

enum { DOMAIN_BYTES_MAX = 253 };

/* How many bytes of its end a domain shares with the author's, in whole
 * labels; the author's own has one more than any below it. */
static size_t
choice_rank(struct slice author, struct slice domain)
{
	size_t n = 0, shared = 0;

	while (n < domain.n && n < author.n &&
	    ascii_lower(domain.p[domain.n - n - 1]) ==
	    ascii_lower(author.p[author.n - n - 1])) {
		n++;
		if ((n == domain.n || domain.p[domain.n - n - 1] == '.') &&
		    (n == author.n || author.p[author.n - n - 1] == '.'))
			shared = n;
	}
	return shared > 0 && domain.n == author.n && shared == domain.n ?
	    shared + 1 : shared;
}

static size_t
choice_rank_of_field(struct slice author, const struct header_field *field)
{
	char domain[DOMAIN_BYTES_MAX];
	struct dkim_tags tags;
	struct slice d;
	size_t n = 0;

	if (author.n == 0 || field->whole.n > DKIM_FIELD_MAX ||
	    !dkim_tags_read(field->value, &tags))
		return 0;
	d = dkim_tag(&tags, "d");
	for (size_t i = 0; i < d.n; i++) {
		if (ascii_is_space(d.p[i]))
			continue;
		if (n == sizeof(domain))
			return 0;
		domain[n++] = d.p[i];
	}
	return choice_rank(author, (struct slice){ domain, n });
}

void
dkim_choose(struct dkim_choice *choice, const struct header_field *field)
{
	struct dkim_candidate next = { .written = *field,
	    .rank = choice_rank_of_field(choice->author, field),
	    .place = choice->found++ };
	struct dkim_candidate *rows = choice->rows;
	size_t at = choice->count;

	while (at > 0 && rows[at - 1].rank < next.rank)
		at--;
	if (at == DKIM_READ_MAX)
		return;
	choice->count += choice->count < DKIM_READ_MAX;
	memmove(&rows[at + 1], &rows[at],
	    (choice->count - 1 - at) * sizeof(*rows));
	rows[at] = next;
}
