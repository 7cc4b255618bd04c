# share - the process that counts with other machines
# order: count < redis < ledger < copies < ask
noinst_LIBRARIES += share/libshare.a
share_libshare_a_SOURCES = \
	share/count/budget.c share/count/budget.h \
	share/count/words.c share/count/words.h share/count/scripts.c share/count/script_warm.c \
	share/count/pace.c share/count/pace.h \
	share/count/news.c share/count/news.h share/count/scripts_news.c \
	share/redis/dial.c share/redis/dial.h \
	share/redis/places.c share/redis/places.h \
	share/redis/said.c share/redis/said.h \
	share/redis/sentinels.c share/redis/sentinels.h \
	share/redis/store.c share/redis/store.h \
	share/ledger/members.c share/ledger/members.h \
	share/ledger/greetings.c share/ledger/greetings.h \
	share/ledger/bulletin.c share/ledger/bulletin.h \
	share/ledger/warmups.c share/ledger/warmups.h \
	share/ledger/holdings.c share/ledger/holdings.h \
	share/ledger/ledger.c share/ledger/ledger.h \
	share/copies/copying.c share/copies/copying.h \
	share/copies/bounds.c share/copies/bounds.h \
	share/copies/goal.c share/copies/goal.h \
	share/copies/wire.c share/copies/wire.h \
	share/copies/statements.c share/copies/statements.h \
	share/copies/waits.c share/copies/waits.h \
	share/copies/bundle.c share/copies/bundle.h \
	share/copies/single.c share/copies/single.h \
	share/copies/offers.c share/copies/offers.h \
	share/copies/state.c share/copies/state.h \
	share/copies/jobs.c share/copies/jobs.h \
	share/copies/copies.c share/copies/copies.h \
	share/ask/inquirers.c share/ask/inquirers.h
share_libshare_a_CFLAGS = $(AM_CFLAGS) $(PGSQL_CFLAGS)

pkglibexec_PROGRAMS += share/share
share_share_SOURCES = share/share.c
share_share_LDADD = share/libshare.a $(ZM_LIBS) $(PGSQL_LIBS)
