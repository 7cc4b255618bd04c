# unit tests of libzm/io; the loop's run a second time over poll(2)
if HAVE_CRITERION
check_PROGRAMS += tests/unit/io/unit-io tests/unit/io/unit-io-poll
SHORT_TESTS += tests/unit/io/unit-io tests/unit/io/unit-io-poll
tests_unit_io_unit_io_SOURCES = tests/unit/io/test_loop.c \
	tests/unit/io/test_ipc.c tests/unit/io/test_ipc_link.c tests/unit/io/test_dns.c \
	tests/unit/io/dns_bytes.c tests/unit/io/dns_bytes.h tests/unit/io/test_dns_walk.c \
	tests/unit/io/test_kept.c tests/unit/io/test_nodes_line.c \
	tests/unit/io/test_notify.c tests/unit/io/test_peer.c \
	tests/unit/io/test_race.c tests/unit/io/test_stream.c \
	tests/unit/io/test_sync.c
tests_unit_io_unit_io_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
tests_unit_io_unit_io_LDADD = $(ZM_LIBS) $(CRITERION_LIBS)

tests_unit_io_unit_io_poll_SOURCES = tests/unit/io/test_loop.c \
	libzm/io/loop.c libzm/io/loop_timer.c libzm/io/loop_poll.c
tests_unit_io_unit_io_poll_CPPFLAGS = $(AM_CPPFLAGS) -DZM_LOOP_POLL
tests_unit_io_unit_io_poll_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
tests_unit_io_unit_io_poll_LDADD = $(ZM_LIBS) $(CRITERION_LIBS)
endif
