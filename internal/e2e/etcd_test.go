package e2e_test

import (
	"testing"

	"go.etcd.io/etcd/client/v3"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/kapi-dev/kapi/internal/kapitest"
)

// inEtcd returns what is stored at a key, read past the API through etcd's
// socket in the data directory.
func inEtcd(t testing.TB, server *kapitest.Server, key string) []byte {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{server.EtcdEndpoint()}, DialTimeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	answer, err := client.Get(t.Context(), key)
	if err != nil {
		t.Fatalf("reading %s: %v", key, err)
	}
	if len(answer.Kvs) != 1 {
		t.Fatalf("etcd has no key %s", key)
	}
	return answer.Kvs[0].Value
}

// unmarshalJSON keeps whole numbers whole, as the API does.
func unmarshalJSON(data []byte, into any) error { return utiljson.Unmarshal(data, into) }
