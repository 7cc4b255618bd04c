/* sums.c - mailq -S: how much waits for each destination
 *
 * In     messages as view.h shows them
 * Out    a line a destination: files, bytes in all and on the mean
 * Holds  a name and two numbers a destination
 * Trusts nothing of names: they are made safe to print
 * Spec   mailq(1)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>
#include <string.h>

#include "mail/verdict.h"
#include "tools/mailq/local.h"

#include "base/banned.h"

static struct mailq_sum *
sum_get(struct mailq_sums *sums, const char *name)
{
	size_t low = 0, high = sums->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(sums->all[middle].name, name);

		if (order == 0)
			return &sums->all[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (sums->count == sums->room) {
		sums->room = sums->room > 0 ? 2 * sums->room : 64;
		sums->all = mem_grow(sums->all, sums->room,
		    sizeof(*sums->all));
	}
	memmove(&sums->all[low + 1], &sums->all[low],
	    (sums->count++ - low) * sizeof(*sums->all));
	sums->all[low] = (struct mailq_sum){ .name = mem_strdup(name) };
	return &sums->all[low];
}

static int
sums_name_compare(const void *pa, const void *pb)
{
	return strcmp(*(char *const *)pa, *(char *const *)pb);
}

/* A message counts once for each destination that it is still to go to. */
void
mailq_sums_add(struct mailq_sums *sums, const struct view *view)
{
	char **names = mem_alloc(view->rcpt_count + 1, sizeof(*names));
	struct str name = STR_INIT;
	size_t count = 0;

	for (size_t i = 0; i < view->rcpt_count; i++) {
		const struct view_rcpt *rcpt = &view->rcpts[i];

		if (rcpt->channel.n == 0 ||
		    verdict_kind_parse(slice_of(rcpt->state)) >= 0)
			continue;
		str_reset(&name);
		str_add_escaped(&name, rcpt->channel);
		str_addc(&name, '/');
		str_add_escaped(&name, rcpt->host);
		names[count++] = mem_strdup(name.buf);
	}
	if (count > 1)
		qsort(names, count, sizeof(*names), sums_name_compare);
	for (size_t i = 0; i < count; i++) {
		struct mailq_sum *sum;

		if (i > 0 && strcmp(names[i - 1], names[i]) == 0)
			continue;
		sum = sum_get(sums, names[i]);
		sum->files++;
		sum->bytes += view->size_bytes;
	}
	for (size_t i = 0; i < count; i++)
		mem_free(&names[i]);
	mem_free(&names);
	str_release(&name);
}

void
mailq_sums_print(const struct mailq_sums *sums, struct str *out)
{
	str_addf(out, "%8s %12s %10s  %s\n", "FILES", "BYTES", "MEAN",
	    "CHANNEL/HOST");
	for (size_t i = 0; i < sums->count; i++)
		str_addf(out, "%8ju %12ju %10ju  %s\n",
		    (uintmax_t)sums->all[i].files,
		    (uintmax_t)sums->all[i].bytes,
		    (uintmax_t)(sums->all[i].bytes / sums->all[i].files),
		    sums->all[i].name);
}

void
mailq_sums_release(struct mailq_sums *sums)
{
	for (size_t i = 0; i < sums->count; i++)
		mem_free(&sums->all[i].name);
	mem_free(&sums->all);
	sums->count = sums->room = 0;
}
