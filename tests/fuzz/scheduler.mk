# fuzz targets of scheduler
