package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// StoredKeyQuery looks into the store: which keys there are under a prefix, or
// what one key holds. Create one with the spec filled in, and the answer has the
// status. It only reads, nothing is stored, and it sees no key outside of the
// server's own prefix, nor those that --etcd-servers-overrides sends to another etcd.
// It is not for programs that work with objects, which is what the API is for: it
// shows what etcd itself holds.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type StoredKeyQuery struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// serverID is the identity of the API server that answers.
	ServerID string `json:"serverID,omitempty"`
	// spec is what is asked.
	Spec StoredKeyQuerySpec `json:"spec"`
	// status is the answer.
	Status StoredKeyQueryStatus `json:"status,omitempty"`
}

// StoredKeyQuerySpec is what is asked: either prefix or key is set. Without both, the
// server's own prefix is looked under.
type StoredKeyQuerySpec struct {
	// prefix asks for the keys that begin so ("/registry/pods/"), all of them below the
	// server's own prefix (--etcd-prefix); empty is that prefix.
	Prefix string `json:"prefix,omitempty"`
	// delimiter folds keys that have it after the prefix into one entry that ends in
	// it, as a directory does its files; usually "/". Empty lists keys one by one.
	Delimiter string `json:"delimiter,omitempty"`
	// after continues a list behind this key, or behind all keys that are folded into
	// it: the last entry of the answer before.
	After string `json:"after,omitempty"`
	// limit is how many entries are returned at most: 1 to 1000, 0 is 500.
	Limit int32 `json:"limit,omitempty"`
	// key asks for one key with its value.
	Key string `json:"key,omitempty"`
}

// StoredKeyQueryStatus is the answer.
type StoredKeyQueryStatus struct {
	// prefix is what was looked under; empty if one key was asked for.
	Prefix string `json:"prefix,omitempty"`
	// revision is the store's revision that the whole answer is of.
	Revision int64 `json:"revision,omitempty"`
	// keys are in the order of their bytes; of one key that was asked for, that key. Keys
	// that are no UTF-8 are left out: the API server writes none.
	// +listType=atomic
	Keys []StoredKey `json:"keys,omitempty"`
	// more says that there are others behind the last one: more than the limit, or than
	// could be read in the time that a query has.
	More bool `json:"more,omitempty"`
	// value is what the one key holds.
	Value *StoredValue `json:"value,omitempty"`
}

// StoredKey is a key, or several that begin alike.
type StoredKey struct {
	// key is the whole key; of several, what they begin with, up to and with the delimiter.
	Key string `json:"key"`
	// keys is how many keys begin so; 0 for a key itself.
	Keys int64 `json:"keys,omitempty"`
	// bytes is the size of the value, or of all values that begin so, in bytes. It is -1,
	// not known, behind the first 20,000 keys or 64 MiB of one query, and for more keys
	// than are left of that: values have to be read to be measured.
	Bytes int64 `json:"bytes"`
	// createRevision is the store's revision at which the key was created. Like the
	// three below, it is 0 for several keys.
	CreateRevision int64 `json:"createRevision,omitempty"`
	// modRevision is the store's revision of the last change: the object's resourceVersion.
	ModRevision int64 `json:"modRevision,omitempty"`
	// version is the number of changes since the key was created, with that.
	Version int64 `json:"version,omitempty"`
	// lease is the lease that the key ends with; 0 is none, or not known where bytes is not.
	Lease int64 `json:"lease,omitempty"`
}

// StoredEncoding is how a value is written.
type StoredEncoding string

// The encodings.
const (
	// StoredProtobuf is Kubernetes' protobuf: the prefix k8s\x00 and an envelope.
	StoredProtobuf StoredEncoding = "Protobuf"
	// StoredJSON is JSON, as custom resources are.
	StoredJSON StoredEncoding = "JSON"
	// StoredCBOR is CBOR, as custom resources are with the gate CBORServingAndStorage.
	StoredCBOR StoredEncoding = "CBOR"
	// StoredEncrypted is encrypted at rest; what is inside is not shown.
	StoredEncrypted StoredEncoding = "Encrypted"
	// StoredBytes is anything else.
	StoredBytes StoredEncoding = "Bytes"
)

// StoredValue is what a key holds.
type StoredValue struct {
	// encoding is how it is written: Protobuf, JSON, CBOR, Encrypted, or Bytes for
	// anything else.
	Encoding StoredEncoding `json:"encoding"`
	// bytes is the size of the value as it is stored, in bytes.
	Bytes int64 `json:"bytes"`
	// encryptedBy is what an encrypted value begins with, up to the name of the key or
	// plugin ("k8s:enc:aescbc:v1:key1").
	EncryptedBy string `json:"encryptedBy,omitempty"`
	// apiVersion is that of the value itself, which need not be one that clients see.
	APIVersion string `json:"apiVersion,omitempty"`
	// kind is that of the value itself.
	Kind string `json:"kind,omitempty"`
	// json is the value decoded and indented, neither converted nor defaulted. Of a
	// Secret each value of its data and annotations is replaced by its size. It is empty
	// if the value can't be shown; withheld or error then says why.
	JSON string `json:"json,omitempty"`
	// withheld names what was replaced or left out, and why.
	Withheld string `json:"withheld,omitempty"`
	// error is why the value could not be decoded.
	Error string `json:"error,omitempty"`
}
