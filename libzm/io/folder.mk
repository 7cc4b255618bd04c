# libzm/io - what waits and what crosses between processes
libzm_a_SOURCES += libzm/io/notify.h libzm/io/notify_scan.h \
	libzm/io/notify_inotify.c libzm/io/notify_scan.c
libzm_a_SOURCES += \
	libzm/io/loop.c libzm/io/loop_timer.c libzm/io/loop.h libzm/io/loop_poller.h \
	libzm/io/loop_epoll.c libzm/io/loop_poll.c \
	libzm/io/ipc.c libzm/io/ipc.h
libzm_a_SOURCES += libzm/io/dns.c libzm/io/dns.h \
	libzm/io/dns_wire.c libzm/io/dns_ask.c libzm/io/dns_ask.h \
	libzm/io/peer.c libzm/io/peer.h
libzm_a_SOURCES += libzm/io/stream.c libzm/io/stream.h
libzm_a_SOURCES += libzm/io/tls.c libzm/io/tls.h
libzm_a_SOURCES += libzm/io/tls_internal.h \
	libzm/io/tls_link.c libzm/io/tls_link.h \
	libzm/io/tls_about.c libzm/io/tls_about.h \
	libzm/io/tls_dkim.c libzm/io/tls_dkim.h \
	libzm/io/tls_pair.c libzm/io/tls_pair.h \
	libzm/io/tls_provider.c \
	libzm/io/tls_scram.c libzm/io/tls_scram.h \
	libzm/io/tls_server.c libzm/io/tls_server.h \
	libzm/io/tls_sign.c libzm/io/tls_sign.h libzm/io/tls_tickets.c
libzm_a_SOURCES += libzm/io/tls_client.c libzm/io/tls_client.h \
	libzm/io/tls_digest.c libzm/io/tls_digest.h \
	libzm/io/race.c libzm/io/race.h
libzm_a_SOURCES += libzm/io/closer.c libzm/io/closer.h
