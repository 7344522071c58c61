package stored

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// How values begin.
const (
	// beginsProtobuf is of k8s.io/apimachinery/pkg/runtime/serializer/protobuf.
	beginsProtobuf = "k8s\x00"
	// beginsEncrypted is of k8s.io/apiserver/pkg/server/options/encryptionconfig:
	// k8s:enc:PROVIDER:VERSION:KEY:
	beginsEncrypted = "k8s:enc:"
	// beginsCBOR is the tag of RFC 8949 section 3.4.6.
	beginsCBOR = "\xd9\xd9\xf7"
	beginsJSON = "{"
)

// form is a way in which values are written.
type form struct {
	begins   string
	encoding v1alpha1.StoredEncoding
	decode   func(*Reader, []byte, *v1alpha1.StoredValue) error
}

// forms are all that are known. The last one is of everything else.
func forms() []form {
	return []form{
		{beginsProtobuf, v1alpha1.StoredProtobuf, (*Reader).fromProtobuf},
		{beginsEncrypted, v1alpha1.StoredEncrypted, (*Reader).encryptedBy},
		{beginsCBOR, v1alpha1.StoredCBOR, (*Reader).fromCBOR},
		{beginsJSON, v1alpha1.StoredJSON, (*Reader).fromJSON},
		{"", v1alpha1.StoredBytes, (*Reader).unknown},
	}
}

// value says what data is.
func (r *Reader) value(data []byte) *v1alpha1.StoredValue {
	value := &v1alpha1.StoredValue{Bytes: int64(len(data))}
	for _, form := range forms() {
		if !bytes.HasPrefix(data, []byte(form.begins)) {
			continue
		}
		value.Encoding = form.encoding
		if err := form.decode(r, data, value); err != nil {
			value.JSON, value.Error = "", err.Error()
		}
		break
	}
	return value
}

// fromProtobuf decodes into the very type that is written in the envelope.
func (r *Reader) fromProtobuf(data []byte, value *v1alpha1.StoredValue) error {
	var envelope runtime.Unknown
	if err := envelope.Unmarshal(data[len(beginsProtobuf):]); err != nil {
		return fmt.Errorf("reading the envelope: %w", err)
	}
	value.APIVersion, value.Kind = envelope.APIVersion, envelope.Kind
	gvk := schema.FromAPIVersionAndKind(envelope.APIVersion, envelope.Kind)
	scheme := r.config.Scheme
	if gvk.Version == runtime.APIVersionInternal || !scheme.Recognizes(gvk) {
		return fmt.Errorf("the server has no type %q of %q", envelope.Kind, envelope.APIVersion)
	}
	object, _, err := protobuf.NewSerializer(scheme, scheme).Decode(data, nil, nil)
	if err != nil {
		return fmt.Errorf("decoding %s %s: %w", envelope.APIVersion, envelope.Kind, err)
	}
	written, err := marshal(object)
	if err != nil {
		return err
	}
	return show(written, value)
}

func (r *Reader) fromJSON(data []byte, value *v1alpha1.StoredValue) error { return show(data, value) }

func (r *Reader) fromCBOR(data []byte, value *v1alpha1.StoredValue) error {
	var content map[string]any
	if err := direct.Unmarshal(data, &content); err != nil {
		return fmt.Errorf("decoding CBOR: %w", err)
	}
	written, err := marshal(content)
	if err != nil {
		return err
	}
	return show(written, value)
}

func (r *Reader) encryptedBy(data []byte, value *v1alpha1.StoredValue) error {
	const parts = 5
	value.Withheld = "the value is encrypted at rest, and nothing is decrypted here"
	value.EncryptedBy = strings.TrimSuffix(beginsEncrypted, ":")
	name := string(data[:min(len(data), maxKey)])
	if all := strings.SplitN(name, ":", parts+1); len(all) > parts {
		value.EncryptedBy = strings.ToValidUTF8(strings.Join(all[:parts], ":"), "?")
	}
	return nil
}

func (r *Reader) unknown(_ []byte, value *v1alpha1.StoredValue) error {
	value.Withheld = "the value is neither Kubernetes' protobuf, JSON nor CBOR: only its size is shown"
	return nil
}

// show puts an object, written in JSON, into the answer.
func show(written []byte, value *v1alpha1.StoredValue) error {
	var of metav1.TypeMeta
	if err := json.Unmarshal(written, &of); err != nil {
		return fmt.Errorf("reading JSON: %w", err)
	}
	value.APIVersion, value.Kind = of.APIVersion, of.Kind
	if isSecret(of) {
		var err error
		if written, err = redacted(written); err != nil {
			return err
		}
		value.Withheld = "Secrets are not shown here: each value of data and annotations is replaced by its size"
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, written, "", "  "); err != nil {
		return fmt.Errorf("reading JSON: %w", err)
	}
	value.JSON = strings.TrimSpace(indented.String())
	return nil
}

// marshal writes JSON that a person reads: with < and > as they are.
func marshal(object any) ([]byte, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(object); err != nil {
		return nil, fmt.Errorf("writing JSON: %w", err)
	}
	return buffer.Bytes(), nil
}
