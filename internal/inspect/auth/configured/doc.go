// Package configured reads kube-apiserver's options for package auth: which
// authenticators, authorizers and admission plugins there are, in which order, and
// which flag or file turned each on. Configuration files that the server reads
// again while it runs are read again here too, when they have changed.
//
// It looks at options and files, and changes neither. It imports k8s.io/kubernetes'
// options and package auth.
package configured

import (
	"net/url"
	"os"
	"sync"
	"time"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// Given says whether a flag was given by the user, in any way that kapi takes
// flags. What was not given is a default; nil says that of all flags.
type Given func(flag string) bool

func (g Given) has(flag string) bool { return g != nil && g(flag) }

// by returns where something comes from that a flag turns on.
func (g Given) by(flag, source string) v1alpha1.Configured {
	c := v1alpha1.Configured{ConfiguredBy: "default", Source: source}
	if g.has(flag) {
		c.ConfiguredBy = "--" + flag
	}
	return c
}

// withoutCredentials returns a URL as it may be shown.
func withoutCredentials(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// recheck is how often a file is asked whether it has changed, at most.
const recheck = time.Second

// file caches what was made from a file, until the file has changed.
type file[T any] struct {
	path string
	read func() (T, error)

	lock    sync.Mutex
	checked time.Time
	as      os.FileInfo
	value   T
	err     error
}

// get returns what is made from the file now. A file that can't be read, or is
// wrong, gives what it gave before, as the server goes on with that.
func (f *file[T]) get() (T, error) {
	f.lock.Lock()
	defer f.lock.Unlock()
	if f.as != nil && time.Since(f.checked) < recheck {
		return f.value, f.err
	}
	f.checked = time.Now()
	info, err := os.Stat(f.path)
	if err != nil {
		return f.kept(err)
	}
	if f.as != nil && f.as.ModTime().Equal(info.ModTime()) && f.as.Size() == info.Size() {
		return f.value, f.err
	}
	value, err := f.read()
	if err != nil {
		return f.kept(err)
	}
	f.as, f.value, f.err = info, value, nil
	return f.value, nil
}

func (f *file[T]) kept(err error) (T, error) {
	if f.as == nil {
		var none T
		return none, err
	}
	return f.value, f.err
}
