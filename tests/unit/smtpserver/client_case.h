/* client_case.h - a client of a house that says and hears whole sentences
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TESTS_SMTPSERVER_CLIENT_CASE_H
#define ZM_TESTS_SMTPSERVER_CLIENT_CASE_H

#include <criterion/criterion.h>

#include "house.h"

#define CLIENT "192.0.2.7:4711"
#define HELLO "EHLO c1.test\r\n"
#define ENVELOPE "MAIL FROM:<a@src.test>\r\nRCPT TO:<bob@example.org>\r\n"
/* What is heard, in short, after HELLO; after ENVELOPE and DATA too. */
#define READY "220 250 "
#define STARTED "220 250 250/2.1.0 250/2.1.5 354"

/* Send text, all of it in one piece. */
void client_say(struct house *house, int client, const char *text);
/* Everything heard so far, in short, is want; open as told. */
void client_expect(struct house *house, int client, bool is_open,
    const char *want);

#endif
