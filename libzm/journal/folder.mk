# libzm/journal - what happened and how often: events, counters, metrics
libzm_a_SOURCES += \
	libzm/journal/channels.h libzm/journal/counters.c libzm/journal/counters.h libzm/journal/metrics.h \
	libzm/journal/counters_rows.c libzm/journal/counters_print.c \
	libzm/journal/counters_table.h \
	libzm/journal/history.c libzm/journal/history.h libzm/journal/history_rows.h \
	libzm/journal/event.c libzm/journal/event.h libzm/journal/events.h \
	libzm/journal/progress.c libzm/journal/progress.h \
	libzm/journal/record.c libzm/journal/record.h \
	libzm/journal/neighbours.c libzm/journal/neighbours.h
