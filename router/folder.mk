# router
noinst_LIBRARIES += router/librouter.a
router_librouter_a_SOURCES = \
	router/workers/pool.c router/workers/pool.h \
	router/workers/parent.c router/workers/parent.h \
	router/workers/poison.c router/workers/poison.h \
	router/workers/queue.c router/workers/queue.h \
	router/workers/worker.c router/workers/worker.h \
	router/message/copies.c router/message/copies.h \
	router/message/hooks.c router/message/hooks.h \
	router/message/memo.c router/message/memo.h \
	router/message/message.c router/message/message.h \
	router/message/places.c router/message/places.h \
	router/message/plan.c router/message/plan.h \
	router/message/fingerprints.c router/message/fingerprints.h \
	router/header/headers.c router/header/headers.h \
	router/header/check.c router/header/check.h \
	router/header/edit.c router/header/edit.h router/header/received.c \
	router/header/rewrite.c \
	router/route/expand.c router/route/expand.h \
	router/route/include.c router/route/include.h router/route/lists.c \
	router/route/local.c router/route/redirect.c \
	router/route/srs.c router/route/srs.h \
	router/route/rewrite.c router/route/rewrite.h router/route/remote.c \
	router/route/route.c router/route/route.h router/route/internal.h \
	router/route/who.c \
	router/ask/ask.c router/ask/ask.h router/ask/check.c router/ask/check.h \
	router/ask/explain.c router/ask/explain.h router/ask/explain_run.c \
	router/ask/explain_next.c router/ask/explain_next.h \
	router/ask/verify.c router/ask/verify.h

pkglibexec_PROGRAMS += router/router
router_router_SOURCES = router/router.c
router_router_LDADD = router/librouter.a $(ZM_LIBS)
