# libzm - one library in layers, lowest first; make lint keeps their arrows
noinst_LIBRARIES += libzm.a
libzm_a_SOURCES =
include libzm/base/folder.mk
include libzm/journal/folder.mk
include libzm/grammar/folder.mk
include libzm/io/folder.mk
include libzm/past/folder.mk
include libzm/tls/folder.mk
include libzm/origin/folder.mk
include libzm/mail/folder.mk
include libzm/conf/folder.mk
include libzm/daemon/folder.mk
