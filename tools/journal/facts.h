/* facts.h - events by selector: which lines of the journal are selected
 *
 * The keys that a selector can ask of a line are id, from, to, msgid, user,
 * class, size; dest is channel/host, source the client, state the name of the
 * event, why the reply or reason.  Sender, Message-Id, user, source and size
 * from one line of a message apply to its later lines, too.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_JOURNAL_FACTS_H
#define ZM_TOOLS_JOURNAL_FACTS_H

#include "grammar/selector.h"

enum { FACTS_IDS_MAX = 32768 };	/* messages remembered; a slot each */

struct facts;

/* selector NULL: every line is selected.
 * host: the domain of recipients whose address has none.  Both are borrowed. */
struct facts *facts_new(const struct selector *selector, const char *host);
void facts_free(struct facts **facts);

/* Is the line selected?  Lines must come in the order of the files. */
bool facts_fit(struct facts *facts, struct slice line);

#endif
