# fuzz targets of router
