# libzm/past - the journal as it lies on the disk, for who reads it
libzm_a_SOURCES += \
	libzm/past/frame.c libzm/past/frame.h \
	libzm/past/line.c libzm/past/line.h \
	libzm/past/names.c libzm/past/names.h \
	libzm/past/trail.c libzm/past/trail.h
