/* mailq.c - mailq: where old tools may ask about the queue
 *
 * In     the mailq statement; the file of users it names
 * Out    conf.mailq; complaints with the line of that file
 * Holds  nothing
 * Spec   doc/protocol/mailq.md
 *
 * SPDX-License-Identifier: ISC
 */
#include "conf/part/part.h"
#include "grammar/mailq.h"

#include "base/banned.h"

enum { WORD_USERS, WORD_SHA256 };		/* keywords */
enum { MAILQ_PORT = 174 };			/* ZMailer's */

void
conf_apply_mailq(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	const struct conf_value *value = statement->args;
	struct conf_mailq *mailq = &loader->conf->mailq;
	const char *text = value->text;

	if (mailq->users != NULL) {
		conf_complain_twice(loader, statement->node->tokens,
		    mailq->listen.at, "'mailq' is said twice");
		return;
	}
	/* a port alone is for this machine */
	if (value->number != 0)
		text = arena_printf(loader->conf->arena, "127.0.0.1:%u",
		    (unsigned)value->number);
	conf_listen_make(&mailq->listen, text, MAILQ_PORT);
	mailq->listen.at = conf_at(statement->node->tokens);
	mailq->users = statement->keywords[WORD_USERS].text;
	mailq->is_sha256_only =
	    statement->keywords[WORD_SHA256].token != NULL;
}

int
conf_mailq_read(const char *path, struct str *out, struct err *err)
{
	struct slice rest, line;
	struct mailq_user user;
	unsigned number = 0;
	struct err why;

	if (conf_read_file(path, out, &why) < 0)
		return err_set(err, "%s: %s", path, why.text);
	rest = str_slice(out);
	while (slice_cut(&rest, '\n', &line)) {
		number++;
		if (mailq_user_parse(line, &user, &why) == MAILQ_LINE_BAD)
			return err_set(err, "%s:%u: %s", path, number,
			    why.text);
	}
	return 0;
}
