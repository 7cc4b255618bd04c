# libzm - one library in layers; the arrow laws of doc/OVERVIEW are kept by make lint
noinst_LIBRARIES += libzm.a
libzm_a_SOURCES =
include libzm/base/folder.mk
include libzm/grammar/folder.mk
include libzm/io/folder.mk
include libzm/mail/folder.mk
include libzm/daemon/folder.mk
