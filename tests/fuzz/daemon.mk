# fuzz targets of daemon
