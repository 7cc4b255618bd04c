/* mailq.c - the queue in the words that sendmail taught everybody
 *
 * In     the spool; RUN/scheduler.sock when a scheduler runs
 * Out    classic text; the last line is Postfix's, so that check_mailq and
 *        its like work: "-- N Kbytes in N Requests." or "Mail queue is empty"
 * Spec   mailq(1)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/clock.h"
#include "tools/queue/view.h"

#include "base/banned.h"

struct total {
	uint64_t	 bytes;
	unsigned	 count;
	struct str	 text;
};

static bool
mailq_one(void *context, const struct view *view)
{
	struct total *total = context;

	if (view->area == AREA_POSTMAN && *view->why == '_')
		return true;		/* a copy: its message went on */
	if (total->count == 0)
		printf("-Queue ID-------- --Size-- ---Arrival Time---- "
		    "-Sender/Recipient-------\n");
	str_reset(&total->text);
	view_add_mailq(&total->text, view);
	fputs(total->text.buf, stdout);
	total->count++;
	total->bytes += view->size_bytes;
	return true;
}

static struct conf *
conf_or_exit(const char *path)
{
	struct conf *conf = conf_load_or_tell(path);

	if (conf == NULL)
		_exit(EX_CONFIG);
	return conf;
}

int
main(int argc, char **argv)
{
	struct total total = { 0, 0, STR_INIT };
	const char *conf_path = NULL;
	struct arena *arena;
	struct spool *spool;
	struct conf *conf;
	struct live live;
	struct err err;
	int option;

	err_program("mailq");
	/* what others' mailq take and this one does not need is accepted */
	while ((option = getopt(argc, argv, "C:Acmpqv")) != -1)
		if (option == 'C') {
			conf_path = optarg;
		} else if (option == '?') {
			fprintf(stderr, "usage: mailq [-C FILE]\n");
			return EX_USAGE;
		}
	conf = conf_or_exit(conf_path);
	arena = arena_new();
	live_ask(conf->run_dir, arena, &live);
	if (spool_open(conf->spool_dir, 0, conf->hash_levels, &spool,
	    &err) < 0 || view_each(spool, &live, 0, mailq_one, &total,
	    &err) < 0) {
		fprintf(stderr, "mailq: %s\n", err.text);
		return EX_NOINPUT;
	}
	if (total.count == 0)
		printf("Mail queue is empty\n");
	else
		printf("-- %ju Kbytes in %u Request%s.\n",
		    (uintmax_t)((total.bytes + 1023) / 1024), total.count,
		    total.count == 1 ? "" : "s");
	spool_close(&spool);
	str_release(&total.text);
	arena_free(&arena);
	conf_free(&conf);
	return EX_OK;
}
