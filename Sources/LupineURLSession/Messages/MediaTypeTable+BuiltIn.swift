// MediaTypeTable+BuiltIn: a built-in table of media types by file extension, which follows IANA's
// registry where the registry has the extension.

extension MediaTypeTable {
  /// The media types for common file extensions, for systems without `/etc/mime.types` and for extensions that `/etc/mime.types`
  /// doesn't list.
  static let builtIn = MediaTypeTable(
    mimeTypes: """
      # Documents
      application/epub+zip epub
      application/json json map
      application/ld+json jsonld
      application/geo+json geojson
      application/manifest+json webmanifest
      application/msword doc dot
      application/pdf pdf
      application/postscript ps eps ai
      application/rtf rtf
      application/sql sql
      application/toml toml
      application/vnd.ms-excel xls
      application/vnd.ms-powerpoint ppt
      application/vnd.oasis.opendocument.presentation odp
      application/vnd.oasis.opendocument.spreadsheet ods
      application/vnd.oasis.opendocument.text odt
      application/vnd.openxmlformats-officedocument.presentationml.presentation pptx
      application/vnd.openxmlformats-officedocument.spreadsheetml.sheet xlsx
      application/vnd.openxmlformats-officedocument.wordprocessingml.document docx
      application/x-plist plist
      application/x-tex tex
      application/xhtml+xml xhtml xht
      application/xml xml xsl xsd
      application/xslt+xml xslt
      application/atom+xml atom
      application/rss+xml rss
      application/yaml yaml yml
      application/dicom dcm
      application/gpx+xml gpx
      application/vnd.google-earth.kml+xml kml
      application/vnd.google-earth.kmz kmz
      application/wsdl+xml wsdl
      application/mathml+xml mathml
      # Archives and programs
      application/gzip gz tgz
      application/java-archive jar
      application/vnd.android.package-archive apk
      application/vnd.debian.binary-package deb
      application/vnd.rar rar
      application/wasm wasm
      application/x-7z-compressed 7z
      application/x-apple-diskimage dmg
      application/x-bzip2 bz2
      application/x-iso9660-image iso
      application/x-rpm rpm
      application/x-sh sh
      application/x-tar tar
      application/x-xz xz
      application/zip zip
      application/zstd zst
      application/octet-stream bin exe dll so
      application/vnd.sqlite3 sqlite sqlite3 db
      application/vnd.apache.parquet parquet
      # Certificates and signatures
      application/pkix-cert cer
      application/x-x509-ca-cert crt der
      application/x-pem-file pem
      application/pkcs8 p8
      application/pkcs10 p10 csr
      application/pkcs7-mime p7m
      application/x-pkcs12 p12 pfx
      application/pgp-signature sig
      application/pgp-encrypted pgp
      # Text
      text/calendar ics
      text/css css
      text/csv csv
      text/html html htm
      text/javascript js mjs
      text/markdown md markdown
      text/plain txt text log conf ini
      text/tab-separated-values tsv
      text/vcard vcf
      text/vtt vtt
      text/x-c c h
      text/x-c++ cpp hpp cc
      text/x-java java
      text/x-python py
      text/x-swift swift
      application/x-subrip srt
      message/rfc822 eml
      # Images
      image/apng apng
      image/avif avif
      image/bmp bmp
      image/gif gif
      image/heic heic
      image/heif heif
      image/jp2 jp2
      image/jpeg jpeg jpg jpe
      image/jxl jxl
      image/png png
      image/svg+xml svg svgz
      image/tiff tiff tif
      image/vnd.adobe.photoshop psd
      image/vnd.microsoft.icon ico
      image/webp webp
      image/x-adobe-dng dng
      image/x-portable-pixmap ppm
      image/x-tga tga
      # Audio
      audio/aac aac
      audio/aiff aiff aif
      audio/amr amr
      audio/basic au
      audio/flac flac
      audio/midi midi mid
      audio/mp4 m4a
      audio/mpeg mp3
      audio/ogg ogg oga opus
      audio/x-caf caf
      audio/x-mpegurl m3u
      audio/x-ms-wma wma
      audio/x-wav wav
      audio/webm weba
      # Video
      application/dash+xml mpd
      application/vnd.apple.mpegurl m3u8
      video/3gpp 3gp
      video/3gpp2 3g2
      video/mp2t ts mts
      video/mp4 mp4 m4v
      video/mpeg mpeg mpg
      video/ogg ogv
      video/quicktime mov qt
      video/webm webm
      video/x-flv flv
      video/x-matroska mkv
      video/x-ms-wmv wmv
      video/x-msvideo avi
      # Fonts and models
      font/collection ttc
      font/otf otf
      font/ttf ttf
      font/woff woff
      font/woff2 woff2
      model/gltf+json gltf
      model/gltf-binary glb
      model/obj obj
      model/stl stl
      model/vnd.usdz+zip usdz
      """)
}
