# nodes - the process that answers other nodes of a cluster, and asks them
# order: answer < desk
noinst_LIBRARIES += nodes/libnodes.a
nodes_libnodes_a_SOURCES = \
	nodes/answer/answering.c nodes/answer/answering.h \
	nodes/desk/calls.c nodes/desk/guests.c \
	nodes/desk/desk.c nodes/desk/desk.h \
	nodes/desk/session.c nodes/desk/session.h

pkglibexec_PROGRAMS += nodes/nodes
nodes_nodes_SOURCES = nodes/nodes.c
nodes_nodes_LDADD = nodes/libnodes.a $(ZM_LIBS)
