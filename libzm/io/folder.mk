libzm_a_SOURCES +=
libzm_a_SOURCES += libzm/io/notify.h libzm/io/notify_scan.h \
	libzm/io/notify_inotify.c libzm/io/notify_scan.c
