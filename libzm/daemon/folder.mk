# libzm/daemon - configuration, the ladder of a daemon, the launcher
libzm_a_SOURCES += \
	libzm/daemon/skeleton.c libzm/daemon/skeleton.h \
	libzm/daemon/fork.c libzm/daemon/drop.c \
	libzm/daemon/launcher.c libzm/daemon/launcher_client.c \
	libzm/daemon/launcher.h
