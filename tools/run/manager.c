/* manager.c - words to the service manager
 *
 * In     "READY=1", "STOPPING=1", ...
 * Out    one datagram to $NOTIFY_SOCKET
 * Spec   sd_notify(3)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tools/run/supervisor.h"

#include "base/banned.h"

void
manager_tell(const char *text)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t n = path ? strlen(path) : 0;
	int fd;

	if (n < 2 || n >= sizeof(address.sun_path) ||
	    (path[0] != '/' && path[0] != '@'))
		return;
	memcpy(address.sun_path, path, n);
	if (path[0] == '@')	/* abstract name space */
		address.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	if (sendto(fd, text, strlen(text), MSG_NOSIGNAL,
	    (struct sockaddr *)&address,
	    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n)) < 0)
		warning("the service manager does not listen at %s", path);
	close(fd);
}
