/* test_client_matrix.c - every kind of answer to every command: what becomes
 * of the recipient, of the connection, and of the next message
 *
 * A row is one session up to a command, the reaction of the server to it,
 * and what is expected.  Then another message is sent: over the same
 * connection (KEPT, or RESET when RSET goes first) or a new one (NEW), and
 * always it must arrive.
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/unit/transports/certs.h"
#include "tests/unit/transports/client_lab.h"

enum at { CONNECT, EHLO, HELO, MAY, ENCRYPT, AUTH, MAIL, RCPT, DATA, DOT,
	PMAIL, PRCPT, PDATA, PDOT, CHUNK, RSET, QUIT, LMTP };
static const char *const at_names[] = { "greeting", "EHLO", "HELO",
	"STARTTLS (may)", "STARTTLS (encrypt)", "AUTH", "MAIL", "RCPT",
	"DATA", "the dot", "pipelined MAIL", "pipelined RCPT",
	"pipelined DATA", "pipelined dot", "BDAT", "RSET", "QUIT",
	"an LMTP answer" };

enum how { R2, R3, R4, R5, R421, WORDS, BINARY, LONG, CHANGES, CLOSE, SILENCE };
static const char *const reactions[] = {
	"> 250 2.0.0 fine\n", "> 354 go\n", "> 451 4.3.0 later\n",
	"> 554 5.7.1 never\n", "> 421 4.3.2 closing\n", "> what is this\n",
	">> \\0\x01\xff\xfe\\r\\n\n", "* 10000000\n", "> 250-a\n> 554 b\n",
	"", "~\n",
};

enum fate { NEW, KEPT, RESET };

static const struct row {
	enum at		 at;
	enum how	 how;
	enum verdict_kind kind;
	const char	*status;
	enum fate	 fate;
	bool		 host_trouble;
} rows[] = {
#define OK VERDICT_DELIVERED
#define LATER VERDICT_DEFERRED
#define NEVER VERDICT_FAILED
	{ CONNECT, R2, OK, "2.0.0", KEPT, false },
	{ CONNECT, R3, LATER, "4.5.0", NEW, true },
	{ CONNECT, R4, LATER, "4.3.0", NEW, true },
	{ CONNECT, R5, LATER, "4.7.1", NEW, true },
	{ CONNECT, R421, LATER, "4.3.2", NEW, true },
	{ CONNECT, WORDS, LATER, "4.4.2", NEW, true },
	{ CONNECT, BINARY, LATER, "4.4.2", NEW, true },
	{ CONNECT, LONG, LATER, "4.4.2", NEW, true },
	{ CONNECT, CHANGES, LATER, "4.4.2", NEW, true },
	{ CONNECT, CLOSE, LATER, "4.4.2", NEW, true },
	{ CONNECT, SILENCE, LATER, "4.4.2", NEW, true },

	{ EHLO, R2, OK, "2.0.0", KEPT, false },
	{ EHLO, R3, LATER, "4.5.0", NEW, true },
	{ EHLO, R4, LATER, "4.3.0", NEW, true },
	{ EHLO, R421, LATER, "4.3.2", NEW, true },
	{ EHLO, WORDS, LATER, "4.4.2", NEW, true },
	{ EHLO, BINARY, LATER, "4.4.2", NEW, true },
	{ EHLO, LONG, LATER, "4.4.2", NEW, true },
	{ EHLO, CHANGES, LATER, "4.4.2", NEW, true },
	{ EHLO, CLOSE, LATER, "4.4.2", NEW, true },
	{ EHLO, SILENCE, LATER, "4.4.2", NEW, true },

	{ HELO, R2, OK, "2.0.0", KEPT, false },
	{ HELO, R3, LATER, "4.5.0", NEW, true },
	{ HELO, R4, LATER, "4.3.0", NEW, true },
	{ HELO, R5, LATER, "4.7.1", NEW, true },
	{ HELO, R421, LATER, "4.3.2", NEW, true },
	{ HELO, WORDS, LATER, "4.4.2", NEW, true },
	{ HELO, BINARY, LATER, "4.4.2", NEW, true },
	{ HELO, LONG, LATER, "4.4.2", NEW, true },
	{ HELO, CHANGES, LATER, "4.4.2", NEW, true },
	{ HELO, CLOSE, LATER, "4.4.2", NEW, true },
	{ HELO, SILENCE, LATER, "4.4.2", NEW, true },

	{ MAY, R2, OK, "2.0.0", KEPT, false },		/* in the clear */
	{ MAY, R3, OK, "2.0.0", KEPT, false },
	{ MAY, R4, OK, "2.0.0", KEPT, false },
	{ MAY, R5, OK, "2.0.0", KEPT, false },
	{ MAY, R421, LATER, "4.3.2", NEW, true },
	{ MAY, WORDS, LATER, "4.4.2", NEW, true },
	{ MAY, BINARY, LATER, "4.4.2", NEW, true },
	{ MAY, LONG, LATER, "4.4.2", NEW, true },
	{ MAY, CHANGES, LATER, "4.4.2", NEW, true },
	{ MAY, CLOSE, LATER, "4.4.2", NEW, true },
	{ MAY, SILENCE, LATER, "4.4.2", NEW, true },

	{ ENCRYPT, R2, LATER, "4.7.4", NEW, true },
	{ ENCRYPT, R3, LATER, "4.7.4", NEW, true },
	{ ENCRYPT, R4, LATER, "4.7.4", NEW, true },
	{ ENCRYPT, R5, LATER, "4.7.4", NEW, true },
	{ ENCRYPT, R421, LATER, "4.3.2", NEW, true },
	{ ENCRYPT, WORDS, LATER, "4.4.2", NEW, true },
	{ ENCRYPT, BINARY, LATER, "4.4.2", NEW, true },
	{ ENCRYPT, LONG, LATER, "4.4.2", NEW, true },
	{ ENCRYPT, CHANGES, LATER, "4.4.2", NEW, true },
	{ ENCRYPT, CLOSE, LATER, "4.4.2", NEW, true },
	{ ENCRYPT, SILENCE, LATER, "4.4.2", NEW, true },

	{ AUTH, R2, OK, "2.0.0", KEPT, false },
	{ AUTH, R3, LATER, "4.5.0", NEW, true },
	{ AUTH, R4, LATER, "4.3.0", NEW, true },
	{ AUTH, R5, LATER, "4.7.1", NEW, true },
	{ AUTH, R421, LATER, "4.3.2", NEW, true },
	{ AUTH, WORDS, LATER, "4.4.2", NEW, true },
	{ AUTH, BINARY, LATER, "4.4.2", NEW, true },
	{ AUTH, LONG, LATER, "4.4.2", NEW, true },
	{ AUTH, CHANGES, LATER, "4.4.2", NEW, true },
	{ AUTH, CLOSE, LATER, "4.4.2", NEW, true },
	{ AUTH, SILENCE, LATER, "4.4.2", NEW, true },

	{ MAIL, R2, OK, "2.0.0", KEPT, false },
	{ MAIL, R3, LATER, "4.5.0", NEW, false },
	{ MAIL, R4, LATER, "4.3.0", KEPT, false },
	{ MAIL, R5, NEVER, "5.7.1", KEPT, false },
	{ MAIL, R421, LATER, "4.3.2", NEW, true },
	{ MAIL, WORDS, LATER, "4.4.2", NEW, true },
	{ MAIL, BINARY, LATER, "4.4.2", NEW, true },
	{ MAIL, LONG, LATER, "4.4.2", NEW, true },
	{ MAIL, CHANGES, LATER, "4.4.2", NEW, true },
	{ MAIL, CLOSE, LATER, "4.4.2", NEW, true },
	{ MAIL, SILENCE, LATER, "4.4.2", NEW, true },

	{ RCPT, R2, OK, "2.0.0", KEPT, false },
	{ RCPT, R3, LATER, "4.5.0", NEW, false },
	{ RCPT, R4, LATER, "4.3.0", RESET, false },
	{ RCPT, R5, NEVER, "5.7.1", RESET, false },
	{ RCPT, R421, LATER, "4.3.2", NEW, true },
	{ RCPT, WORDS, LATER, "4.4.2", NEW, true },
	{ RCPT, BINARY, LATER, "4.4.2", NEW, true },
	{ RCPT, LONG, LATER, "4.4.2", NEW, true },
	{ RCPT, CHANGES, LATER, "4.4.2", NEW, true },
	{ RCPT, CLOSE, LATER, "4.4.2", NEW, true },
	{ RCPT, SILENCE, LATER, "4.4.2", NEW, true },

	{ DATA, R2, LATER, "4.5.0", NEW, false },
	{ DATA, R3, OK, "2.0.0", KEPT, false },
	{ DATA, R4, LATER, "4.3.0", RESET, false },
	{ DATA, R5, NEVER, "5.7.1", RESET, false },
	{ DATA, R421, LATER, "4.3.2", NEW, true },
	{ DATA, WORDS, LATER, "4.4.2", NEW, false },
	{ DATA, BINARY, LATER, "4.4.2", NEW, false },
	{ DATA, LONG, LATER, "4.4.2", NEW, false },
	{ DATA, CHANGES, LATER, "4.4.2", NEW, false },
	{ DATA, CLOSE, LATER, "4.4.2", NEW, false },
	{ DATA, SILENCE, LATER, "4.4.2", NEW, false },

	{ DOT, R2, OK, "2.0.0", KEPT, false },
	{ DOT, R3, LATER, "4.5.0", NEW, false },
	{ DOT, R4, LATER, "4.3.0", KEPT, false },
	{ DOT, R5, NEVER, "5.7.1", KEPT, false },
	{ DOT, R421, LATER, "4.3.2", NEW, false },
	{ DOT, WORDS, LATER, "4.4.2", NEW, false },
	{ DOT, BINARY, LATER, "4.4.2", NEW, false },
	{ DOT, LONG, LATER, "4.4.2", NEW, false },
	{ DOT, CHANGES, LATER, "4.4.2", NEW, false },
	{ DOT, CLOSE, LATER, "4.4.2", NEW, false },
	{ DOT, SILENCE, LATER, "4.4.2", NEW, false },

	{ PMAIL, R2, OK, "2.0.0", KEPT, false },
	{ PMAIL, R3, LATER, "4.5.0", NEW, false },
	{ PMAIL, R4, LATER, "4.3.0", RESET, false },
	{ PMAIL, R5, NEVER, "5.7.1", RESET, false },
	{ PMAIL, R421, LATER, "4.3.2", NEW, true },
	{ PMAIL, WORDS, LATER, "4.4.2", NEW, true },
	{ PMAIL, BINARY, LATER, "4.4.2", NEW, true },
	{ PMAIL, LONG, LATER, "4.4.2", NEW, true },
	{ PMAIL, CHANGES, LATER, "4.4.2", NEW, true },
	{ PMAIL, CLOSE, LATER, "4.4.2", NEW, true },
	{ PMAIL, SILENCE, LATER, "4.4.2", NEW, true },

	{ PRCPT, R2, OK, "2.0.0", KEPT, false },
	{ PRCPT, R3, LATER, "4.5.0", NEW, false },
	{ PRCPT, R4, LATER, "4.3.0", RESET, false },
	{ PRCPT, R5, NEVER, "5.7.1", RESET, false },
	{ PRCPT, R421, LATER, "4.3.2", NEW, true },
	{ PRCPT, WORDS, LATER, "4.4.2", NEW, true },
	{ PRCPT, BINARY, LATER, "4.4.2", NEW, true },
	{ PRCPT, LONG, LATER, "4.4.2", NEW, true },
	{ PRCPT, CHANGES, LATER, "4.4.2", NEW, true },
	{ PRCPT, CLOSE, LATER, "4.4.2", NEW, true },
	{ PRCPT, SILENCE, LATER, "4.4.2", NEW, true },

	{ PDATA, R2, LATER, "4.5.0", NEW, false },
	{ PDATA, R3, OK, "2.0.0", KEPT, false },
	{ PDATA, R4, LATER, "4.3.0", RESET, false },
	{ PDATA, R5, NEVER, "5.7.1", RESET, false },
	{ PDATA, R421, LATER, "4.3.2", NEW, true },
	{ PDATA, WORDS, LATER, "4.4.2", NEW, false },
	{ PDATA, BINARY, LATER, "4.4.2", NEW, false },
	{ PDATA, LONG, LATER, "4.4.2", NEW, false },
	{ PDATA, CHANGES, LATER, "4.4.2", NEW, false },
	{ PDATA, CLOSE, LATER, "4.4.2", NEW, false },
	{ PDATA, SILENCE, LATER, "4.4.2", NEW, false },

	{ PDOT, R2, OK, "2.0.0", KEPT, false },
	{ PDOT, R3, LATER, "4.5.0", NEW, false },
	{ PDOT, R4, LATER, "4.3.0", KEPT, false },
	{ PDOT, R5, NEVER, "5.7.1", KEPT, false },
	{ PDOT, R421, LATER, "4.3.2", NEW, false },
	{ PDOT, CLOSE, LATER, "4.4.2", NEW, false },
	{ PDOT, SILENCE, LATER, "4.4.2", NEW, false },

	{ CHUNK, R2, OK, "2.0.0", KEPT, false },
	{ CHUNK, R3, LATER, "4.5.0", NEW, false },
	{ CHUNK, R4, LATER, "4.3.0", KEPT, false },
	{ CHUNK, R5, NEVER, "5.7.1", KEPT, false },
	{ CHUNK, R421, LATER, "4.3.2", NEW, false },
	{ CHUNK, WORDS, LATER, "4.4.2", NEW, false },
	{ CHUNK, BINARY, LATER, "4.4.2", NEW, false },
	{ CHUNK, LONG, LATER, "4.4.2", NEW, false },
	{ CHUNK, CHANGES, LATER, "4.4.2", NEW, false },
	{ CHUNK, CLOSE, LATER, "4.4.2", NEW, false },
	{ CHUNK, SILENCE, LATER, "4.4.2", NEW, false },

	{ RSET, R2, OK, "2.0.0", KEPT, false },
	{ RSET, R3, LATER, "4.5.0", NEW, false },
	{ RSET, R4, LATER, "4.5.0", NEW, false },
	{ RSET, R5, LATER, "4.5.0", NEW, false },
	{ RSET, SILENCE, LATER, "4.4.2", NEW, true },

	{ QUIT, R2, OK, "2.0.0", NEW, false },
	{ QUIT, R4, OK, "2.0.0", NEW, false },
	{ QUIT, R5, OK, "2.0.0", NEW, false },
	{ QUIT, R421, OK, "2.0.0", NEW, false },
	{ QUIT, WORDS, OK, "2.0.0", NEW, false },
	{ QUIT, BINARY, OK, "2.0.0", NEW, false },
	{ QUIT, LONG, OK, "2.0.0", NEW, false },
	{ QUIT, CHANGES, OK, "2.0.0", NEW, false },
	{ QUIT, CLOSE, OK, "2.0.0", NEW, false },
	{ QUIT, SILENCE, OK, "2.0.0", NEW, false },

	{ LMTP, R2, OK, "2.0.0", KEPT, false },
	{ LMTP, R3, LATER, "4.5.0", NEW, false },
	{ LMTP, R4, LATER, "4.3.0", KEPT, false },
	{ LMTP, R5, NEVER, "5.7.1", KEPT, false },
	{ LMTP, R421, LATER, "4.3.2", NEW, false },
	{ LMTP, WORDS, LATER, "4.4.2", NEW, false },
	{ LMTP, BINARY, LATER, "4.4.2", NEW, false },
	{ LMTP, LONG, LATER, "4.4.2", NEW, false },
	{ LMTP, CHANGES, LATER, "4.4.2", NEW, false },
	{ LMTP, CLOSE, LATER, "4.4.2", NEW, false },
	{ LMTP, SILENCE, LATER, "4.4.2", NEW, false },
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };
_Static_assert(ROWS >= 180, "rows are missing");

