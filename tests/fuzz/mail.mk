# fuzz targets of mail
