dnl # nothing is dialled
define(`confTO_QUEUEWARN', `1d')dnl
