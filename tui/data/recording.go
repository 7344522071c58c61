package data

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/client/inspection/recorded"
)

// A recording is a file of JSON lines: a header, and then what came, in the order
// in which it came. Each line stands by itself, so that a file that was cut off can
// be played as far as it goes.
const (
	recordingMark    = "recording"
	recordingVersion = 1
)

// headerLine is the first line of a recording.
type headerLine struct {
	Kapi      string    `json:"kapi"`
	Version   int       `json:"version"`
	StartedAt time.Time `json:"startedAt"`
}

// recordLine is any other line: what the server is, or a list, a change or a state
// of a feed.
type recordLine struct {
	// At are the milliseconds since the recording was started.
	At    int64             `json:"at"`
	About *inspection.About `json:"about,omitempty"`
	Feed  *recordedKey      `json:"feed,omitempty"`
	List  *recordedList     `json:"list,omitempty"`
	// Event and Object are a change.
	Event  watch.EventType `json:"event,omitempty"`
	Object json.RawMessage `json:"object,omitempty"`
	// State is a state other than Live, Error and Hint say why. Connection says that
	// it is one of the connection as a whole.
	State      string `json:"state,omitempty"`
	Error      string `json:"error,omitempty"`
	Hint       string `json:"hint,omitempty"`
	Connection bool   `json:"connection,omitempty"`
}

type recordedList struct {
	Columns []recordedColumn  `json:"columns,omitempty"`
	Gaps    []inspection.Gap  `json:"gaps,omitempty"`
	Items   []json.RawMessage `json:"items"`
}

// recordedColumn is a Column in a file.
type recordedColumn struct {
	Name        string `json:"name"`
	Type        string `json:"type,omitempty"`
	Description string `json:"description,omitempty"`
	Wide        bool   `json:"wide,omitempty"`
}

// recordedKey is a Key in a file.
type recordedKey struct {
	Inspect   string `json:"inspect,omitempty"`
	Group     string `json:"group,omitempty"`
	Version   string `json:"version,omitempty"`
	Resource  string `json:"resource,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	Logs      bool   `json:"logs,omitempty"`
}

func toRecorded(key Key) *recordedKey {
	return &recordedKey{
		Inspect: key.Inspect, Group: key.Resource.Group, Version: key.Resource.Version, Resource: key.Resource.Resource,
		Namespace: key.Namespace, Name: key.Name, Logs: key.Logs,
	}
}

func (k recordedKey) key() Key {
	return Key{
		Inspect:   k.Inspect,
		Resource:  schema.GroupVersionResource{Group: k.Group, Version: k.Version, Resource: k.Resource},
		Namespace: k.Namespace, Name: k.Name, Logs: k.Logs,
	}
}

// stateNames are the states in a file, in the order of the constants.
var stateNames = [...]string{"Loading", "Live", "Stale", "Forbidden", "Failed", "Absent"}

// String is the state's name.
func (s State) String() string {
	if s < 0 || int(s) >= len(stateNames) {
		return "Unknown"
	}
	return stateNames[s]
}

// stateOf is the state of a name; of one that is not known it is Failed.
func stateOf(name string) State {
	if at := slices.Index(stateNames[:], name); at >= 0 {
		return State(at)
	}
	return Failed
}

// recordedRow is a Row, recordedText a LogLine in a file.
type recordedRow struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        metav1.ObjectMeta `json:"metadata"`
	Cells           []any             `json:"cells"`
}

type recordedText struct {
	Name  string    `json:"name"`
	At    time.Time `json:"at"`
	Level string    `json:"level,omitempty"`
	Text  string    `json:"text"`
}

// encoded is an object as it is written: without what may hold anything, and of
// Secrets without what they hold.
func encoded(object kinds.Object) ([]byte, error) {
	var value any
	switch object := object.(type) {
	case *Row:
		row := recordedRow{TypeMeta: object.TypeMeta, Metadata: object.ObjectMeta, Cells: object.Cells}
		row.Metadata.Annotations, row.Metadata.ManagedFields = nil, nil
		value = row
	case *LogLine:
		value = recordedText{Name: object.Name, At: object.At, Level: object.Level, Text: object.Text}
	case *unstructured.Unstructured:
		value = strippedObject(object)
	default:
		value = recorded.Stripped(object)
	}
	data, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("recording %s: %w", object.GetName(), err)
	}
	return data, nil
}

// strippedObject is a copy of an object that may be of any kind.
func strippedObject(object *unstructured.Unstructured) map[string]any {
	own := object.DeepCopy()
	own.SetAnnotations(nil)
	own.SetManagedFields(nil)
	if own.GetKind() == "Secret" {
		for _, field := range []string{"data", "stringData"} {
			if values, ok := own.Object[field].(map[string]any); ok {
				own.Object[field] = sizes(values, field == "data")
				own.Object["withheld"] = "the values of data: their sizes in bytes stand in their place"
			}
		}
	}
	stripBundles(own.Object)
	return own.Object
}

// sizes replaces values by how long they are.
func sizes(values map[string]any, inBase64 bool) map[string]any {
	replaced := make(map[string]any, len(values))
	for name, value := range values {
		text, ok := value.(string)
		if !ok { // it was replaced before
			replaced[name] = value
			continue
		}
		bytes := len(text)
		if decoded, err := base64.StdEncoding.DecodeString(text); inBase64 && err == nil {
			bytes = len(decoded)
		}
		replaced[name] = int64(bytes) // a text would look like a password to Redacted
	}
	return replaced
}

// stripBundles leaves nothing but certificates in fields that are called caBundle.
func stripBundles(value any) {
	switch value := value.(type) {
	case map[string]any:
		for name, each := range value {
			if text, ok := each.(string); ok && name == "caBundle" {
				bundle, err := base64.StdEncoding.DecodeString(text)
				if err != nil {
					bundle = []byte(text)
				}
				value[name] = base64.StdEncoding.EncodeToString(recorded.Certificates(bundle))
				continue
			}
			stripBundles(each)
		}
	case []any:
		for _, each := range value {
			stripBundles(each)
		}
	}
}

// decoded is the object again.
func decoded(key Key, raw json.RawMessage) (kinds.Object, error) {
	switch {
	case key.Logs:
		var text recordedText
		err := json.Unmarshal(raw, &text)
		line := &LogLine{At: text.At, Level: text.Level, Text: text.Text}
		line.Name = text.Name
		return line, err
	case key.Inspect != "":
		kind, err := kindOf(key)
		if err != nil {
			return nil, err
		}
		object, ok := kind.New().(kinds.Object)
		if !ok {
			return nil, fmt.Errorf("kind %s has no objects with metadata", kind.Kind)
		}
		err = json.Unmarshal(raw, object)
		object.GetObjectKind().SetGroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind(kind.Kind))
		return object, err
	case key == Definitions:
		object := &apiextensionsv1.CustomResourceDefinition{}
		return object, json.Unmarshal(raw, object)
	case key == APIServices:
		object := &apiregistrationv1.APIService{}
		return object, json.Unmarshal(raw, object)
	case key == Terminating:
		object := &corev1.Namespace{}
		return object, json.Unmarshal(raw, object)
	case key.Name != "":
		object := &unstructured.Unstructured{}
		return object, json.Unmarshal(raw, object)
	}
	var row recordedRow
	err := json.Unmarshal(raw, &row)
	return &Row{PartialObjectMetadata: metav1.PartialObjectMetadata{TypeMeta: row.TypeMeta, ObjectMeta: row.Metadata}, Cells: row.Cells}, err
}