#define MAIL_OK OK_TO("MAIL") OK_TO("RCPT") \
	"< DATA\n> 354 go\n.\n> 250 2.0.0 fine\n"
#define PIPED "< MAIL\n< RCPT\n< DATA\n"
#define START "> 220 x\n< EHLO\n> 250-x\n> 250 STARTTLS\n< STARTTLS\n"
#define ASK "> 220 x\n< EHLO\n> 250-x\n> 250 AUTH PLAIN\n< AUTH PLAIN\n"
#define CHUNKS "> 220 x\n< EHLO\n> 250-x\n> 250 CHUNKING\n"
#define BDAT "< BDAT\n< Subject\n< \r\n< hello\n"
#define LHLO "> 220 x\n< LHLO\n> 250 x\n"

/* Of each command: what comes before its answer; what follows when the
 * answer was good; a session that is polite; a message in it. */
static const struct {
	const char	*before, *behind, *polite, *message;
} sessions[] = {
	[CONNECT] = { "", "< EHLO\n> 250 x\n" MAIL_OK, HELLO, MAIL_OK },
	[EHLO] = { "> 220 x\n< EHLO\n", MAIL_OK, HELLO, MAIL_OK },
	[HELO] = { "> 220 x\n< EHLO\n> 500 what\n< HELO\n", MAIL_OK, HELLO,
	    MAIL_OK },
	[MAY] = { START, MAIL_OK, HELLO, MAIL_OK },
	[ENCRYPT] = { START, "< QUIT\n", START "> 220 go\nT good\n"
	    "< EHLO\n> 250 x\n", MAIL_OK },
	[AUTH] = { ASK, MAIL_OK, ASK "> 235 yes\n", MAIL_OK },
	[MAIL] = { HELLO "< MAIL\n", OK_TO("RCPT") "< DATA\n> 354 go\n.\n"
	    "> 250 2.0.0 fine\n", HELLO, MAIL_OK },
	[RCPT] = { HELLO OK_TO("MAIL") "< RCPT\n", "< DATA\n> 354 go\n.\n"
	    "> 250 2.0.0 fine\n", HELLO, MAIL_OK },
	[DATA] = { HELLO OK_TO("MAIL") OK_TO("RCPT") "< DATA\n",
	    ".\n> 250 2.0.0 fine\n", HELLO, MAIL_OK },
	[DOT] = { HELLO OK_TO("MAIL") OK_TO("RCPT") "< DATA\n> 354 go\n.\n",
	    "", HELLO, MAIL_OK },
	[PMAIL] = { PIPE_HELLO PIPED, "> 250 b\n> 354 c\n.\n"
	    "> 250 2.0.0 fine\n", HELLO, PIPED
	    "> 250 a\n> 250 b\n> 354 c\n.\n> 250 2.0.0 fine\n" },
	[PRCPT] = { PIPE_HELLO PIPED "> 250 a\n", "> 354 c\n.\n"
	    "> 250 2.0.0 fine\n", HELLO, PIPED
	    "> 250 a\n> 250 b\n> 354 c\n.\n> 250 2.0.0 fine\n" },
	[PDATA] = { PIPE_HELLO PIPED "> 250 a\n> 250 b\n", ".\n"
	    "> 250 2.0.0 fine\n", HELLO, PIPED
	    "> 250 a\n> 250 b\n> 354 c\n.\n> 250 2.0.0 fine\n" },
	[PDOT] = { PIPE_HELLO PIPED "> 250 a\n> 250 b\n> 354 c\n.\n", "",
	    HELLO, PIPED
	    "> 250 a\n> 250 b\n> 354 c\n.\n> 250 2.0.0 fine\n" },
	[CHUNK] = { CHUNKS OK_TO("MAIL") OK_TO("RCPT") BDAT, "", HELLO,
	    OK_TO("MAIL") OK_TO("RCPT") BDAT "> 250 2.0.0 fine\n" },
	[RSET] = { HELLO OK_TO("MAIL") "< RCPT\n> 550 no\n< RSET\n",
	    MAIL_OK, HELLO, MAIL_OK },
	[QUIT] = { HELLO MAIL_OK "< QUIT\n", "", HELLO, MAIL_OK },
	[LMTP] = { LHLO OK_TO("MAIL") OK_TO("RCPT") "< DATA\n> 354 go\n.\n",
	    "", LHLO, MAIL_OK },
};

