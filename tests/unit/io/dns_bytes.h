/* dns_bytes.h - parts of a DNS message, for tests that make one
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TESTS_UNIT_IO_DNS_BYTES_H
#define ZM_TESTS_UNIT_IO_DNS_BYTES_H

#include <stddef.h>

/* A name by its labels, which may have any bytes but dots; how many bytes. */
size_t dns_bytes_name(unsigned char *out, const char *name);
void dns_bytes_put16(unsigned char *out, unsigned value);
/* The question that an answer repeats; where its records begin. */
size_t dns_bytes_question(unsigned char *answer, const char *name, int type);

#endif
