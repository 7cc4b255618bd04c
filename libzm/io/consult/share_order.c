/* share_order.c - orders to the process share that take over mail
 *
 * In     a question, a descriptor
 * Out    the line that answers it
 * Holds  a connection
 * Trusts nothing: the line is bounded, and so is the time
 * Spec   share_order.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/consult/share_ask.h"
#include "io/consult/share_order.h"
#include "io/ipc.h"
#include "io/unix_socket.h"

#include "base/banned.h"

struct share_order {
	int		 socket;
	struct ipc_inbox inbox;
	struct str	 line;
};

struct share_order *
share_order_open(const char *run_dir, struct err *err)
{
	const struct timeval most = { SHARE_ORDER_FOR_MS / 1000, 0 };
	int fd = unix_socket_connect_in(run_dir, SHARE_SOCKET, 0, err);
	struct share_order *order;

	if (fd < 0) {
		err_prefix(err, "the process share does not answer (zmailer "
		    "run keeps it where a cluster has a postgres)");
		return NULL;
	}
	order = mem_alloc(1, sizeof(*order));
	order->socket = fd;
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof(most));
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof(most));
	ipc_inbox_init(&order->inbox);
	str_init(&order->line);
	return order;
}

void
share_order_close(struct share_order **porder)
{
	struct share_order *order = *porder;

	if (order == NULL)
		return;
	close(order->socket);
	ipc_inbox_release(&order->inbox);
	str_release(&order->line);
	mem_free(porder);
}

/* The next line, into order->line. */
static int
order_read_line(struct share_order *order, struct err *err)
{
	enum ipc_line_answer got;
	enum ipc_answer came = IPC_GOT;
	struct slice line;
	size_t cursor = 0;

	while ((got = ipc_line(&order->inbox, &cursor, &line)) ==
	    IPC_LINE_NONE && came == IPC_GOT)
		came = ipc_receive(order->socket, &order->inbox);
	if (got == IPC_LINE) {
		str_reset(&order->line);
		str_add_slice(&order->line, line);
		ipc_inbox_consume(&order->inbox, cursor);
		return 0;
	}
	if (came == IPC_TROUBLE && (errno == EAGAIN || errno == EWOULDBLOCK))
		return err_set(err, "the process share has no answer yet");
	return err_set(err, "the process share went away");
}

int
share_order_ask(struct share_order *order, const char *question, int fd,
    struct slice *out_answer, struct err *err)
{
	struct slice rest, token, word;

	str_reset(&order->line);
	str_addf(&order->line, "o %s\n", question);
	if (ipc_send(order->socket, str_slice(&order->line), &fd,
	    fd >= 0 ? 1 : 0) != (ssize_t)order->line.len)
		return err_set(err, "the process share went away");
	if (order_read_line(order, err) != 0)
		return -1;
	rest = str_slice(&order->line);
	if (!slice_word(&rest, &token) || !slice_word(&rest, &word) ||
	    !slice_is(word, "ok"))
		return err_set(err, "the process share answered '%.100s'",
		    order->line.buf);
	*out_answer = slice_trim(rest);
	return 0;
}