/* How long an answer is waited for that does not come; where an answer that
 * comes has the same wait, long enough for it on a busy machine. */
enum { SILENCE_MS = 200, SHARED_MS = 3000 };
static const struct {
	int64_t	*wait_ms;
	int64_t	 short_ms;
} silences[] = {
	[CONNECT] = { &conf.timeouts.greeting_ms, SILENCE_MS },
	[EHLO] = { &conf.timeouts.helo_ms, SILENCE_MS },
	[HELO] = { &conf.timeouts.helo_ms, SHARED_MS },
	[MAY] = { &conf.timeouts.helo_ms, SHARED_MS },
	[ENCRYPT] = { &conf.timeouts.helo_ms, SHARED_MS },
	[AUTH] = { &conf.timeouts.helo_ms, SHARED_MS },
	[MAIL] = { &conf.timeouts.mail_ms, SILENCE_MS },
	[RCPT] = { &conf.timeouts.rcpt_ms, SILENCE_MS },
	[DATA] = { &conf.timeouts.data_start_ms, SILENCE_MS },
	[DOT] = { &conf.timeouts.data_end_ms, SILENCE_MS },
	[PMAIL] = { &conf.timeouts.mail_ms, SILENCE_MS },
	[PRCPT] = { &conf.timeouts.rcpt_ms, SILENCE_MS },
	[PDATA] = { &conf.timeouts.data_start_ms, SILENCE_MS },
	[PDOT] = { &conf.timeouts.data_end_ms, SILENCE_MS },
	[CHUNK] = { &conf.timeouts.data_end_ms, SILENCE_MS },
	[RSET] = { &conf.timeouts.mail_ms, SILENCE_MS },
	[QUIT] = { &conf.timeouts.quit_ms, SILENCE_MS },
	[LMTP] = { &conf.timeouts.data_end_ms, SILENCE_MS },
};

