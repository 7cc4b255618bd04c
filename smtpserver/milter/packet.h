/* packet.h - the milter protocol, version 6: packets as bytes
 *
 * A packet is a length (4 bytes, network order, of what follows), a letter,
 * and data.  The MTA asks, the milter answers.  Pure: no descriptor here.
 *
 * reference: the milter protocol as documented beside sendmail's libmilter
 * (include/libmilter/mfdef.h); letters and bits below are its.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_MILTER_PACKET_H
#define ZM_SMTPSERVER_MILTER_PACKET_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

enum {
	MILTER_VERSION = 6,
	MILTER_CHUNK_BYTES = 65535,	/* of a body, in one packet */
	MILTER_PACKET_BYTES_MAX = 1 << 20	/* that we take */
};

enum milter_command {		/* to the milter */
	MILTER_OPTNEG = 'O', MILTER_MACRO = 'D', MILTER_CONNECT = 'C',
	MILTER_HELO = 'H', MILTER_MAIL = 'M', MILTER_RCPT = 'R',
	MILTER_DATA = 'T', MILTER_HEADER = 'L', MILTER_EOH = 'N',
	MILTER_BODY = 'B', MILTER_EOB = 'E', MILTER_ABORT = 'A',
	MILTER_UNKNOWN = 'U', MILTER_QUIT = 'Q'
};

enum milter_answer {		/* from it */
	MILTER_CONTINUE = 'c', MILTER_ACCEPT = 'a', MILTER_REJECT = 'r',
	MILTER_TEMPFAIL = 't', MILTER_DISCARD = 'd', MILTER_REPLYCODE = 'y',
	MILTER_SKIP = 's', MILTER_PROGRESS = 'p', MILTER_CONN_FAIL = 'f',
	MILTER_SHUTDOWN = '4',
	/* changes, before the answer to EOB */
	MILTER_ADD_HEADER = 'h', MILTER_INSERT_HEADER = 'i',
	MILTER_CHANGE_HEADER = 'm', MILTER_REPLACE_BODY = 'b',
	MILTER_ADD_RCPT = '+', MILTER_ADD_RCPT_PAR = '2',
	MILTER_DELETE_RCPT = '-', MILTER_CHANGE_FROM = 'e',
	MILTER_QUARANTINE = 'q'
};

enum milter_action {		/* what a milter may do: all of them */
	MILTER_ACTIONS = 0x1ff
};

enum milter_protocol {		/* what it does not want, may leave out */
	MILTER_NO_CONNECT = 0x1, MILTER_NO_HELO = 0x2, MILTER_NO_MAIL = 0x4,
	MILTER_NO_RCPT = 0x8, MILTER_NO_BODY = 0x10, MILTER_NO_HEADERS = 0x20,
	MILTER_NO_EOH = 0x40, MILTER_NR_HEADER = 0x80,
	MILTER_NO_UNKNOWN = 0x100, MILTER_NO_DATA = 0x200,
	MILTER_CAN_SKIP = 0x400, MILTER_RCPT_REJECTED = 0x800,
	MILTER_NR_CONNECT = 0x1000, MILTER_NR_HELO = 0x2000,
	MILTER_NR_MAIL = 0x4000, MILTER_NR_RCPT = 0x8000,
	MILTER_NR_DATA = 0x10000, MILTER_NR_UNKNOWN = 0x20000,
	MILTER_NR_EOH = 0x40000, MILTER_NR_BODY = 0x80000,
	MILTER_LEADING_SPACE = 0x100000,
	MILTER_PROTOCOL = 0x1fffff
};

/* ---- writing ---------------------------------------------------------- */

/* Begin a packet; returns where, for packet_end. */
size_t packet_begin(struct str *out, enum milter_command command);
/* Text and its NUL; a NUL inside ends it. */
void packet_add_text(struct str *out, struct slice text);
void packet_add_number(struct str *out, uint32_t number);
void packet_add_port(struct str *out, uint16_t port);
void packet_end(struct str *out, size_t start);

/* ---- reading ---------------------------------------------------------- */

struct packet {
	char		letter;
	struct slice	data;		/* borrows */
};

enum packet_found {
	PACKET_WHOLE,
	PACKET_PART,		/* not all of it is there yet */
	PACKET_BAD		/* it cannot be one (err) */
};

/* Find the packet at the front of in.  *out_used: its bytes. */
enum packet_found packet_read(struct slice in, struct packet *out,
    size_t *out_used,
    struct err *err);

/* Next NUL-terminated text of data; false when there is none. */
bool packet_text(struct slice *data, struct slice *out);
bool packet_number(struct slice *data, uint32_t *out);

/* The reply a milter gave in its own words: "550 5.7.1 text".  Code 4yz or
 * 5yz, one line of printable ASCII made of it; *out_status is empty when it
 * gave none.  false: it is no such reply. */
bool packet_reply(struct slice data, unsigned *out_code,
    struct slice *out_status, struct str *out_text);

#endif
