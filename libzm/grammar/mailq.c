/* mailq.c - lines of ZMailer's mailq protocol, version 2
 *
 * In     a line of a client; a line of the file of users
 * Out    a verb with its words; a user with rights and networks
 * Holds  nothing
 * Trusts nothing: words are bounded, and are borrowed, not copied
 * Spec   doc/protocol/mailq.md sections 3 and 4
 *
 *   command  = verb *( 1*WSP word )          ; verb: one of the table below
 *   user     = name ":" password ":" *( right 1*WSP ) [ ":" networks ]
 *   networks = [ "!" ] "[" ip "]" [ "/" 1*DIGIT ] *( 1*WSP ... )
 *   proof    = 32HEXDIG / 64HEXDIG
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/ascii.h"
#include "grammar/mailq.h"

#include "base/banned.h"

enum { WORDS_MAX = 5, NETWORK_BYTES_MAX = 64 };

struct row {
	const char	*words[3];	/* NULL: no more */
	enum mailq_verb	 verb;
	unsigned	 rights;
	size_t		 arg_count;
};

static const struct row rows[] = {
	{ { "AUTH" }, MAILQ_VERB_AUTH, 0, 2 },
	{ { "SHOW", "COUNTERS" }, MAILQ_VERB_COUNTERS, MAILQ_ANY, 0 },
	{ { "SHOW", "SNMP" }, MAILQ_VERB_SNMP, MAILQ_SNMP, 0 },
	{ { "SHOW", "QUEUE", "SHORT" }, MAILQ_VERB_SHORT, MAILQ_QQ, 0 },
	{ { "SHOW", "QUEUE", "THREADS" }, MAILQ_VERB_THREADS, MAILQ_TT, 0 },
	{ { "SHOW", "QUEUE", "THREADS2" }, MAILQ_VERB_THREADS2, MAILQ_TT, 0 },
	{ { "SHOW", "THREAD" }, MAILQ_VERB_THREAD, MAILQ_TT, 2 },
	{ { "ETRN" }, MAILQ_VERB_ETRN, MAILQ_ETRN, 1 },
	{ { "KILL", "MSG" }, MAILQ_VERB_KILL_MSG, MAILQ_KILL, 1 },
	{ { "KILL", "THREAD" }, MAILQ_VERB_KILL_THREAD, MAILQ_KILL, 2 },
	{ { "RESCHEDULE", "MSG" }, MAILQ_VERB_RESCHEDULE_MSG, MAILQ_ETRN, 1 },
	{ { "RESCHEDULE", "THREAD" }, MAILQ_VERB_RESCHEDULE_THREAD,
	    MAILQ_ETRN, 2 },
	{ { "REROUTE", "MSG" }, MAILQ_VERB_REROUTE_MSG, MAILQ_KILL, 1 },
	{ { "REROUTE", "THREAD" }, MAILQ_VERB_REROUTE_THREAD, MAILQ_KILL, 2 },
	{ { "QUIT" }, MAILQ_VERB_QUIT, 0, 0 },
	{ { "EXIT" }, MAILQ_VERB_QUIT, 0, 0 },
};

/* A row fits when its words are there and as many more as it wants. */
static bool
row_fits(const struct row *row, const struct slice *words, size_t count)
{
	size_t n = 0;

	while (n < 3 && row->words[n] != NULL) {
		if (n >= count || !slice_is_nocase(words[n], row->words[n]))
			return false;
		n++;
	}
	return count == n + row->arg_count;
}

void
mailq_command_parse(struct slice line, struct mailq_command *out)
{
	struct slice words[WORDS_MAX + 1];
	size_t count = 0;

	*out = (struct mailq_command){ .verb = MAILQ_VERB_UNKNOWN };
	while (count <= WORDS_MAX && slice_word(&line, &words[count]))
		if (words[count++].n > MAILQ_WORD_BYTES_MAX)
			return;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!row_fits(&rows[i], words, count))
			continue;
		out->verb = rows[i].verb;
		out->rights = rows[i].rights;
		for (size_t k = 0; k < rows[i].arg_count; k++)
			out->args[k] = words[count - rows[i].arg_count + k];
		return;
	}
}

