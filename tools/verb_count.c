/* verb_count.c - zmailer count: queued mail by state, from the files
 *
 * In     the spool
 * Out    a line a state and one of all; or a JSON line each
 * Spec   zmailer-queue(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/clock.h"
#include "base/json.h"
#include "mail/queue.h"
#include "tools/queue/view.h"
#include "tools/verb.h"

#include "base/banned.h"

static void
put_json(const struct queue_counts *counts)
{
	struct str out = STR_INIT;

	for (int i = 0; i < QUEUE_STATES; i++) {
		json_open(&out);
		json_text(&out, "state", slice_of(queue_states[i]));
		json_number(&out, "messages", (int64_t)counts->messages[i]);
		json_number(&out, "recipients",
		    (int64_t)counts->recipients[i]);
		json_close(&out);
	}
	json_open(&out);
	json_number(&out, "messages", (int64_t)counts->total);
	json_number(&out, "bytes", (int64_t)counts->bytes);
	json_number(&out, "oldest", counts->oldest_s);
	json_close(&out);
	fputs(out.buf, stdout);
	str_release(&out);
}

static void
put_table(const struct queue_counts *counts, int64_t now_s)
{
	char span[CLOCK_TEXT_BYTES];
	struct str size = STR_INIT;

	printf("%-10s %10s %10s\n", "STATE", "MESSAGES", "RECIPIENTS");
	for (int i = 0; i < QUEUE_STATES; i++)
		if (counts->recipients[i] > 0)
			printf("%-10s %10" PRIu64 " %10" PRIu64 "\n",
			    queue_states[i], counts->messages[i],
			    counts->recipients[i]);
	view_add_size(&size, counts->bytes);
	printf("%" PRIu64 " message%s, %s", counts->total,
	    counts->total == 1 ? "" : "s", size.buf);
	if (counts->total > 0) {
		clock_span(now_s > counts->oldest_s ? now_s -
		    counts->oldest_s : 0, span);
		printf(", the oldest came %s ago", span);
	}
	putchar('\n');
	str_release(&size);
}

int
verb_count(int argc, char **argv, const char *conf_path)
{
	bool is_json = argc == 2 && strcmp(argv[1], "--json") == 0;
	int64_t now_s = clock_wall_s();
	struct queue_counts counts;
	struct spool *spool;
	struct conf *conf;
	struct err err;

	if (argc > 1 && !is_json)
		return verb_usage(argv[0], "what is %s?", argv[1]);
	conf = verb_conf(conf_path);
	if (spool_open(conf->spool_dir, 0, conf->hash_levels, &spool,
	    &err) < 0 || queue_count(spool, now_s, &counts, &err) < 0) {
		fprintf(stderr, "zmailer: count: %s\n", err.text);
		return EX_NOINPUT;
	}
	if (is_json)
		put_json(&counts);
	else
		put_table(&counts, now_s);
	spool_close(&spool);
	conf_free(&conf);
	return EX_OK;
}
