package e2e_test

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kapi-dev/kapi/internal/kapitest"
)

func selfReview() *authenticationv1.SelfSubjectReview { return &authenticationv1.SelfSubjectReview{} }

// TestLogs runs a talkative server, sends secrets on all ways into it, and looks
// for them in what it has printed: JSON, line by line.
func TestLogs(t *testing.T) {
	t.Parallel()
	server := kapitest.Start(t, "--log-format", "json", "-v", "6")
	secrets := useSecrets(t, server)
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	log := server.Log()
	for line := range strings.Lines(log) {
		var entry map[string]any
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Errorf("not a line of JSON: %s", line)
		}
	}
	for _, want := range []string{`"kapi is ready"`, server.Config(t).Host, server.Kubeconfig()} {
		if !strings.Contains(log, want) {
			t.Errorf("%s is not in the log", want)
		}
	}
	if !strings.Contains(log, "/api/v1/namespaces/default/secrets") {
		t.Error("requests are not logged, so that the search for secrets means nothing")
	}
	for what, secret := range secrets {
		if i := strings.Index(log, secret); i >= 0 {
			t.Errorf("%s is in the log:\n%s", what, log[max(0, i-200):min(len(log), i+len(secret))])
		}
	}
}

// useSecrets returns what must not be in a log, by its name.
func useSecrets(t *testing.T, server *kapitest.Server) map[string]string {
	t.Helper()
	client := server.Client(t)
	secrets := client.CoreV1().Secrets("default")
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "e2e"}, StringData: map[string]string{"key": marker}}
	if _, err := secrets.Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	// Refused ones are the likelier to be printed.
	secret = &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "Not_A_Name"}, StringData: map[string]string{"key": marker}}
	if _, err := secrets.Create(t.Context(), secret, metav1.CreateOptions{}); err == nil {
		t.Fatal("a wrong name was accepted")
	}
	if _, stderr, err := server.Try(t, "{apiVersion: v1, kind: Secret, metadata: {name: broken}, data: {key: "+marker+"}}", "kubectl", "create", "-f", "-"); err == nil {
		t.Fatalf("a value that is no base64 was accepted: %s", stderr)
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot"}}
	if _, err := client.CoreV1().ServiceAccounts("default").Create(t.Context(), account, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	token := newToken(t, server, "default", "robot")
	if code, body, _ := get(t, withToken(t, server, token), "/api"); code != 200 {
		t.Fatalf("the token: %d %s", code, body)
	}
	const wrong = "wrong-token-of-somebody"
	get(t, withToken(t, server, wrong), "/api")
	get(t, withToken(t, server, token[:len(token)-8]), "/api")
	get(t, server.Config(t), "/api?token="+wrong)
	review := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}
	if _, err := client.AuthenticationV1().TokenReviews().Create(t.Context(), review, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	found := map[string]string{
		"a Secret's value":            marker,
		"a Secret's value in base64":  base64.StdEncoding.EncodeToString([]byte(marker)),
		"a token":                     token,
		"the signature of a token":    token[strings.LastIndexByte(token, '.')+1:],
		"a wrong token":               wrong,
		"a private key":               "PRIVATE KEY",
		"the administrator's key":     base64.StdEncoding.EncodeToString(server.Config(t).KeyData),
		"the administrator's DER key": derOf(t, server.Config(t).KeyData),
	}
	for name, der := range keysOf(t, server) {
		found["the key "+name] = der
	}
	return found
}

// keysOf returns the private keys in the data directory, as they stand in their files.
func keysOf(t *testing.T, server *kapitest.Server) map[string]string {
	t.Helper()
	keys := map[string]string{}
	files, err := filepath.Glob(filepath.Join(server.Dir, "pki", "*.key"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no keys in the data directory: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		keys[filepath.Base(file)] = derOf(t, text)
	}
	return keys
}

func derOf(t *testing.T, text []byte) string {
	t.Helper()
	block, _ := pem.Decode(text)
	if block == nil {
		t.Fatal("no PEM")
	}
	return base64.StdEncoding.EncodeToString(block.Bytes)
}
