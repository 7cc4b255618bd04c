/* client_data.c - header and body on their way out
 *
 * In     the header of the control file, the body file from its offset on
 * Out    wire form on the connection, the final dot in the last write
 * Holds  one piece of the body
 * Trusts the file to be what it is; a read error never ends in a dot
 * Spec   RFC 5321 sections 4.1.1.4 and 4.5.2
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "grammar/dot.h"
#include "transports/smtp/client.h"

#include "base/banned.h"

enum { PIECE_BYTES = 64 * 1024 };

static ssize_t
piece_read(int fd, char *buffer, uint64_t offset)
{
	ssize_t n;

	do
		n = pread(fd, buffer, PIECE_BYTES, (off_t)offset);
	while (n < 0 && errno == EINTR);
	return n;
}

/* The file cannot be read: hang up, or the peer would take the part that it
 * has for the whole. */
static enum peer_result
body_broken(struct client *client, struct verdict *out_trouble)
{
	verdict_set(out_trouble, VERDICT_DEFERRED, "4.3.0", "smtp",
	    "cannot read the message: %s", strerror(errno));
	client_drop(client);
	return PEER_ERROR;
}

/* A piece is flushed only when another follows it: what is left when the
 * body ends leaves together with the dot. */
enum peer_result
client_content(struct client *client, const struct work_job *job,
    int body_fd, struct verdict *out_trouble)
{
	static char piece[PIECE_BYTES];
	struct peer *peer = &client->peer;
	int64_t timeout_ms = client->conf->timeouts.data_block_ms;
	uint64_t offset = job->body_offset;
	struct dot_writer writer = DOT_WRITER_INIT;
	enum peer_result result;
	struct err err;
	ssize_t n;

	dot_write(&peer->out, job->header, &writer);
	if (!writer.at_line_start)
		dot_write(&peer->out, SLICE("\n"), &writer);
	dot_write(&peer->out, SLICE("\n"), &writer);
	do {
		n = piece_read(body_fd, piece, offset);
		if (n < 0)
			return body_broken(client, out_trouble);
		offset += (uint64_t)n;
		if (n > 0 && peer->out.len >= PEER_OUT_BYTES) {
			result = client_flush(client, timeout_ms, &err);
			if (result != PEER_OK)
				goto broken;
		}
		dot_write(&peer->out, (struct slice){ piece, (size_t)n },
		    &writer);
	} while (n == PIECE_BYTES);
	dot_write_end(&peer->out, &writer);
	result = client_flush(client, timeout_ms, &err);
	if (result == PEER_OK)
		return PEER_OK;
broken:
	client_broken(client, result, &err, "sending the message",
	    out_trouble);
	return result;
}
