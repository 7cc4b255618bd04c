/* packet.c - the milter protocol, version 6: packets as bytes
 *
 * In     what a milter sent; what is to be said to it
 * Out    packets, both ways
 * Holds  nothing
 * Trusts nothing: lengths are bounded before they are believed
 * Spec   packet.h
 *
 * SPDX-License-Identifier: ISC
 */
#include "smtpserver/milter/packet.h"

#include "base/banned.h"

enum { LENGTH_BYTES = 4 };

static void
put_number(char *to, uint32_t number)
{
	for (int i = 0; i < 4; i++)
		to[i] = (char)(number >> (24 - 8 * i));
}

static uint32_t
get_number(const char *from)
{
	uint32_t number = 0;

	for (int i = 0; i < 4; i++)
		number = number << 8 | (unsigned char)from[i];
	return number;
}

size_t
packet_begin(struct str *out, enum milter_command command)
{
	size_t start = out->len;

	str_add(out, "\0\0\0\0", LENGTH_BYTES);
	str_addc(out, (char)command);
	return start;
}

void
packet_add_text(struct str *out, struct slice text)
{
	str_add_slice(out, slice_first(text, slice_find(text, '\0')));
	str_addc(out, '\0');
}

void
packet_add_number(struct str *out, uint32_t number)
{
	char bytes[4];

	put_number(bytes, number);
	str_add(out, bytes, sizeof(bytes));
}

void
packet_add_port(struct str *out, uint16_t port)
{
	char bytes[2] = { (char)(port >> 8), (char)port };

	str_add(out, bytes, sizeof(bytes));
}

void
packet_end(struct str *out, size_t start)
{
	put_number(out->buf + start, (uint32_t)(out->len - start -
	    LENGTH_BYTES));
}

enum packet_found
packet_read(struct slice in, struct packet *out, size_t *out_used,
    struct err *err)
{
	uint32_t bytes;

	if (in.n < LENGTH_BYTES)
		return PACKET_PART;
	bytes = get_number(in.p);
	if (bytes == 0 || bytes > MILTER_PACKET_BYTES_MAX) {
		err_set(err, "a milter packet of %u bytes, the limit is %d",
		    bytes, MILTER_PACKET_BYTES_MAX);
		return PACKET_BAD;
	}
	if (in.n - LENGTH_BYTES < bytes)
		return PACKET_PART;
	out->letter = in.p[LENGTH_BYTES];
	out->data = (struct slice){ in.p + LENGTH_BYTES + 1, bytes - 1 };
	*out_used = LENGTH_BYTES + (size_t)bytes;
	return PACKET_WHOLE;
}

bool
packet_text(struct slice *data, struct slice *out)
{
	size_t n = slice_find(*data, '\0');

	if (n == data->n)
		return false;
	*out = slice_first(*data, n);
	*data = slice_from(*data, n + 1);
	return true;
}

bool
packet_number(struct slice *data, uint32_t *out)
{
	if (data->n < 4)
		return false;
	*out = get_number(data->p);
	*data = slice_from(*data, 4);
	return true;
}

/* "5.7.1": a class that fits the code, two numbers. */
static bool
packet_is_status(struct slice word, char class)
{
	unsigned dots = 0;

	if (word.n < 5 || word.n > 9 || word.p[0] != class)
		return false;
	for (size_t i = 0; i < word.n; i++) {
		if (word.p[i] == '.')
			dots++;
		else if (word.p[i] < '0' || word.p[i] > '9')
			return false;
	}
	return dots == 2 && word.p[1] == '.' && word.p[word.n - 1] != '.';
}

bool
packet_reply(struct slice data, unsigned *out_code,
    struct slice *out_status, struct str *out_text)
{
	struct slice text, word;
	uint64_t code;

	if (!packet_text(&data, &text) || text.n < 3 ||
	    !slice_number(slice_first(text, 3), 400, 599, &code))
		return false;
	*out_code = (unsigned)code;
	*out_status = slice_first(text, 0);
	text = slice_from(text, 3 + (text.n > 3));
	word = slice_first(text, slice_find(text, ' '));
	if (packet_is_status(word, code >= 500 ? '5' : '4')) {
		*out_status = word;
		text = slice_from(text, word.n + 1);
	}
	text = slice_first(text, 400);
	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];

		if (c == '\r' || c == '\n') {	/* the first line is enough */
			text = slice_first(text, i);
			break;
		}
		str_addc(out_text, c >= ' ' && c < 0x7f ? (char)c : '?');
	}
	return true;
}
