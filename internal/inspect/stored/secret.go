package stored

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// secretFields are what is shown of a Secret as it is; data is shown by its sizes, and
// whatever else may be there is not shown.
func secretFields() []string { return []string{"apiVersion", "kind", "metadata", "type", "immutable"} }

// isSecret is true for Secrets of any version of the core group, also without one, and
// for lists that may have some, which the server does not store.
func isSecret(of metav1.TypeMeta) bool {
	return !strings.Contains(of.APIVersion, "/") && slices.Contains([]string{"Secret", "SecretList", "List"}, of.Kind)
}

// redacted returns a Secret without its values. Annotations have none either: tools
// keep whole manifests in them (kubectl.kubernetes.io/last-applied-configuration).
func redacted(written []byte) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(written))
	decoder.UseNumber()
	var secret map[string]any
	if err := decoder.Decode(&secret); err != nil {
		return nil, fmt.Errorf("reading a Secret: %w", err)
	}
	shown := map[string]any{}
	for _, field := range secretFields() {
		if value, ok := secret[field]; ok {
			shown[field] = value
		}
	}
	if data, ok := secret["data"]; ok {
		shown["data"] = sizes(data, decodedSize)
	}
	if data, ok := secret["stringData"]; ok {
		shown["stringData"] = sizes(data, textSize)
	}
	if metadata, ok := secret["metadata"].(map[string]any); ok {
		if annotations, ok := metadata["annotations"]; ok {
			metadata["annotations"] = sizes(annotations, textSize)
		}
	} else {
		delete(shown, "metadata")
	}
	return marshal(shown)
}

// sizes has the keys of values, with the size of each in its place.
func sizes(values any, size func(string) int) any {
	all, ok := values.(map[string]any)
	if !ok {
		return nil
	}
	sized := make(map[string]any, len(all))
	for key, value := range all {
		text, _ := value.(string)
		sized[key] = fmt.Sprintf("<%d bytes>", size(text))
	}
	return sized
}

func textSize(text string) int { return len(text) }

// decodedSize is that of what text is in base64, or of text if it is not.
func decodedSize(text string) int {
	if data, err := base64.StdEncoding.DecodeString(text); err == nil {
		return len(data)
	}
	return len(text)
}
