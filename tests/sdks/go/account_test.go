// The account: keys, databases, containers and throughput.
package sdks

import (
	"encoding/base64"
	"os"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

func TestAWrongKeyIsRefused(t *testing.T) {
	wrong, err := connect(os.Getenv("EBB_ENDPOINT"), base64.StdEncoding.EncodeToString([]byte("not the key of this account at all")))
	must(t, err)
	_, err = wrong.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: "go-intruder"}, nil)
	// The SDK asks for the account first, and tells only the text of what went wrong.
	if err == nil || !strings.Contains(err.Error(), "RESPONSE 401") ||
		!strings.Contains(err.Error(), "The input authorization token can't serve the request.") {
		t.Fatalf("a wrong key: %v", err)
	}
}

func TestDatabases(t *testing.T) {
	name := "go-TestDatabases"
	created, err := client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: name}, nil)
	must(t, err)
	equal(t, created.RawResponse.StatusCode, `201`)
	equal(t, created.DatabaseProperties.ID, `"go-TestDatabases"`)
	_, err = client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: name}, nil)
	refused(t, err, 409, "0", "already exists")

	database, err := client.NewDatabase(name)
	must(t, err)
	found, err := database.Read(ctx, nil)
	must(t, err)
	equal(t, found.DatabaseProperties.ID, `"go-TestDatabases"`)
	if found.DatabaseProperties.ResourceID == "" || found.DatabaseProperties.SelfLink == "" ||
		found.DatabaseProperties.ETag == nil || found.DatabaseProperties.LastModified.Unix() <= 0 {
		t.Fatalf("incomplete: %+v", found.DatabaseProperties)
	}
	if found.RequestCharge <= 0 || found.ActivityID == "" {
		t.Fatalf("charge %v, activity %q", found.RequestCharge, found.ActivityID)
	}

	pager := client.NewQueryDatabasesPager("SELECT * FROM root r WHERE r.id = @id", &azcosmos.QueryDatabasesOptions{
		QueryParameters: []azcosmos.QueryParameter{{Name: "@id", Value: name}},
	})
	page, err := pager.NextPage(ctx)
	must(t, err)
	equal(t, len(page.Databases), `1`)
	equal(t, page.Databases[0].ID, `"go-TestDatabases"`)

	gone, err := database.Delete(ctx, nil)
	must(t, err)
	equal(t, gone.RawResponse.StatusCode, `204`)
	_, err = database.Read(ctx, nil)
	refused(t, err, 404, "0", "NotFound")
	_, err = database.Delete(ctx, nil)
	refused(t, err, 404, "0", "NotFound")
}

func TestAllDatabasesAreListed(t *testing.T) {
	database := fresh(t)
	names := map[string]int{}
	for pager := client.NewQueryDatabasesPager("SELECT * FROM c", nil); pager.More(); {
		page, err := pager.NextPage(ctx)
		must(t, err)
		for _, found := range page.Databases {
			names[found.ID]++
		}
	}
	equal(t, names[database.ID()], `1`)
}

func TestContainers(t *testing.T) {
	database := fresh(t)
	properties := byPath("c", "/pk")
	properties.DefaultTimeToLive = to.Ptr(int32(10))
	properties.UniqueKeyPolicy = &azcosmos.UniqueKeyPolicy{UniqueKeys: []azcosmos.UniqueKey{{Paths: []string{"/a"}}}}
	created, err := database.CreateContainer(ctx, properties, nil)
	must(t, err)
	equal(t, created.RawResponse.StatusCode, `201`)
	_, err = database.CreateContainer(ctx, properties, nil)
	refused(t, err, 409, "0", "already exists")

	container, err := database.NewContainer("c")
	must(t, err)
	found, err := container.Read(ctx, nil)
	must(t, err)
	shown := found.ContainerProperties
	equal(t, shown.ID, `"c"`)
	equal(t, shown.DefaultTimeToLive, `10`)
	equal(t, shown.PartitionKeyDefinition, `{"kind": "Hash", "paths": ["/pk"], "version": 2}`)
	equal(t, shown.UniqueKeyPolicy, `{"uniqueKeys": [{"paths": ["/a"]}]}`)
	equal(t, shown.IndexingPolicy.IncludedPaths, `[{"path": "/*"}]`)
	equal(t, shown.IndexingPolicy.ExcludedPaths, `[{"path": "/\"_etag\"/?"}]`)
	if shown.ResourceID == "" || shown.SelfLink == "" || shown.ETag == nil || shown.LastModified.Unix() <= 0 {
		t.Fatalf("incomplete: %+v", shown)
	}

	create(t, database, byPath("d", "/pk"))
	names := []string{}
	for pager := database.NewQueryContainersPager("SELECT * FROM c ORDER BY c.id DESC", nil); pager.More(); {
		page, err := pager.NextPage(ctx)
		must(t, err)
		for _, found := range page.Containers {
			names = append(names, found.ID)
		}
	}
	equal(t, names, `["d", "c"]`)

	gone, err := container.Delete(ctx, nil)
	must(t, err)
	equal(t, gone.RawResponse.StatusCode, `204`)
	_, err = container.Read(ctx, nil)
	refused(t, err, 404, "0", "NotFound")
	_, err = container.CreateItem(ctx, a, []byte(`{"id":"1","pk":"a"}`), nil)
	refused(t, err, 404, "1003", "NotFound")
}

