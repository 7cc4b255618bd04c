# fuzz targets of transports
