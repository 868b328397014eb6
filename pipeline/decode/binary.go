package decode

import (
	"path"
	"strings"
)

// BinaryName reports whether a file is binary by its name alone. Endings that
// text files have too, such as .obj, .lib, .mo or .dat, are not among them: the
// bytes decide.
func BinaryName(name string) bool {
	_, ok := binaryExtensions[strings.ToLower(path.Ext(name))]
	return ok
}

var binaryExtensions = extensions(
	// images
	"png jpg jpeg jpe gif bmp ico icns cur webp tif tiff psd psb xcf heic heif avif jp2 dds tga exr hdr",
	// sound
	"mp3 wav flac ogg oga opus m4a aac wma aif aiff mid midi",
	// film
	"mp4 m4v mkv mov avi wmv webm flv mpg mpeg 3gp ogv swf",
	// documents
	"pdf doc docx xls xlsx xlsm ppt pptx odt ods odp epub mobi djvu",
	// archives
	"zip tar gz tgz bz2 tbz tbz2 xz txz lz lz4 lzma zst 7z rar cab jar war ear aar whl egg gem nupkg crx xpi apk ipa deb rpm dmg iso img",
	// programs and what compilers make
	"exe dll so dylib a o ko class pyc pyo pyd wasm bin elf pdb dex beam",
	// fonts
	"ttf otf ttc woff woff2 eot",
	// databases and models
	"sqlite sqlite3 db mdb accdb parquet avro orc feather npy npz h5 hdf5 onnx tflite safetensors gguf pth ckpt",
	// key stores and other
	"jks keystore p12 pfx lockb DS_Store",
)

// extensions makes a set of the words of its arguments.
func extensions(lists ...string) map[string]struct{} {
	set := make(map[string]struct{})
	for _, list := range lists {
		for _, ext := range strings.Fields(list) {
			set["."+strings.ToLower(ext)] = struct{}{}
		}
	}
	return set
}
