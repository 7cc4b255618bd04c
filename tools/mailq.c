/* mailq.c - the queue in the words that sendmail taught everybody
 *
 * In     the spool; RUN/scheduler.sock when a scheduler runs; with -h another
 *        machine
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
#include "tools/mailq_remote.h"
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

/* The words behind the options, else what so many -Q of ZMailer's mailq ask
 * for. */
static void
command_add(struct str *out, unsigned depth, char **words)
{
	static const char *const shows[] = {
		"SHOW QUEUE THREADS", "SHOW QUEUE THREADS",
		"SHOW QUEUE SHORT", "SHOW SNMP", "SHOW COUNTERS"
	};

	for (; *words != NULL; words++)
		str_addf(out, "%s%s", out->len > 0 ? " " : "", *words);
	if (out->len == 0)
		str_adds(out, shows[depth < 4 ? depth : 4]);
}

static int
ask_remote(const char *place, const char *file, unsigned depth, char **words)
{
	struct str command = STR_INIT;
	int status;

	if (file == NULL) {
		fprintf(stderr, "mailq: -h needs -k FILE, a file with the "
		    "line NAME:PASSWORD\n");
		return EX_USAGE;
	}
	command_add(&command, depth, words);
	status = mailq_remote(place, file, command.buf);
	str_release(&command);
	return status;
}

static int
show_local(const char *conf_path)
{
	struct total total = { 0, 0, STR_INIT };
	struct arena *arena;
	struct spool *spool;
	struct conf *conf;
	struct live live;
	struct err err;

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

int
main(int argc, char **argv)
{
	const char *conf_path = NULL, *place = NULL, *file = NULL;
	unsigned depth = 0;
	int option;

	err_program("mailq");
	/* what others' mailq take and this one does not need is accepted */
	while ((option = getopt(argc, argv, "+C:h:k:AQcmpqv")) != -1)
		if (option == 'C') {
			conf_path = optarg;
		} else if (option == 'h') {
			place = optarg;
		} else if (option == 'k') {
			file = optarg;
		} else if (option == 'Q') {
			depth++;
		} else if (option == '?') {
			fprintf(stderr, "usage: mailq [-C FILE]\n"
			    "       mailq -h HOST[:PORT] -k FILE [-Q...] "
			    "[COMMAND...]\n");
			return EX_USAGE;
		}
	if (place != NULL)
		return ask_remote(place, file, depth, argv + optind);
	return show_local(conf_path);
}
