package recorded

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/datadir"
	"github.com/kapi-dev/kapi/internal/fault"
)

// Part is one file of a bundle.
type Part struct {
	// Name is the file's; it has no slash.
	Name string
	// About says in a clause what it is.
	About string
	// Write writes it. What it writes is kept also when it returns an error.
	Write func(ctx context.Context, w io.Writer) error
	// Timeout ends a part whose server does not answer; 0 leaves that to ctx.
	Timeout time.Duration
}

// BundleOptions say what a bundle is of.
type BundleOptions struct {
	// Of is the server, for the README. A zero At is left out there.
	Of inspection.About
	// MadeBy is the version of kapi that makes it.
	MadeBy string
	// Force replaces a file that exists.
	Force bool
}

// Contents is what WriteBundle has written.
type Contents struct {
	// Path is the file, Bytes its size.
	Path  string
	Bytes int64
	// Files are those in it, in their order, with their sizes unpacked.
	Files []File
	// Left are the parts that could not be had, or not all of them.
	Left []Left
}

// File is one file of a bundle.
type File struct {
	Name  string
	Bytes int64
	About string
}

// Left is a part that is missing, and why.
type Left struct{ Name, Why string }

// SnapshotPart is the snapshot of a server, which Open finds in a bundle.
func SnapshotPart(server inspection.Server) Part {
	return Part{
		Name: snapshotFile, About: "everything, for kapi inspect --from and diff",
		Write: func(ctx context.Context, w io.Writer) error {
			summary, err := Take(ctx, server, w)
			if err != nil || len(summary.Failed) == 0 {
				return err
			}
			return fmt.Errorf("without %s", failures(summary.Failed))
		},
	}
}

// WriteBundle writes a .tgz with the parts and a README.txt, below one directory
// that is named after the file. Everything in it goes through redact. A part that
// fails is named in the README and in Contents, and does not fail the others. The
// file is readable by its owner only, and is there as a whole or not at all. Bad
// input is a file that exists, without Force. The parts are kept in a temporary
// file beside it until all are there.
func WriteBundle(ctx context.Context, path string, parts []Part, options BundleOptions) (Contents, error) {
	if err := mayWrite(path, options.Force); err != nil {
		return Contents{}, err
	}
	spool, err := newSpool(filepath.Dir(path))
	if err != nil {
		return Contents{}, fmt.Errorf("writing %s: %w", path, err)
	}
	defer spool.remove()
	contents := Contents{Path: path}
	for _, part := range parts {
		file, why := spool.add(ctx, part)
		switch {
		case spool.err != nil:
			return contents, fault.WithHint(fmt.Errorf("writing %s: %w", path, cause(spool.err)), "make room on the file system of %s", filepath.Dir(path))
		case ctx.Err() != nil:
			return contents, fmt.Errorf("writing %s: %w", path, context.Cause(ctx))
		}
		if why != nil {
			contents.Left = append(contents.Left, Left{part.Name, redact(why.Error())})
		}
		if file.Bytes > 0 || why == nil {
			contents.Files = append(contents.Files, file)
		}
	}
	packed, err := pack(&contents, spool.file, options)
	if err != nil {
		return contents, fmt.Errorf("packing %s: %w", path, err)
	}
	if err := mayWrite(path, options.Force); err != nil {
		return contents, err
	}
	contents.Bytes = int64(len(packed))
	return contents, datadir.WriteFileAtomic(path, packed, 0o600)
}

// mayWrite refuses what exists, and what could not be replaced by a file.
func mayWrite(path string, force bool) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fault.Usagef("writing %s: %w", path, err)
	case info.IsDir():
		return fault.WithHint(fault.Usagef("%s is a directory", path), "name a file in it")
	case !info.Mode().IsRegular(): // a device, a pipe or a link would be replaced by a file
		return fault.WithHint(fault.Usagef("%s is not a regular file", path), "name a file of its own")
	case !force:
		return fault.WithHint(fault.Usagef("%s exists already", path), "choose another name, or replace it with --force")
	}
	return nil
}

// pack makes the archive in memory: packed, it is small.
func pack(contents *Contents, spooled io.ReaderAt, options BundleOptions) ([]byte, error) {
	var packed bytes.Buffer
	zipped := gzip.NewWriter(&packed)
	archive := tar.NewWriter(zipped)
	dir := bundleName(contents.Path)
	add := func(name string, size int64, content io.Reader) error {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: dir + "/" + name, Size: size, Mode: 0o600, ModTime: options.Of.At, Format: tar.FormatPAX}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		_, err := io.Copy(archive, content)
		return err
	}
	text := redact(readme(*contents, options))
	if err := add(readmeFile, int64(len(text)), strings.NewReader(text)); err != nil {
		return nil, err
	}
	at := int64(0)
	for _, file := range contents.Files {
		if err := add(file.Name, file.Bytes, io.NewSectionReader(spooled, at, file.Bytes)); err != nil {
			return nil, err
		}
		at += file.Bytes
	}
	contents.Files = append([]File{{Name: readmeFile, Bytes: int64(len(text)), About: "what is in here and what is not"}}, contents.Files...)
	if err := errors.Join(archive.Close(), zipped.Close()); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}

// bundleName is the name of the file without what says that it is an archive.
func bundleName(path string) string {
	name := filepath.Base(path)
	for _, end := range []string{".tgz", ".tar.gz", ".gz"} {
		if cut, ok := strings.CutSuffix(name, end); ok && cut != "" {
			return cut
		}
	}
	return name
}
