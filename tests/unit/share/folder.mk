# unit tests of share
if HAVE_CRITERION
check_PROGRAMS += tests/unit/share/unit-share
SHORT_TESTS += tests/unit/share/unit-share
tests_unit_share_unit_share_SOURCES = \
	tests/unit/share/test_budget.c tests/unit/share/test_words.c \
	tests/unit/share/test_members.c \
	tests/unit/share/test_sentinels.c tests/unit/share/test_news.c \
	tests/unit/share/test_copies.c tests/unit/share/test_bulletin.c
tests_unit_share_unit_share_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
tests_unit_share_unit_share_LDADD = share/libshare.a $(ZM_LIBS) $(PGSQL_LIBS) $(CRITERION_LIBS)
endif
