# notify - the process that posts events to web servers
# order: mark batch < post < receivers < ask
noinst_LIBRARIES += notify/libnotify.a
notify_libnotify_a_SOURCES = \
	notify/mark/mark.c notify/mark/mark.h \
	notify/batch/notify_batch.c notify/batch/notify_batch.h \
	notify/post/post.c notify/post/post.h \
	notify/post/poster.c notify/post/poster.h \
	notify/receivers/receivers.c notify/receivers/receivers.h \
	notify/ask/lookers.c notify/ask/lookers.h

pkglibexec_PROGRAMS += notify/notify
notify_notify_SOURCES = notify/notify.c
notify_notify_LDADD = notify/libnotify.a $(ZM_LIBS) $(ZSTD_LIBS)
