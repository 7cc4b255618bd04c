# sts - the process that fetches and keeps MTA-STS policies
# order: fetch < known < ask
noinst_LIBRARIES += sts/libsts.a
sts_libsts_a_SOURCES = \
	sts/fetch/fetch.c sts/fetch/fetch.h \
	sts/fetch/record.c sts/fetch/file.c \
	sts/known/shelf.c sts/known/shelf.h \
	sts/known/looks.c sts/known/looks.h \
	sts/known/known.c sts/known/known.h \
	sts/ask/askers.c sts/ask/askers.h

pkglibexec_PROGRAMS += sts/sts
sts_sts_SOURCES = sts/sts.c
sts_sts_LDADD = sts/libsts.a $(ZM_LIBS)
