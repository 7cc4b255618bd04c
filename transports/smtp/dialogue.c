/* dialogue.c - the dialogue with a next hop, in the journal
 *
 * In     what is about to be sent, replies that came
 * Out    events peer.said, where log-level says debug
 * Holds  how many more lines there may be of this connection
 * Trusts nobody to bound a dialogue: CLIENT_SAID_MAX lines, and no more.
 *        No secret and no content: AUTH and DATA say what stands for them
 *        (said_as), chunks are skipped by their size
 * Spec   zmailer-log(8); RFC 3030 section 2 (BDAT)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdint.h>

#include "journal/event.h"
#include "transports/smtp/client.h"

#include "base/banned.h"

void
client_said_begin(struct smtp_client *client, const char *name)
{
	client->said_left = conf_debugs_dest(client->conf, slice_of(name)) ?
	    CLIENT_SAID_MAX : 0;
}

static void
dialogue_event(struct smtp_client *client, struct slice by, struct slice line)
{
	if (client->said_left == 0)
		return;
	client->said_left--;
	event(EV_PEER_SAID, client->id, "host", slice_of(client->who),
	    "by", by, "line", slice_first(slice_trim(line),
	    CLIENT_SAID_BYTES_MAX), NULL);
}

/* Bytes of content after a line. */
static size_t
dialogue_chunk_bytes(struct slice line)
{
	struct slice verb, size;
	uint64_t bytes;

	if (!slice_word(&line, &verb) || !slice_is(verb, "BDAT") ||
	    !slice_word(&line, &size) ||
	    !slice_number(size, 0, SIZE_MAX, &bytes))
		return 0;
	return (size_t)bytes;
}

void
client_said_sent(struct smtp_client *client)
{
	struct slice rest = str_slice(&client->peer.out), line;

	if (client->said_as != NULL) {
		if (client->said_as[0] != '\0')
			dialogue_event(client, SLICE("us"),
			    slice_of(client->said_as));
		return;
	}
	while (client->said_left > 0 && rest.n > 0 &&
	    slice_cut(&rest, '\n', &line)) {
		dialogue_event(client, SLICE("us"), line);
		rest = slice_from(rest, dialogue_chunk_bytes(line));
	}
}

/* A challenge is part of a secret. */
void
client_said_heard(struct smtp_client *client, const struct reply *reply)
{
	struct slice rest = reply->text, line;

	if (reply->code == 334) {
		dialogue_event(client, SLICE("peer"), SLICE("334 ***"));
		return;
	}
	while (slice_cut(&rest, '\n', &line))
		dialogue_event(client, SLICE("peer"), line);
}
