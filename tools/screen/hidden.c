/* hidden.c - a line that is not shown while it is typed
 *
 * In     a line from a terminal, or from a program
 * Out    its bytes
 * Holds  nothing; the terminal is again as it was
 * Trusts no length
 * Spec   hidden.h; termios(3)
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <termios.h>
#include <unistd.h>

#include "tools/screen/hidden.h"

#include "base/banned.h"

static volatile sig_atomic_t hidden_signal;

static void
hidden_on_signal(int number)
{
	hidden_signal = number;
}

/* Byte by byte: what follows the line stays for others.  false: no line. */
static bool
hidden_bytes_read(int fd, size_t max, struct str *out)
{
	char byte = '\0';
	ssize_t n;

	for (;;) {
		n = read(fd, &byte, 1);
		if (n < 0 && errno == EINTR && hidden_signal == 0)
			continue;
		if (n <= 0 || byte == '\n')
			break;
		if (out->len <= max)
			str_addc(out, byte);
	}
	if (out->len > 0 && out->buf[out->len - 1] == '\r')
		str_truncate(out, out->len - 1);
	return hidden_signal == 0 && (n > 0 || out->len > 0);
}

int
hidden_line_read(int fd, const char *prompt, size_t max, struct str *out)
{
	struct sigaction act = { .sa_handler = hidden_on_signal },
	    before_int, before_term;
	struct termios before, now;
	bool is_terminal = tcgetattr(fd, &before) == 0, is_read;

	str_reset(out);
	(void)str_room(out, max + 2);	/* it does not move, and leave a copy */
	if (!is_terminal)
		return hidden_bytes_read(fd, max, out) ? 0 : -1;
	hidden_signal = 0;
	sigemptyset(&act.sa_mask);
	(void)sigaction(SIGINT, &act, &before_int);
	(void)sigaction(SIGTERM, &act, &before_term);
	now = before;
	now.c_lflag &= ~(tcflag_t)ECHO;
	(void)tcsetattr(fd, TCSAFLUSH, &now);
	printf("%s", prompt != NULL ? prompt : "");
	fflush(stdout);
	is_read = hidden_bytes_read(fd, max, out);
	(void)tcsetattr(fd, TCSAFLUSH, &before);
	printf("\n");
	fflush(stdout);
	(void)sigaction(SIGINT, &before_int, NULL);
	(void)sigaction(SIGTERM, &before_term, NULL);
	if (hidden_signal != 0)
		(void)raise(hidden_signal);
	return is_read ? 0 : -1;
}
