package stored

import (
	"fmt"
	"slices"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

const (
	defaultLimit = 500
	maxLimit     = 1000
	// maxKey is the length of a key in bytes, far above what the server makes of names.
	maxKey = 4096
)

// question is a query that may be asked: either key is set, or prefix.
type question struct {
	key string

	prefix    string
	delimiter string
	after     string
	limit     int
}

// question checks a query. No key that it lets through is outside of the prefix.
func (r *Reader) question(spec v1alpha1.StoredKeyQuerySpec) (question, error) {
	root := r.config.Prefix + "/"
	for _, given := range []struct {
		field, value string
		path         bool
	}{
		{"spec.prefix", spec.Prefix, true}, {"spec.key", spec.Key, true}, {"spec.after", spec.After, true}, {"spec.delimiter", spec.Delimiter, false},
	} {
		switch {
		case len(given.value) > maxKey:
			return question{}, badRequest("%s is longer than %d bytes", given.field, maxKey)
		case given.path && slices.ContainsFunc(strings.Split(given.value, "/"), isDots):
			return question{}, badRequest(`%s %q has "." or ".." for a part of the path: no key is written so`, given.field, given.value)
		}
	}
	if spec.Limit < 0 || spec.Limit > maxLimit {
		return question{}, badRequest("spec.limit %d is not from 0 to %d", spec.Limit, maxLimit)
	}
	if spec.Key != "" {
		if spec.Prefix != "" || spec.Delimiter != "" || spec.After != "" || spec.Limit != 0 {
			return question{}, badRequest("spec.key asks for one key: leave spec.prefix, spec.delimiter, spec.after and spec.limit out, or spec.key")
		}
		if !strings.HasPrefix(spec.Key, root) {
			return question{}, outside("spec.key", spec.Key, root)
		}
		return question{key: spec.Key}, nil
	}
	q := question{prefix: spec.Prefix, delimiter: spec.Delimiter, after: spec.After, limit: int(spec.Limit)}
	if q.limit == 0 {
		q.limit = defaultLimit
	}
	if q.prefix == "" || q.prefix == r.config.Prefix {
		q.prefix = root
	}
	if !strings.HasPrefix(q.prefix, root) {
		return question{}, outside("spec.prefix", spec.Prefix, root)
	}
	if q.after != "" && !strings.HasPrefix(q.after, q.prefix) {
		return question{}, badRequest("spec.after %q does not begin with the prefix %q", q.after, q.prefix)
	}
	return q, nil
}

func isDots(part string) bool { return part == "." || part == ".." }

func outside(field, value, root string) error {
	return badRequest("%s %q is not below %q, where this server keeps its objects (--etcd-prefix): it looks nowhere else", field, value, root)
}

func badRequest(format string, args ...any) error {
	return apierrors.NewBadRequest(fmt.Sprintf(format, args...))
}

// fold returns what key is folded into, with the delimiter; false if it stands for itself.
func (q question) fold(key string) (string, bool) {
	if q.delimiter == "" {
		return "", false
	}
	at := strings.Index(key[len(q.prefix):], q.delimiter)
	if at < 0 {
		return "", false
	}
	return key[:len(q.prefix)+at+len(q.delimiter)], true
}

// start is the first key that a list may have, and end is behind the last one.
func (q question) start() string {
	if q.after == "" {
		return q.prefix
	}
	if child, folded := q.fold(q.after); folded {
		return behindAll(child)
	}
	return behind(q.after)
}

func (q question) end() string { return behindAll(q.prefix) }

// behind is the smallest key that is greater.
func behind(key string) string { return key + "\x00" }

// behindAll is the smallest key that is greater than all that begin with prefix. There
// is always one, as a prefix begins with a slash.
func behindAll(prefix string) string { return clientv3.GetPrefixRangeEnd(prefix) }
