# libzm/io - what waits and what crosses between processes
# order: . < consult dns
libzm_a_SOURCES += \
	libzm/io/cipher.h \
	libzm/io/dns/dns.c libzm/io/dns/dns.h \
	libzm/io/dns/ask.c libzm/io/dns/ask.h \
	libzm/io/dns/kept.c libzm/io/dns/kept.h \
	libzm/io/dns/records.c libzm/io/dns/text.c \
	libzm/io/dns/resolv.c libzm/io/dns/resolv.h \
	libzm/io/dns/walk.c libzm/io/dns/walk.h libzm/io/dns/wire.c \
	libzm/io/ipc.c libzm/io/ipc.h \
	libzm/io/ipc_link.c libzm/io/ipc_link.h \
	libzm/io/loop.c libzm/io/loop.h \
	libzm/io/loop_epoll.c \
	libzm/io/loop_poll.c \
	libzm/io/loop_poller.h \
	libzm/io/loop_timer.c \
	libzm/io/notify.h \
	libzm/io/notify_inotify.c \
	libzm/io/consult/consult_ask.c libzm/io/consult/consult_ask.h \
	libzm/io/consult/notify_ask.c libzm/io/consult/notify_ask.h \
	libzm/io/notify_scan.c libzm/io/notify_scan.h \
	libzm/io/peer.c libzm/io/peer.h \
	libzm/io/race.c libzm/io/race.h \
	libzm/io/consult/share_ask.c libzm/io/consult/share_ask.h \
	libzm/io/consult/nodes_line.c libzm/io/consult/nodes_line.h \
	libzm/io/consult/nodes_ask.c libzm/io/consult/nodes_ask.h \
	libzm/io/consult/share_order.c libzm/io/consult/share_order.h \
	libzm/io/stream.c libzm/io/stream.h \
	libzm/io/consult/sts_ask.c libzm/io/consult/sts_ask.h \
	libzm/io/consult/sts_shelf.c libzm/io/consult/sts_shelf.h \
	libzm/io/cpu.c libzm/io/cpu.h \
	libzm/io/sync.c libzm/io/sync.h \
	libzm/io/unix_socket.c libzm/io/unix_socket.h
