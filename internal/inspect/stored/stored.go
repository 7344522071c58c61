// Package stored looks into etcd on behalf of stored key queries: which keys there
// are under a prefix, and what one key holds, as it is stored.
//
// It only reads, and only below the server's own prefix. It decrypts nothing, and
// shows no value of a Secret. Nothing is converted or defaulted: what is shown is
// what is there.
//
// It imports the etcd client, apimachinery and the types. The scheme is handed in: it
// must not import k8s.io/kubernetes.
package stored

import (
	"context"
	"errors"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

const (
	// timeout bounds one query.
	timeout = 5 * time.Second
	// enough is after which a list is cut short, so that an answer is in time.
	enough = 3 * time.Second
)

// Config is what a Reader reads, and how.
type Config struct {
	// KV reads keys; nil means that they can't be read.
	KV Getter
	// Prefix is the root of all keys of the server ("/registry").
	Prefix string
	// Scheme knows the types that the server writes in protobuf: the built-in ones.
	// Definitions and APIServices are written in JSON, as custom resources are.
	Scheme *runtime.Scheme
	// Now is the clock; time.Now when nil.
	Now func() time.Time
}

// Getter reads keys; a clientv3.Client is one.
type Getter interface {
	Get(ctx context.Context, key string, opts ...clientv3.OpOption) (*clientv3.GetResponse, error)
}

// Reader answers queries. It holds no state.
type Reader struct {
	config Config
}

// New returns a Reader.
func New(config Config) *Reader {
	if config.Now == nil {
		config.Now = time.Now
	}
	return &Reader{config}
}

// Query answers one query. Errors are API errors: BadRequest for what can't be asked,
// or lies outside of the server's prefix, NotFound for a key that is not there.
func (r *Reader) Query(ctx context.Context, spec v1alpha1.StoredKeyQuerySpec) (v1alpha1.StoredKeyQueryStatus, error) {
	q, err := r.question(spec)
	if err != nil {
		return v1alpha1.StoredKeyQueryStatus{}, err
	}
	if r.config.KV == nil {
		return v1alpha1.StoredKeyQueryStatus{}, apierrors.NewServiceUnavailable("this server has no client of etcd to look with")
	}
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var status v1alpha1.StoredKeyQueryStatus
	if q.key != "" {
		status, err = r.one(bounded, q.key)
	} else {
		status, err = r.list(bounded, q)
	}
	if err != nil {
		return v1alpha1.StoredKeyQueryStatus{}, apiError(bounded, err)
	}
	return status, nil
}

// one reads a key with its value.
func (r *Reader) one(ctx context.Context, key string) (v1alpha1.StoredKeyQueryStatus, error) {
	answer, err := r.config.KV.Get(ctx, key)
	if err != nil {
		return v1alpha1.StoredKeyQueryStatus{}, err
	}
	revision := answer.Header.GetRevision()
	if len(answer.Kvs) == 0 {
		missing := apierrors.NewNotFound(v1alpha1.Resource(v1alpha1.ResourceStoredKeyQueries), key)
		missing.ErrStatus.Message = fmt.Sprintf("etcd has no key %q at revision %d", key, revision)
		return v1alpha1.StoredKeyQueryStatus{}, missing
	}
	kv := answer.Kvs[0]
	return v1alpha1.StoredKeyQueryStatus{
		Revision: revision, Keys: []v1alpha1.StoredKey{keyOf(kv, int64(len(kv.Value)))}, Value: r.value(kv.Value),
	}, nil
}

// apiError says what a failed read means to who has asked.
func apiError(ctx context.Context, err error) error {
	var status apierrors.APIStatus
	switch {
	case errors.As(err, &status):
		return err
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return apierrors.NewTimeoutError(fmt.Sprintf("etcd has not answered within %s", timeout), 1)
	default:
		return apierrors.NewServiceUnavailable(fmt.Sprintf("reading etcd: %v", err))
	}
}