func TestReplacingAContainer(t *testing.T) {
	container := container(t)
	found, err := container.Read(ctx, nil)
	must(t, err)
	properties := *found.ContainerProperties
	if properties.DefaultTimeToLive != nil {
		t.Fatalf("TTL is on: %d", *properties.DefaultTimeToLive)
	}
	for _, ttl := range []*int32{to.Ptr(int32(-1)), to.Ptr(int32(20)), to.Ptr(int32(30)), nil} {
		properties.DefaultTimeToLive = ttl
		_, err = container.Replace(ctx, properties, nil)
		must(t, err)
		found, err = container.Read(ctx, nil)
		must(t, err)
		equal(t, []any{found.ContainerProperties.DefaultTimeToLive}, string(text(t, []any{ttl})))
	}

	properties.IndexingPolicy = &azcosmos.IndexingPolicy{
		Automatic:     true,
		IndexingMode:  azcosmos.IndexingModeConsistent,
		IncludedPaths: []azcosmos.IncludedPath{{Path: "/*"}},
		ExcludedPaths: []azcosmos.ExcludedPath{{Path: "/big/*"}},
		CompositeIndexes: [][]azcosmos.CompositeIndex{{
			{Path: "/a", Order: azcosmos.CompositeIndexAscending}, {Path: "/b", Order: azcosmos.CompositeIndexDescending},
		}},
	}
	_, err = container.Replace(ctx, properties, nil)
	must(t, err)
	found, err = container.Read(ctx, nil)
	must(t, err)
	equal(t, found.ContainerProperties.IndexingPolicy.CompositeIndexes,
		`[[{"path": "/a", "order": "ascending"}, {"path": "/b", "order": "descending"}]]`)

	properties.PartitionKeyDefinition.Paths = []string{"/other"}
	_, err = container.Replace(ctx, properties, nil)
	refused(t, err, 400, "0", "")
}

func TestNoTTLWithoutAnIndex(t *testing.T) {
	const why = "Indexing mode value cannot be 'none' when 'defaultTtl' is specified in the collection"
	database := fresh(t)
	properties := byPath("c", "/pk")
	properties.IndexingPolicy = &azcosmos.IndexingPolicy{IndexingMode: azcosmos.IndexingModeNone}
	properties.DefaultTimeToLive = to.Ptr(int32(10))
	_, err := database.CreateContainer(ctx, properties, nil)
	refused(t, err, 400, "0", why)
	properties.DefaultTimeToLive = nil
	container := create(t, database, properties)
	properties.DefaultTimeToLive = to.Ptr(int32(-1))
	_, err = container.Replace(ctx, properties, nil)
	refused(t, err, 400, "0", why)
}

func TestThroughput(t *testing.T) {
	database := fresh(t)
	manual := azcosmos.NewManualThroughputProperties(400)
	_, err := database.CreateContainer(ctx, byPath("c", "/pk"), &azcosmos.CreateContainerOptions{ThroughputProperties: &manual})
	must(t, err)
	container, err := database.NewContainer("c")
	must(t, err)
	found, err := container.ReadThroughput(ctx, nil)
	must(t, err)
	throughput, is := found.ThroughputProperties.ManualThroughput()
	equal(t, []any{throughput, is}, `[400, true]`)

	_, err = container.ReplaceThroughput(ctx, azcosmos.NewManualThroughputProperties(500), nil)
	must(t, err)
	found, err = container.ReadThroughput(ctx, nil)
	must(t, err)
	throughput, is = found.ThroughputProperties.ManualThroughput()
	equal(t, []any{throughput, is}, `[500, true]`)

	autoscale := azcosmos.NewAutoscaleThroughputProperties(4000)
	_, err = database.CreateContainer(ctx, byPath("d", "/pk"), &azcosmos.CreateContainerOptions{ThroughputProperties: &autoscale})
	must(t, err)
	container, err = database.NewContainer("d")
	must(t, err)
	found, err = container.ReadThroughput(ctx, nil)
	must(t, err)
	throughput, is = found.ThroughputProperties.AutoscaleMaxThroughput()
	equal(t, []any{throughput, is}, `[4000, true]`)
}
