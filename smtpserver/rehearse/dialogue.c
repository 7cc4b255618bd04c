/* dialogue.c - a rehearsed SMTP session on standard input
 *
 * In     SMTP commands, a line each; whose address the client would have
 * Out    replies, and between them the rules that were tried
 * Holds  what HELO and MAIL said, one line of input
 * Trusts nobody: a line is a person's
 * Spec   sendmail(1) -bh; RFC 5321 section 4.1
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "grammar/net.h"
#include "smtpserver/rehearse/dialogue.h"

#include "base/banned.h"

struct dialogue {
	const struct rehearsal	*rehearsal;
	const char		*ip;
	struct str		 helo, sender;
	bool			 has_mail;
	unsigned		 rcpt_count;
};

static void
dialogue_say(const char *reply)
{
	printf("%s\r\n", reply);
	fflush(stdout);
}

static void
transaction_end(struct dialogue *dialogue)
{
	dialogue->has_mail = false;
	dialogue->rcpt_count = 0;
	str_reset(&dialogue->sender);
}

static void
dialogue_on_helo(struct dialogue *dialogue, struct slice rest)
{
	transaction_end(dialogue);
	str_reset(&dialogue->helo);
	(void)slice_word(&rest, &rest);
	str_add_slice(&dialogue->helo, rest);
	dialogue_say(rest.n == 0 ? "501 5.5.4 your name is missing" :
	    "250 rehearsal: nothing is written");
}

/* "FROM:<a@b> SIZE=1": the part in angle brackets, or the first word. */
static bool
path_of(struct slice rest, const char *keyword, struct slice *out)
{
	size_t n = strlen(keyword);

	if (rest.n < n || strncasecmp(rest.p, keyword, n) != 0)
		return false;
	rest = slice_trim(slice_from(rest, n));
	if (slice_starts(rest, "<") && slice_find(rest, '>') < rest.n) {
		*out = slice_first(rest, slice_find(rest, '>') + 1);
		return true;
	}
	return slice_word(&rest, out);
}

static void
dialogue_on_mail(struct dialogue *dialogue, struct slice rest)
{
	struct slice path;

	if (!path_of(rest, "FROM:", &path)) {
		dialogue_say("501 5.5.4 write MAIL FROM:<address>");
		return;
	}
	transaction_end(dialogue);
	str_add_slice(&dialogue->sender, path);
	dialogue->has_mail = true;
	dialogue_say("250 2.1.0 ok");
}

static void
dialogue_on_rcpt(struct dialogue *dialogue, struct slice rest)
{
	struct rehearsal_outcome outcome;
	struct rehearsal_row row = {
		.from = slice_of(dialogue->ip),
		.helo = str_slice(&dialogue->helo),
		.sender = str_slice(&dialogue->sender),
	};
	struct str reply = STR_INIT;
	struct err err;

	if (!dialogue->has_mail) {
		dialogue_say("503 5.5.1 MAIL first");
		return;
	}
	if (!path_of(rest, "TO:", &row.to)) {
		dialogue_say("501 5.5.4 write RCPT TO:<address>");
		return;
	}
	if (slice_starts(row.to, "<") && row.to.n > 2)
		row.to = slice_first(slice_from(row.to, 1), row.to.n - 2);
	if (rehearsal_run(dialogue->rehearsal, &row, &outcome, &err) != 0) {
		str_addf(&reply, "501 5.1.3 %s", err.text);
	} else if (outcome.result == REHEARSAL_NEED) {
		str_addf(&reply, "451 4.3.0 not known here: %s",
		    outcome.words.buf);
	} else {
		str_addf(&reply, "%d %s %s", outcome.code, outcome.status.buf,
		    outcome.words.buf);
		dialogue->rcpt_count += outcome.code / 100 == 2;
	}
	rehearsal_outcome_release(&outcome);
	dialogue_say(reply.buf);
	str_release(&reply);
}

static void
dialogue_on_data(struct dialogue *dialogue, struct slice rest)
{
	size_t capacity = 0;
	char *line = NULL;

	if (dialogue->rcpt_count == 0) {
		dialogue_say("503 5.5.1 no recipient was accepted");
		return;
	}
	dialogue_say("354 end with a dot on a line of its own");
	while (getline(&line, &capacity, stdin) > 0)
		if (strcmp(line, ".\n") == 0 || strcmp(line, ".\r\n") == 0)
			break;
	mem_free(&line);
	transaction_end(dialogue);
	dialogue_say("250 2.0.0 read and thrown away: this is a rehearsal");
}

static void
dialogue_on_rset(struct dialogue *dialogue, struct slice rest)
{
	transaction_end(dialogue);
	dialogue_say("250 2.0.0 ok");
}

static void
dialogue_on_noop(struct dialogue *dialogue, struct slice rest)
{
	dialogue_say("250 2.0.0 ok");
}

/* false: QUIT. */
static bool
dialogue_command(struct dialogue *dialogue, struct slice line)
{
	static const struct {
		const char	*word;
		void		(*act)(struct dialogue *, struct slice rest);
	} rows[] = {
		{ "HELO", dialogue_on_helo }, { "EHLO", dialogue_on_helo },
		    { "MAIL", dialogue_on_mail },
		{ "RCPT", dialogue_on_rcpt }, { "DATA", dialogue_on_data },
		    { "RSET", dialogue_on_rset },
		{ "NOOP", dialogue_on_noop },
	};
	struct slice word = { "", 0 };

	(void)slice_word(&line, &word);
	line = slice_trim(line);
	if (slice_is_nocase(word, "QUIT")) {
		dialogue_say("221 2.0.0 end of the rehearsal");
		return false;
	}
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (slice_is_nocase(word, rows[i].word)) {
			rows[i].act(dialogue, line);
			return true;
		}
	dialogue_say("502 5.5.1 not in a rehearsal: "
	    "HELO EHLO MAIL RCPT DATA RSET NOOP QUIT");
	return true;
}

int
dialogue_run(const struct rehearsal *rehearsal, const char *ip,
    struct err *err)
{
	struct dialogue dialogue = { .rehearsal = rehearsal, .ip = ip,
	    .helo = STR_INIT, .sender = STR_INIT };
	struct net address;
	size_t capacity = 0;
	char *line = NULL;
	ssize_t n;

	if (net_parse(slice_of(ip), &address, err) != 0)
		return -1;
	dialogue_say("220 rehearsal: nothing is written");
	while ((n = getline(&line, &capacity, stdin)) > 0)
		if (!dialogue_command(&dialogue, slice_trim(
		    (struct slice){ line, (size_t)n })))
			break;
	mem_free(&line);
	str_release(&dialogue.helo);
	str_release(&dialogue.sender);
	return 0;
}
