// Package sdks holds EbbDB's tests through the Go SDK. This file: one client, a fresh database per test,
// the manual clock, and comparisons.
package sdks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

type object = map[string]any

var (
	ctx    = context.Background()
	client *azcosmos.Client
)

func TestMain(main *testing.M) {
	var err error
	if client, err = connect(os.Getenv("EBB_ENDPOINT"), os.Getenv("EBB_KEY")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(main.Run())
}

func connect(endpoint, key string) (*azcosmos.Client, error) {
	credential, err := azcosmos.NewKeyCredential(key)
	if err != nil {
		return nil, err
	}
	return azcosmos.NewClientWithKey(endpoint, credential, &azcosmos.ClientOptions{
		EnableContentResponseOnWrite: true,
		ClientOptions:                azcore.ClientOptions{Retry: policy.RetryOptions{MaxRetries: -1}},
	})
}

// fresh is a database of the test's own, dropped when the test ends.
func fresh(t *testing.T) *azcosmos.DatabaseClient {
	t.Helper()
	return freshNamed(t, named(t))
}

// freshNamed is such a database with a name of its own: not each name of a test may be that of a database.
func freshNamed(t *testing.T, name string) *azcosmos.DatabaseClient {
	t.Helper()
	_, err := client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: name}, nil)
	must(t, err)
	database, err := client.NewDatabase(name)
	must(t, err)
	t.Cleanup(func() { _, _ = database.Delete(ctx, nil) })
	return database
}

// named is the name of the test's database.
func named(t *testing.T) string { return "go-" + strings.ReplaceAll(t.Name(), "/", "-") }

// container is a fresh database's only container, by /pk, with TTL off unless a default is given.
func container(t *testing.T, ttl ...int32) *azcosmos.ContainerClient {
	t.Helper()
	properties := byPath("c", "/pk")
	if len(ttl) > 0 {
		properties.DefaultTimeToLive = &ttl[0]
	}
	return create(t, fresh(t), properties)
}

func byPath(id string, paths ...string) azcosmos.ContainerProperties {
	return azcosmos.ContainerProperties{
		ID:                     id,
		PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: paths, Version: 2},
	}
}

func create(t *testing.T, database *azcosmos.DatabaseClient, properties azcosmos.ContainerProperties) *azcosmos.ContainerClient {
	t.Helper()
	_, err := database.CreateContainer(ctx, properties, nil)
	must(t, err)
	container, err := database.NewContainer(properties.ID)
	must(t, err)
	return container
}

// advance moves the manual clock.
func advance(t *testing.T, seconds int) {
	t.Helper()
	body := strings.NewReader(fmt.Sprintf(`{"advance_seconds": %d}`, seconds))
	answer, err := http.Post(os.Getenv("EBB_ADMIN")+"/_ebb/clock", "application/json", body)
	must(t, err)
	answer.Body.Close()
	equal(t, answer.StatusCode, `200`)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// equal compares with a value written as JSON.
func equal(t *testing.T, got any, want string) {
	t.Helper()
	if left, right := normal(t, got), decode(t, []byte(want)); !reflect.DeepEqual(left, right) {
		text, _ := json.Marshal(left)
		t.Fatalf("\n got %s\nwant %s", text, want)
	}
}

func normal(t *testing.T, value any) any {
	t.Helper()
	text, err := json.Marshal(value)
	must(t, err)
	return decode(t, text)
}

func decode(t *testing.T, text []byte) (value any) {
	t.Helper()
	must(t, json.Unmarshal(text, &value))
	return value
}

// bare is an item without what the server adds.
func bare(t *testing.T, text []byte) object {
	t.Helper()
	item, ok := decode(t, text).(object)
	if !ok {
		t.Fatalf("not an item: %s", text)
	}
	for _, name := range []string{"_rid", "_self", "_etag", "_ts", "_attachments", "_lsn"} {
		delete(item, name)
	}
	return item
}

// refused asserts the status, the sub-status and a part of the message.
func refused(t *testing.T, err error, status int, subStatus, part string) {
	t.Helper()
	var failure *azcore.ResponseError
	if !errors.As(err, &failure) {
		t.Fatalf("wanted status %d, got %v", status, err)
	}
	found := failure.RawResponse.Header.Get("x-ms-substatus")
	if found == "" {
		found = "0"
	}
	if failure.StatusCode != status || found != subStatus {
		t.Fatalf("wanted %d/%s, got %d/%s: %v", status, subStatus, failure.StatusCode, found, err)
	}
	// The error's own text shows the body with its quotes escaped.
	if text := strings.ReplaceAll(failure.Error(), `\"`, `"`); !strings.Contains(text, part) {
		t.Fatalf("wanted %q in: %s", part, text)
	}
}

func text(t *testing.T, value any) []byte {
	t.Helper()
	if json, ok := value.(string); ok {
		return []byte(json)
	}
	text, err := json.Marshal(value)
	must(t, err)
	return text
}

var a, b = azcosmos.NewPartitionKeyString("a"), azcosmos.NewPartitionKeyString("b")

// put creates items (written as JSON) under their string /pk.
func put(t *testing.T, container *azcosmos.ContainerClient, items ...string) {
	t.Helper()
	for _, item := range items {
		key, _ := bare(t, []byte(item))["pk"].(string)
		_, err := container.CreateItem(ctx, azcosmos.NewPartitionKeyString(key), []byte(item), nil)
		must(t, err)
	}
}

func read(t *testing.T, container *azcosmos.ContainerClient, id string) object {
	t.Helper()
	answer, err := container.ReadItem(ctx, a, id, nil)
	must(t, err)
	return bare(t, answer.Value)
}

// query gathers all pages; anywhere is the key of a cross-partition query.
func query(t *testing.T, container *azcosmos.ContainerClient, key azcosmos.PartitionKey, sql string, parameters ...azcosmos.QueryParameter) []any {
	t.Helper()
	found := []any{}
	pager := container.NewQueryItemsPager(sql, key, &azcosmos.QueryOptions{QueryParameters: parameters})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		must(t, err)
		for _, item := range page.Items {
			found = append(found, decode(t, item))
		}
	}
	return found
}

var anywhere = azcosmos.NewPartitionKey()

type cell struct {
	Default   *int32 `json:"default"`
	TTL       *int32 `json:"ttl"`
	DiesAfter *int32 `json:"diesAfter"`
}

type expectations struct {
	Matrix             []cell            `json:"matrix"`
	AcceptedDefaultTTL []int32           `json:"acceptedDefaultTtl"`
	AcceptedItemTTL    []json.RawMessage `json:"acceptedItemTtl"`
	RefusedItemTTL     []struct {
		TTL    json.RawMessage `json:"ttl"`
		Quoted string          `json:"quoted"`
	} `json:"refusedItemTtl"`
	TiedPages struct {
		Items          int                       `json:"items"`
		PageSize       int32                     `json:"pageSize"`
		DiesAfter      int                       `json:"diesAfter"`
		CompositeIndex []azcosmos.CompositeIndex `json:"compositeIndex"`
		Queries        []string                  `json:"queries"`
	} `json:"tiedPages"`
	Texts map[string]string `json:"texts"`
}

func expected(t *testing.T) (table expectations) {
	t.Helper()
	text, err := os.ReadFile(os.Getenv("EBB_EXPECTATIONS"))
	must(t, err)
	must(t, json.Unmarshal(text, &table))
	return table
}
