// Receives traces by OTLP over HTTP, as the collector of OpenTelemetry decodes them.
//
// Prints its address, and then each span as a line of JSON. With an argument it accepts only requests with that Authorization header.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"

	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
)

type span struct {
	Resource   map[string]any `json:"resource"`
	Name       string         `json:"name"`
	Kind       string         `json:"kind"`
	TraceID    string         `json:"traceID"`
	SpanID     string         `json:"spanID"`
	ParentID   string         `json:"parentID"`
	Links      []string       `json:"links"`
	StartNanos uint64         `json:"startNanos"`
	EndNanos   uint64         `json:"endNanos"`
	Status     string         `json:"status"`
	Attributes map[string]any `json:"attributes"`
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func list(request ptraceotlp.ExportRequest) []span {
	found := []span{}
	for _, resource := range request.Traces().ResourceSpans().All() {
		for _, scope := range resource.ScopeSpans().All() {
			for _, one := range scope.Spans().All() {
				links := []string{}
				for _, link := range one.Links().All() {
					links = append(links, link.TraceID().String())
				}
				found = append(found, span{
					Resource:   resource.Resource().Attributes().AsRaw(),
					Name:       one.Name(),
					Kind:       one.Kind().String(),
					TraceID:    one.TraceID().String(),
					SpanID:     one.SpanID().String(),
					ParentID:   one.ParentSpanID().String(),
					Links:      links,
					StartNanos: uint64(one.StartTimestamp()),
					EndNanos:   uint64(one.EndTimestamp()),
					Status:     one.Status().Code().String(),
					Attributes: one.Attributes().AsRaw(),
				})
			}
		}
	}
	return found
}

func main() {
	authorization := ""
	if len(os.Args) > 1 {
		authorization = os.Args[1]
	}
	var mutex sync.Mutex
	out := json.NewEncoder(os.Stdout)
	http.HandleFunc("POST /v1/traces", func(response http.ResponseWriter, incoming *http.Request) {
		if authorization != "" && incoming.Header.Get("Authorization") != authorization {
			response.WriteHeader(http.StatusUnauthorized)
			return
		}
		body, err := io.ReadAll(incoming.Body)
		request := ptraceotlp.NewExportRequest()
		if err != nil || incoming.Header.Get("Content-Type") != "application/x-protobuf" || request.UnmarshalProto(body) != nil {
			response.WriteHeader(http.StatusBadRequest)
			return
		}
		mutex.Lock()
		for _, one := range list(request) {
			must(0, out.Encode(one))
		}
		mutex.Unlock()
		response.Header().Set("Content-Type", "application/x-protobuf")
		must(response.Write(must(ptraceotlp.NewExportResponse().MarshalProto())))
	})
	listener := must(net.Listen("tcp", "127.0.0.1:0"))
	fmt.Println(listener.Addr())
	panic(http.Serve(listener, nil))
}
