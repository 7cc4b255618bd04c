/* mailq.c - the queue in the words that sendmail taught everybody
 *
 * In     the spool; RUN/scheduler.sock when a scheduler runs; or another
 *        machine's mailq
 * Out    classic text, so that check_mailq and its like work: sendmail's
 *        "Total Requests: N", then Postfix's "-- N Kbytes in N Requests.",
 *        or "Mail queue is empty"; or what ZMailer's flags ask for
 * Spec   mailq(1)
 *
 * SPDX-License-Identifier: ISC
 */
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "tools/mailq/local.h"
#include "tools/mailq/remote.h"
#include "tools/queue/view.h"

#include "base/banned.h"

struct listing {
	const struct mailq_flags *flags;
	const char	*user;		/* whose; NULL: everybody's */
	struct mailq_sums sums;
	uint64_t	 bytes;
	unsigned	 count;
	bool		 is_own;	/* of others' mail nothing was told */
	struct str	 text;
};

/* Who submitted it; a user with a @ is a sender's address. */
static bool
mailq_is_of(const struct view *view, const char *user)
{
	return strchr(user, '@') != NULL ?
	    slice_is_nocase(view->sender, user) : slice_is(view->user, user);
}

static bool
mailq_one(void *context, const struct view *view)
{
	struct listing *listing = context;

	if (view->area == AREA_POSTMAN && *view->why == '_')
		return true;		/* a copy: its message went on */
	if (listing->user != NULL && !mailq_is_of(view, listing->user))
		return true;
	if (listing->flags->report == MAILQ_SUMS) {
		mailq_sums_add(&listing->sums, view);
		return true;
	}
	if (listing->count == 0)
		printf("-Queue ID-------- --Size-- ---Arrival Time---- "
		    "-Sender/Recipient-------\n");
	str_reset(&listing->text);
	view_add_mailq(&listing->text, view);
	fputs(listing->text.buf, stdout);
	listing->count++;
	listing->bytes += view->size_bytes;
	return true;
}

static struct conf *
conf_or_exit(const char *path)
{
	struct conf *conf = conf_makeshift_or_tell(path);

	if (conf == NULL)
		_exit(EX_CONFIG);
	return conf;
}

/* The words after the options, else what the flags ask for. */
static void
command_add(struct str *out, const struct mailq_flags *flags)
{
	static const char *const shows[] = {
		[MAILQ_LIST] = "SHOW QUEUE THREADS",
		[MAILQ_SUMS] = "SHOW QUEUE THREADS",
		[MAILQ_THREADS] = "SHOW QUEUE THREADS",
		[MAILQ_GROUPS] = "SHOW QUEUE SHORT",
		[MAILQ_TOTALS] = "SHOW SNMP",
		[MAILQ_COUNTERS] = "SHOW COUNTERS",
		[MAILQ_THREAD] = "SHOW THREAD"
	};

	for (char **word = flags->words; *word != NULL; word++)
		str_addf(out, "%s%s", out->len > 0 ? " " : "", *word);
	if (out->len > 0)
		return;
	str_adds(out, shows[flags->report]);
	if (flags->report == MAILQ_THREAD)
		str_addf(out, " %s %s", flags->channel, flags->host);
}

static int
ask_remote(const struct mailq_flags *flags)
{
	struct str command = STR_INIT;
	int status;

	command_add(&command, flags);
	status = mailq_remote(flags, command.buf);
	str_release(&command);
	return status;
}

/* ---- this machine's files ---------------------------------------- */

static void
listing_end(const struct listing *listing)
{
	struct str text = STR_INIT;

	if (listing->flags->report == MAILQ_SUMS) {
		mailq_sums_print(&listing->sums, &text);
		fputs(text.buf, stdout);
	} else if (listing->count == 0) {
		printf("%s\n", listing->is_own ? "None of your mail waits" :
		    "Mail queue is empty");
	} else {
		printf("\t\tTotal Requests: %u\n"
		    "-- %ju Kbytes in %u Request%s.\n",
		    listing->count,
		    (uintmax_t)((listing->bytes + 1023) / 1024),
		    listing->count, listing->count == 1 ? "" : "s");
	}
	str_release(&text);
}

/* Who may not look into the spool is told by the scheduler: of all mail, when
 * `control operators` names a group of theirs, else of their own. */
static int
mailq_list(const struct conf *conf, const struct spool *spool,
    struct listing *listing, struct err *err)
{
	struct arena *arena = arena_new();
	struct live live;
	int result;

	if (view_is_forbidden(conf)) {
		result = view_each_asked(conf->run_dir, NULL, mailq_one,
		    listing, &listing->is_own, err);
	} else {
		live_ask(conf->run_dir, arena, &live);
		result = view_each(spool, &live, 0, mailq_one, listing, err);
	}
	if (result == 0)
		listing_end(listing);
	arena_free(&arena);
	return result;
}

static const char *
user_of(const struct mailq_flags *flags)
{
	const struct passwd *me;

	if (!flags->is_mine)
		return flags->user;
	me = getpwuid(getuid());
	return me != NULL ? me->pw_name : "";
}

/* What is asked of the files: -s, the list, -S. */
static int
show_files(const struct mailq_flags *flags, const struct conf *conf,
    bool is_list)
{
	struct listing listing = { .flags = flags, .text = STR_INIT,
	    .user = user_of(flags) };
	struct spool *spool;
	struct err err;
	int result;

	if (conf_spool_open(conf, 0, &spool,
	    &err) < 0) {
		fprintf(stderr, "mailq: %s\n", err.text);
		return EX_NOINPUT;
	}
	result = flags->status > 0 ? mailq_status(conf, spool, &err) : 0;
	if (result == 0 && is_list)
		result = mailq_list(conf, spool, &listing, &err);
	if (result < 0)
		fprintf(stderr, "mailq: %s\n", err.text);
	spool_close(&spool);
	if (result == 0 && listing.is_own)
		fprintf(stderr, "mailq: of others' mail you are told nothing: "
		    "root may see it, and the groups of `control operators` "
		    "and `control admins`\n");
	mailq_sums_release(&listing.sums);
	str_release(&listing.text);
	if (result < 0)
		return EX_NOINPUT;
	/* who watches a queue must not take this for an empty one */
	return listing.is_own && listing.count == 0 ? EX_NOPERM : EX_OK;
}

static int
show_local(const struct mailq_flags *flags, const struct conf *conf)
{
	bool is_asked = flags->report >= MAILQ_THREADS || flags->is_raw;
	int status = EX_OK;

	if (!is_asked || flags->status > 0)
		status = show_files(flags, conf, !is_asked &&
		    flags->status < 2);
	if (status == EX_OK && is_asked && flags->status < 2)
		status = mailq_threads(flags, conf);
	return status;
}

int
main(int argc, char **argv)
{
	struct mailq_flags flags;
	struct conf *conf;
	struct err err;
	int status;

	fd_claim_standard();
	err_program("mailq");
	if (mailq_flags_read(argc, argv, &flags, &err) < 0) {
		fprintf(stderr, "mailq: %s\n"
		    "usage: mailq [-C FILE] [-s[s]] [-S] [-Q...] [-M] [-d] "
		    "[-i] [-u USER] [-c CHANNEL -h HOST]\n"
		    "       mailq [-46d] [-p PORT] [-k FILE | -U NAME/PASS] "
		    "[-Q...] HOST [COMMAND...]\n", err.text);
		return EX_USAGE;
	}
	if (flags.server != NULL)
		return ask_remote(&flags);
	conf = conf_or_exit(flags.conf);
	status = show_local(&flags, conf);
	conf_free(&conf);
	return status;
}