/* ---- users ----------------------------------------------------------- */

static int
rights_parse(struct slice text, unsigned *out, struct err *err)
{
	static const struct { const char *word; unsigned rights; } words[] = {
		{ "NONE", 0 }, { "SNMP", MAILQ_SNMP }, { "QQ", MAILQ_QQ },
		{ "TT", MAILQ_TT }, { "ETRN", MAILQ_ETRN },
		{ "KILL", MAILQ_KILL }, { "ALL", MAILQ_ANY },
		{ "SMTPIP", 0 },	/* of ZMailer's smtpserver */
	};
	struct slice word;

	*out = 0;
	while (slice_word(&text, &word)) {
		size_t i = 0;

		while (i < sizeof(words) / sizeof(words[0]) &&
		    !slice_is_nocase(word, words[i].word))
			i++;
		if (i == sizeof(words) / sizeof(words[0]))
			return err_set(err, "'" SLICE_FMT "' is no right: "
			    "SNMP, QQ, TT, ETRN, KILL, ALL, NONE",
			    SLICE_ARG(slice_first(word, 40)));
		*out |= words[i].rights;
	}
	return 1;
}

/* "[192.0.2.0]/24", "!192.0.2.7": what net_parse takes is left of it. */
static int
network_parse(struct slice word, struct net *out, bool *out_is_no,
    struct err *err)
{
	char text[NETWORK_BYTES_MAX];
	size_t n = 0;

	*out_is_no = slice_starts(word, "!");
	word = slice_from(word, *out_is_no);
	for (size_t i = 0; i < word.n && n < sizeof(text); i++)
		if (word.p[i] != '[' && word.p[i] != ']')
			text[n++] = word.p[i];
	return net_parse((struct slice){ text, n }, out, err);
}

static int
networks_check(struct slice text, struct err *err)
{
	struct slice word;
	struct net net;
	bool is_no;

	while (slice_word(&text, &word))
		if (network_parse(word, &net, &is_no, err) != 0)
			return -1;
	return 1;
}

enum mailq_line
mailq_user_parse(struct slice line, struct mailq_user *out, struct err *err)
{
	struct slice rest = slice_trim(line), rights;

	if (rest.n == 0 || rest.p[0] == '#')
		return MAILQ_LINE_EMPTY;
	*out = (struct mailq_user){ .rights = 0 };
	(void)slice_cut(&rest, ':', &out->name);
	if (!slice_cut(&rest, ':', &out->password) ||
	    !slice_cut(&rest, ':', &rights) || out->name.n == 0 ||
	    out->password.n == 0)
		return err_set(err, "a line has a name, a password and "
		    "rights, with a colon after each of the first two");
	out->networks = rest;	/* IPv6 has colons, so this is the last */
	if (rights_parse(rights, &out->rights, err) < 0)
		return MAILQ_LINE_BAD;
	return networks_check(out->networks, err);
}

bool
mailq_user_admits(const struct mailq_user *user, const struct net *address)
{
	struct slice rest = user->networks, word;
	struct net net;
	bool is_no, is_any = true;

	while (slice_word(&rest, &word)) {
		is_any = false;
		if (network_parse(word, &net, &is_no, NULL) == 0 &&
		    net_contains(&net, address))
			return !is_no;
	}
	return is_any;
}

int
mailq_digest_parse(struct slice hex, unsigned char *out, size_t n)
{
	if (hex.n != 2 * n)
		return -1;
	for (size_t i = 0; i < n; i++) {
		int high = ascii_hex(hex.p[2 * i]);
		int low = ascii_hex(hex.p[2 * i + 1]);

		if (high < 0 || low < 0)
			return -1;
		out[i] = (unsigned char)(high << 4 | low);
	}
	return 0;
}
