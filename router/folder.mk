# router
noinst_LIBRARIES += router/librouter.a
router_librouter_a_SOURCES = \
	router/ask.c router/ask.h \
	router/check.c router/check.h \
	router/copies.c router/copies.h \
	router/farm.c router/farm.h \
	router/headers.c router/headers.h \
	router/expand.c router/expand.h \
	router/explain.c router/explain.h router/explain_run.c \
	router/explain_next.c router/explain_next.h \
	router/header_check.c router/header_check.h \
	router/header_edit.c router/header_edit.h \
	router/hooks.c router/hooks.h \
	router/include.c router/include.h \
	router/lists.c \
	router/local.c \
	router/memo.c router/memo.h \
	router/message.c router/message.h \
	router/parent.c router/parent.h \
	router/places.c router/places.h \
	router/plan.c router/plan.h \
	router/prints.c router/prints.h \
	router/poison.c router/poison.h \
	router/queue.c router/queue.h \
	router/redirect.c router/srs.c router/srs.h \
	router/received.c \
	router/rewrite.c router/rewrite_header.c router/rewrite.h \
	router/remote.c \
	router/route.c router/route.h router/route_internal.h \
	router/who.c \
	router/verify.c router/verify.h \
	router/worker.c router/worker.h

pkglibexec_PROGRAMS += router/router
router_router_SOURCES = router/router.c
router_router_LDADD = router/librouter.a $(ZM_LIBS)
