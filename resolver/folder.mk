# resolver - the process that answers about names, where libunbound is
# order: wire < unbound < serve
noinst_LIBRARIES += resolver/libresolver.a
resolver_libresolver_a_SOURCES = \
	resolver/wire/query.c resolver/wire/query.h \
	resolver/wire/records.c resolver/wire/records.h \
	resolver/wire/response.c resolver/wire/response.h

if HAVE_LIBUNBOUND
pkglibexec_PROGRAMS += resolver/resolver
resolver_resolver_SOURCES = resolver/resolver.c \
	resolver/unbound/lookup.c resolver/unbound/lookup.h \
	resolver/serve/tally.c resolver/serve/tally.h \
	resolver/serve/questions.c resolver/serve/questions.h \
	resolver/serve/streams.c resolver/serve/streams.h \
	resolver/serve/service.c resolver/serve/service.h
resolver_resolver_CFLAGS = $(AM_CFLAGS) $(UNBOUND_CFLAGS)
resolver_resolver_LDADD = resolver/libresolver.a $(ZM_LIBS) $(UNBOUND_LIBS)
endif