/* What follows a refusal: the replies to the rest of a pipeline. */
static const char *
rest_of(const struct row *row)
{
	if (row->how != R4 && row->how != R5)
		return "";
	if (row->at == PMAIL)
		return "> 503 no\n> 503 no\n";
	return row->at == PRCPT ? "> 554 nobody\n" : "";
}

static void
script_make(const struct row *row, struct str *text)
{
	bool is_over = row->kind != OK || row->at == QUIT;
	bool is_piped = row->at >= PMAIL && row->at <= PDOT;

	str_adds(text, sessions[row->at].before);
	str_adds(text, reactions[row->how]);
	if (!is_over)
		str_adds(text, sessions[row->at].behind);
	else
		str_adds(text, rest_of(row));
	if (row->fate == NEW) {
		if (row->how != CLOSE)
			str_adds(text, "~\n");
		str_addf(text, "!\n%s", sessions[row->at].polite);
		str_adds(text, is_piped || row->at == CHUNK ? MAIL_OK :
		    sessions[row->at].message);
		return;
	}
	if (row->fate == RESET)
		str_adds(text, is_piped ? "< RSET\n" PIPED "> 250 r\n"
		    "> 250 a\n> 250 b\n> 354 c\n.\n> 250 2.0.0 fine\n" :
		    OK_TO("RSET") MAIL_OK);
	else
		str_adds(text, sessions[row->at].message);
}

