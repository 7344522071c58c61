package e2e_test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kapi-dev/kapi/internal/kapitest"
)

// TestServiceResolution finds servers behind Service objects, without a service
// map: by an external name, and by endpoint slices.
func TestServiceResolution(t *testing.T) {
	t.Parallel()
	t.Run("ExternalName", func(t *testing.T) {
		t.Parallel()
		server := kapitest.Shared(t)
		listener := listen(t, "127.0.0.1")
		port := portOf(listener)
		resolve(t, server, listener, "external.e2e.test", port, func(namespace string) {
			createService(t, server, namespace, corev1.ServiceSpec{
				Type: corev1.ServiceTypeExternalName, ExternalName: "localhost",
				Ports: []corev1.ServicePort{{Port: port}},
			})
		})
	})
	t.Run("EndpointSlice", func(t *testing.T) {
		t.Parallel()
		server := kapitest.Shared(t)
		ip := outwardAddress(t)
		listener := listen(t, ip)
		port, name := portOf(listener), "https"
		resolve(t, server, listener, "slices.e2e.test", 443, func(namespace string) {
			createService(t, server, namespace, corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: name, Port: 443}}})
			_, err := server.Client(t).DiscoveryV1().EndpointSlices(namespace).Create(t.Context(), &discoveryv1.EndpointSlice{
				ObjectMeta:  metav1.ObjectMeta{Name: "api-1", Labels: map[string]string{discoveryv1.LabelServiceName: "api"}},
				AddressType: discoveryv1.AddressTypeIPv4,
				Endpoints:   []discoveryv1.Endpoint{{Addresses: []string{ip}}},
				Ports:       []discoveryv1.EndpointPort{{Name: &name, Port: &port}},
			}, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
		})
	})
}

// resolve registers a group that a server on listener serves, and reaches it
// through kapi.
func resolve(t *testing.T, server *kapitest.Server, listener net.Listener, group string, port int32, services func(namespace string)) {
	t.Helper()
	namespace := newNamespace(t, server.Client(t))
	ca := newAuthority(t)
	serveTLS(t, listener, ca, stubGroup(group), "api."+namespace+".svc")
	services(namespace)
	registerAPIService(t, server, group, "v1", ca, apiregistrationv1.ServiceReference{Namespace: namespace, Name: "api", Port: &port})
	t.Cleanup(func() { removeAPIService(t, server, "v1."+group) })
	awaitAvailable(t, server, "v1."+group, apiregistrationv1.ConditionTrue, "Passed")
	if code, body, _ := get(t, server.Config(t), "/apis/"+group+"/v1/anything"); code != http.StatusTeapot || !strings.Contains(body, "kapi-admin") {
		t.Errorf("%d %s", code, body)
	}
}

// removeAPIService leaves no group behind that nobody serves: clients that look
// at all of them would wait for it.
func removeAPIService(t testing.TB, server *kapitest.Server, name string) {
	t.Helper()
	err := apiServices(t, server).ApiregistrationV1().APIServices().Delete(context.WithoutCancel(t.Context()), name, metav1.DeleteOptions{})
	if err != nil {
		t.Error(err)
	}
}

// stubGroup answers discovery of an empty group, and says who asks for anything else.
func stubGroup(group string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/apis/"+group+"/v1", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(metav1.APIResourceList{
			TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: group + "/v1",
		})
	})
	mux.HandleFunc("/apis/"+group+"/v1/", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		_, _ = w.Write([]byte(r.Header.Get("X-Remote-User")))
	})
	return mux
}

func createService(t testing.TB, server *kapitest.Server, namespace string, spec corev1.ServiceSpec) {
	t.Helper()
	_, err := server.Client(t).CoreV1().Services(namespace).Create(t.Context(),
		&corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "api"}, Spec: spec}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// outwardAddress returns an address of this machine that an EndpointSlice may
// hold: those refuse loopback addresses.
func outwardAddress(t testing.TB) string {
	t.Helper()
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range addresses {
		network, ok := address.(*net.IPNet)
		if ok && network.IP.To4() != nil && network.IP.IsGlobalUnicast() {
			return network.IP.String()
		}
	}
	t.Skip("this machine has no address but loopback ones, which an EndpointSlice refuses")
	return ""
}

func portOf(listener net.Listener) int32 {
	address, _ := listener.Addr().(*net.TCPAddr)
	return int32(address.Port)
}
