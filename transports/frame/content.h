/* content.h - a message as it is written into a mailbox
 *
 * Built once a job and written once a recipient: trace lines, header,
 * blank line, body, LF line ends.  A message of up to 256 KiB is kept whole, so
 * that a delivery is one write; the body of a larger one is copied in pieces.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TRANSPORTS_CONTENT_H
#define ZM_TRANSPORTS_CONTENT_H

#include "mail/control_file/control_file.h"

enum { CONTENT_WHOLE_BYTES_MAX = 256 * 1024 };

enum content_flags {
	CONTENT_FROM_LINE = 1,	/* "From sender date" in front (mbox, pipe) */
	CONTENT_QUOTED = 2,	/* ">*From " gets one more ">" (mbox) */
	CONTENT_MMDF = 4	/* between lines of four ^A; those inside get a
				 * blank in front */
};
#define CONTENT_MMDF_LINE "\1\1\1\1\n"

struct job_content {
	enum content_flags flags;
	struct str	 head;	/* From_ and Return-Path lines */
	struct str	 text;	/* header, blank line; body when is_whole */
	bool		 is_whole;
	int		 body_fd;
	uint64_t	 body_offset;
};

/* Begin with nothing loaded / free what was loaded. */
void content_clear(struct job_content *content);
void content_release(struct job_content *content);

/* Read header and, if it is small, body. 0 or -1. */
int content_load(struct job_content *content, enum content_flags flags,
    const struct control_job *job, int body_fd, struct err *err);

/* Write all of it to fd with `trace` (whole lines: Delivered-To) after the
 * Return-Path; a missing final LF is added.  *out_bytes: what was written, also
 * on failure.  returns 0; -1 with errno kept. */
int content_write(const struct job_content *content, int fd, struct slice trace,
    uint64_t *out_bytes, struct err *err);

/* The length and CRC-32C of what content_write will write.  A message that is
 * not kept whole is read for it.  0 or -1. */
int content_measure(const struct job_content *content, struct slice trace,
    uint64_t *out_bytes, uint32_t *out_crc, struct err *err);

/* About how many bytes content_write will write: quoting is not counted for a
 * message that is not kept whole. */
uint64_t content_bytes(const struct job_content *content, struct slice trace);

/* Append a header without its Return-Path fields, which the final delivery
 * replaces (RFC 5321 section 4.4); a missing final LF is added. */
void content_add_header(struct str *out, struct slice header);

/* Append text with lines of the form ">*From " quoted (mboxrd).
 * *at_line_start begins as true; text should be cut at line ends: a line's
 * first bytes must not be split between pieces. */
void content_quote(struct str *out, struct slice text, bool *at_line_start);

#endif
