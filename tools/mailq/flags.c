/* flags.c - every flag of mailq(1): ZMailer's, and what other mailqs have
 *
 * In     a command line
 * Out    a struct mailq_flags, or what is wrong with it
 * Holds  nothing
 * Trusts nobody; nothing is done here
 * Spec   mailq(1)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tools/mailq/flags.h"

#include "base/banned.h"

#define LETTERS "+:46A:C:c:dh:ik:Mp:Qq::Sstu:U:vZ:"

struct reading {
	unsigned	 depth;		/* -Q */
	bool		 is_mib, is_sums;
	const char	*channel, *host;
	struct err	*err;
};

/* sendmail has two queues and narrows its list with -q; we have one, and
 * verbs that select. */
static int
alien_take(int letter, const char *value, struct err *err)
{
	if (letter == 'A' && strcmp(value, "c") != 0 &&
	    strcmp(value, "m") != 0)
		return err_set(err, "-A %s: sendmail's are -Ac and -Am, and "
		    "here there is one queue", value);
	if (letter == 'q' && value != NULL)
		return err_set(err, "-q%s: this mailq selects nothing; say "
		    "zmailer list SELECTOR", value);
	return 1;
}

static int
flag_take(int letter, char *value, struct mailq_flags *out,
    struct reading *reading)
{
	switch (letter) {
	case '4': out->family = AF_INET; break;
	case '6': out->family = AF_INET6; break;
	case 'C':
	case 'Z': out->conf = value; break;
	case 'c': reading->channel = value; break;
	case 'h': reading->host = value; break;
	case 'd': out->is_raw = true; break;
	case 'i': out->is_mine = true; break;
	case 'k': out->key_file = value; break;
	case 'M': reading->is_mib = true; break;
	case 'p': out->port = value; break;
	case 'Q': reading->depth++; break;
	case 'S': reading->is_sums = true; break;
	case 's': out->status++; break;
	case 'u': out->user = value; break;
	case 'U': out->identity = value; break;
	case 'v':	/* the list always has addresses and sizes */
	case 't': break;
	case 'A':
	case 'q': return alien_take(letter, value, reading->err);
	case ':': return err_set(reading->err, "-%c wants a value", optopt);
	default: return err_set(reading->err, "no option -%c", optopt);
	}
	return 1;
}

static void
report_choose(const struct reading *reading, struct mailq_flags *out)
{
	static const enum mailq_report by_depth[] = { MAILQ_LIST,
	    MAILQ_THREADS, MAILQ_GROUPS, MAILQ_TOTALS, MAILQ_COUNTERS };

	out->report = by_depth[reading->depth < 4 ? reading->depth : 4];
	if (reading->is_mib)
		out->report = MAILQ_COUNTERS;
	else if (reading->is_sums)
		out->report = MAILQ_SUMS;
	else if (reading->channel != NULL)
		out->report = MAILQ_THREAD;
}

/* -h is a thread's host after -c; alone it is a server, which ZMailer's
 * mailq takes as the word after the options. */
static int
place_choose(const struct reading *reading, char **words,
    struct mailq_flags *out)
{
	if (reading->channel != NULL && reading->host == NULL)
		return err_set(reading->err, "-c CHANNEL wants -h HOST");
	if (reading->channel != NULL) {
		out->channel = reading->channel;
		out->host = reading->host;
		out->server = *words != NULL ? *words++ : NULL;
	} else {
		out->server = reading->host != NULL ? reading->host :
		    *words != NULL ? *words++ : NULL;
	}
	if (out->server == NULL && out->port != NULL)
		out->server = "localhost";
	out->words = words;
	if (out->server != NULL)
		return 1;
	if (out->key_file != NULL || out->identity != NULL)
		return err_set(reading->err, "%s is for another machine; "
		    "which one?", out->key_file != NULL ? "-k" : "-U");
	return 1;
}

static int
mailq_flags_check(const struct mailq_flags *flags, struct err *err)
{
	bool is_files = flags->report == MAILQ_SUMS || flags->status > 0 ||
	    flags->is_mine || flags->user != NULL;

	if (flags->server != NULL && is_files)
		return err_set(err, "-s, -S, -i and -u read this machine's "
		    "files; %s has its own", flags->server);
	if ((flags->is_mine || flags->user != NULL) &&
	    (flags->report != MAILQ_LIST || flags->is_raw))
		return err_set(err, "-i and -u go with the list of "
		    "messages alone");
	if (flags->key_file != NULL && flags->identity != NULL)
		return err_set(err, "-k or -U, not both");
	return 1;
}

int
mailq_flags_read(int argc, char **argv, struct mailq_flags *out,
    struct err *err)
{
	struct reading reading = { .err = err };
	int letter;

	*out = (struct mailq_flags){ .family = AF_UNSPEC };
	opterr = 0;
	while ((letter = getopt(argc, argv, LETTERS)) != -1)
		if (flag_take(letter, optarg, out, &reading) < 0)
			return -1;
	report_choose(&reading, out);
	if (place_choose(&reading, argv + optind, out) < 0 ||
	    mailq_flags_check(out, err) < 0)
		return -1;
	return 0;
}

bool
mailq_identity(const char *text, char *name, char *password, size_t size)
{
	size_t n = strcspn(text, "/:,");

	if (n == 0 || n >= size || text[n] == '\0' || text[n + 1] == '\0' ||
	    strlcpy(password, text + n + 1, size) >= size)
		return false;
	memcpy(name, text, n);
	name[n] = '\0';
	return true;
}
