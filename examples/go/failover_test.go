// A Go service's test that loses a leader on purpose, by the control port of a cluster:
//
//	logquake up -d --control
//	eval "$(logquake env)"
//	go test -v ./...
package failover_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	topic    = "orders-go"
	batch    = 100
	patience = 2 * time.Minute
)

// ask is all that is needed of the control port: one call with a document, one document back.
func ask(t *testing.T, method, path string, sent map[string]any) map[string]any {
	t.Helper()
	body, err := json.Marshal(sent)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequest(method, os.Getenv("LOGQUAKE_CONTROL_URL")+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("LOGQUAKE_CONTROL_TOKEN"))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var told map[string]any
	if err := json.NewDecoder(response.Body).Decode(&told); err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %s", method, path, told["error"])
	}
	return told
}

func send(t *testing.T, client *kgo.Client, from int) {
	t.Helper()
	context, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for number := from; number < from+batch; number++ {
		record := &kgo.Record{Topic: topic, Value: fmt.Appendf(nil, "order %d", number)}
		if err := client.ProduceSync(context, record).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
}

func read(t *testing.T, servers []string, wanted int) []string {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(servers...), kgo.ConsumeTopics(topic))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	context, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var found []string
	for len(found) < wanted && context.Err() == nil {
		client.PollFetches(context).EachRecord(func(record *kgo.Record) {
			found = append(found, string(record.Value))
		})
	}
	return found
}

func TestNothingAckedIsLostWithItsLeader(t *testing.T) {
	servers := strings.Split(os.Getenv("BOOTSTRAP_SERVERS"), ",")
	ask(t, "POST", "/do/create_topic", map[string]any{"name": topic, "partitions": 1})
	client, err := kgo.NewClient(kgo.SeedBrokers(servers...))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()

	send(t, client, 0)
	killed := ask(t, "POST", "/do/kill", map[string]any{"target": "leader:" + topic + "/0"})
	t.Cleanup(func() { ask(t, "DELETE", "/faults", nil) })
	t.Logf("killed %s", killed["member"])
	send(t, client, batch)
	ask(t, "POST", "/wait/leader_change", map[string]any{
		"topic": topic, "partition": 0, "since": killed["fault"], "timeout": patience.Seconds(),
	})

	found := read(t, servers, 2*batch)
	for number := range 2 * batch {
		if expected := fmt.Sprintf("order %d", number); number >= len(found) || found[number] != expected {
			t.Fatalf("%s is lost, or out of order: %d orders were found", expected, len(found))
		}
	}
}