static struct conf_tls_to policy;
static struct conf_table table = { .name = "s",
	.spec = "inline:127.0.0.1 tim secret\n" };

static void
client_begin(const struct row *row)
{
	struct err err;

	policy.level = row->at == MAY ? TLS_LEVEL_MAY :
	    row->at == ENCRYPT ? TLS_LEVEL_ENCRYPT : TLS_LEVEL_NONE;
	conf.auth_to.table = row->at == AUTH ? "s" : NULL;
	client_init(&client, &conf, row->at == LMTP);
	cr_assert_eq(client_start(&client, &err), 0, "%s", err.text);
}

/* The message up to the reaction, and what became of it. */
static struct verdict
meet(const struct row *row)
{
	int64_t *wait_ms = silences[row->at].wait_ms, usual_ms = *wait_ms;
	struct verdict first;

	if (row->at == RSET)	/* a refusal comes before it */
		deliver(1);
	if (row->how == SILENCE)
		*wait_ms = silences[row->at].short_ms;
	deliver(1);
	first = verdicts[0];
	if (row->at == QUIT)
		client_idle(&client, 0);
	*wait_ms = usual_ms;
	return first;
}

static void
row_run(const struct row *row)
{
	struct str text = STR_INIT;
	struct verdict first;
	char name[80];

	snprintf(name, sizeof(name), "%s: %.20s", at_names[row->at],
	    row->how == CLOSE ? "closed" : reactions[row->how]);
	script_make(row, &text);
	client_begin(row);
	listen_to(text.buf);
	first = meet(row);
	deliver(1);
	end();
	cr_expect_eq(first.kind, row->kind, "%s: %s", name, first.text);
	cr_expect_str_eq(first.status, row->status, "%s: %s", name,
	    first.text);
	cr_expect_eq(first.host_trouble, row->host_trouble,
	    "%s: host trouble: %s", name, first.text);
	cr_expect_eq(verdicts[0].kind, VERDICT_DELIVERED,
	    "%s: the next message: %s", name, verdicts[0].text);
	cr_expect_eq(script.connections, row->fate == NEW ? 2 : 1,
	    "%s: %u connections", name, script.connections);
	cr_expect_str_empty(script.wrong, "%s: %s", name, script.wrong);
	script_release(&script);
	str_release(&text);
}

static void
matrix_setup(void)
{
	setup();
	certs_make();
	policy = (struct conf_tls_to){ .pattern = "*" };
	conf.tls_to = &policy;
	conf.tls_to_count = 1;
	conf.tables = &table;
	conf.table_count = 1;
	conf.auth_to.is_plain_ok = true;
	conf.timeouts.quit_ms = 50;	/* an end that nothing hangs on */
}

static void
matrix_teardown(void)
{
	teardown();
	certs_remove();
}

TestSuite(client_matrix, .init = matrix_setup, .fini = matrix_teardown);

/* Several tests, which run side by side. */
static void
share_run(unsigned share, unsigned shares)
{
	for (size_t i = share; i < ROWS; i += shares)
		row_run(&rows[i]);
}

Test(client_matrix, first_quarter) { share_run(0, 4); }
Test(client_matrix, second_quarter) { share_run(1, 4); }
Test(client_matrix, third_quarter) { share_run(2, 4); }
Test(client_matrix, fourth_quarter) { share_run(3, 4); }
