# share - the process that counts with other machines
# order: count < redis < ledger < ask
noinst_LIBRARIES += share/libshare.a
share_libshare_a_SOURCES = \
	share/count/budget.c share/count/budget.h \
	share/count/words.c share/count/words.h share/count/scripts.c \
	share/redis/dial.c share/redis/dial.h \
	share/redis/places.c share/redis/places.h \
	share/redis/store.c share/redis/store.h \
	share/ledger/members.c share/ledger/members.h \
	share/ledger/greetings.c share/ledger/greetings.h \
	share/ledger/holdings.c share/ledger/holdings.h \
	share/ledger/ledger.c share/ledger/ledger.h \
	share/ask/inquirers.c share/ask/inquirers.h

pkglibexec_PROGRAMS += share/share
share_share_SOURCES = share/share.c
share_share_LDADD = share/libshare.a $(ZM_LIBS)
