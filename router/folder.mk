# router
# order: header < rcpts < route < sign < message < ask < milter < workers
noinst_LIBRARIES += router/librouter.a
router_librouter_a_SOURCES = \
	router/header/headers.c router/header/headers.h \
	router/header/check.c router/header/check.h \
	router/header/edit.c router/header/edit.h router/header/received.c \
	router/rcpts/memo.c router/rcpts/memo.h \
	router/rcpts/fingerprints.c router/rcpts/fingerprints.h \
	router/rcpts/control_draft.c router/rcpts/control_draft.h \
	router/rcpts/rcpts.c router/rcpts/rcpts.h \
	router/route/routing.c router/route/routing.h router/route/who.c \
	router/route/srs.c router/route/srs.h router/route/redirect.c \
	router/route/rewrite.c router/route/rewrite.h \
	router/route/rewrite_header.c router/route/add.c \
	router/route/hooks.c router/route/hooks.h router/route/remote.c \
	router/route/include.c router/route/include.h router/route/lists.c \
	router/route/expand.c router/route/expand.h router/route/foresee.c \
	router/route/local.c \
	router/route/route.c router/route/route.h \
	router/sign/chains.c router/sign/chains.h \
	router/sign/key_cache.c router/sign/key_cache.h \
	router/sign/process.c router/sign/signer.c router/sign/signer.h \
	router/sign/rows.c router/sign/rows.h \
	router/sign/signer_keys.c router/sign/signer_keys.h \
	router/sign/signatures.c router/sign/signatures.h \
	router/message/copies.c router/message/copies.h \
	router/message/message.c router/message/message.h \
	router/ask/ask.c router/ask/ask.h router/ask/check.c router/ask/check.h \
	router/ask/bytes.c router/ask/bytes.h \
	router/ask/explain.c router/ask/explain.h router/ask/explain_run.c \
	router/ask/explain_forward.c router/ask/explain_forward.h \
	router/ask/explain_next.c router/ask/explain_next.h \
	router/ask/verify.c router/ask/verify.h \
	router/milter/milters.c router/milter/milters.h \
	router/workers/looks.c router/workers/looks.h \
	router/workers/queue.c router/workers/queue.h \
	router/workers/pool.c router/workers/pool.h \
	router/workers/ahead.c router/workers/ahead.h \
	router/workers/poison.c router/workers/poison.h \
	router/workers/worker.c router/workers/worker.h \
	router/workers/parent.c router/workers/parent.h

pkglibexec_PROGRAMS += router/router
router_router_SOURCES = router/router.c
router_router_LDADD = router/librouter.a $(ZM_LIBS)
