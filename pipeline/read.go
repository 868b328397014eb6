package pipeline

import (
	"context"
	"errors"

	"codesage"
	"codesage/pipeline/decode"
	"codesage/pipeline/language"
	"codesage/pipeline/source"
	"codesage/store"
)

// largestFile is how many bytes a file of any source may have; what is larger is
// not read.
const largestFile = 64 << 20

// readText reads a file as it will be stored, or says why it is left out.
func (j *job) readText(ctx context.Context, f source.File) (t store.Text, v verdict, err error) {
	data, v, err := j.read(ctx, f)
	if err != nil || v.out() {
		return t, v, err
	}
	text, reason := j.judge(f.Path, data)
	if reason != "" {
		return t, verdict{reason: reason}, nil
	}
	return store.Text{Text: text, File: codesage.File{
		Path:      f.Path,
		Hash:      blobHash(f, data),
		Language:  language.Detect(f.Path, []byte(text)),
		Size:      int64(len(data)),
		Lines:     codesage.CountLines(text),
		Generated: !j.Limits[j.repo.Source].Generated && language.Generated(f.Path, []byte(text)),
		Test:      language.Test(f.Path),
		Stamp:     j.stamp(f.Stamp),
	}}, verdict{}, nil
}

// read returns the bytes of a file, or says why it can't be indexed.
func (j *job) read(ctx context.Context, f source.File) (data []byte, v verdict, err error) {
	data, tooLarge, err := j.checkout.Read(ctx, f, j.largest())
	switch {
	case errors.Is(err, codesage.ErrNotFound) && j.repo.Source == codesage.SourceFolder:
		return nil, verdict{gone: true}, nil
	case errors.Is(err, codesage.ErrNotFound), errors.Is(err, codesage.ErrDenied):
		return nil, verdict{reason: codesage.SkipUnreadable}, nil
	case err != nil:
		return nil, verdict{}, err
	case tooLarge:
		return nil, verdict{reason: j.tooLarge()}, nil
	}
	return data, verdict{}, nil
}

// judge returns the text of a file, or says why its content is not indexed.
func (j *job) judge(path string, data []byte) (text string, reason codesage.SkipReason) {
	text, reason = decode.Decode(path, data)
	switch {
	case reason != "" || !j.Limits[j.repo.Source].Generated:
		return text, reason
	case language.Generated(path, []byte(text)):
		return "", codesage.SkipGenerated
	case !language.Known(path, []byte(text)):
		return "", codesage.SkipLanguage
	}
	return text, ""
}

// blobHash returns the git hash of a file that was read.
func blobHash(f source.File, data []byte) string {
	if f.Hash != "" {
		return f.Hash
	}
	return source.BlobHash(data)
}

// largest is how many bytes of a file are read at most.
func (j *job) largest() int64 {
	most := j.Limits[j.repo.Source].MaxFileBytes
	if own := j.repo.Options.MaxFileBytes; own > 0 {
		most = own
	}
	if most <= 0 || most > largestFile {
		return largestFile
	}
	return most
}

func (j *job) tooLarge() codesage.SkipReason {
	if j.repo.Source == codesage.SourceFolder {
		return codesage.SkipLargeText
	}
	return codesage.SkipLargeFile
}
