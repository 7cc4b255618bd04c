# unit tests of libzm/base: one binary, one file a source file
if HAVE_CRITERION
check_PROGRAMS += tests/unit/base/unit-base
SHORT_TESTS += tests/unit/base/unit-base
tests_unit_base_unit_base_SOURCES = \
	tests/unit/base/test_ascii.c tests/unit/base/test_mem.c \
	tests/unit/base/test_pid.c tests/unit/base/test_str.c \
	tests/unit/base/test_err.c tests/unit/base/test_fd.c \
	tests/unit/base/test_clock.c \
	tests/unit/base/test_crc32c.c tests/unit/base/test_siphash.c \
	tests/unit/base/test_json.c
tests_unit_base_unit_base_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
tests_unit_base_unit_base_LDADD = $(ZM_LIBS) $(CRITERION_LIBS)
endif
