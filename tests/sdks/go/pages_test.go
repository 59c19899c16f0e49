package sdks

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

type pageCase struct {
	Name           string                    `json:"name"`
	Items          []json.RawMessage         `json:"items"`
	CompositeIndex []azcosmos.CompositeIndex `json:"compositeIndex"`
	Query          string                    `json:"query"`
	PartitionKey   *string                   `json:"partitionKey"`
	PageSize       int32                     `json:"pageSize"`
	MovesAfter     int                       `json:"movesAfter"`
	DiesAfter      int                       `json:"diesAfter"`
	Mortal         []any                     `json:"mortal"`
	Limited        bool                      `json:"limited"`
}

// Random cases of queries whose pages are each read by a new pager; see ../pages.py. The SDK has no engine of queries:
// the gateway runs those over all partitions too, which it does for every shape.
func TestRandomPages(t *testing.T) {
	var cases []pageCase
	file, err := os.ReadFile(os.Getenv("EBB_PAGES"))
	must(t, err)
	must(t, json.Unmarshal(file, &cases))
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) { c.run(t) })
	}
}

func (c *pageCase) run(t *testing.T) {
	properties := byPath("c", "/pk")
	properties.DefaultTimeToLive = to.Ptr(int32(-1))
	properties.IndexingPolicy = &azcosmos.IndexingPolicy{
		Automatic:     true,
		IndexingMode:  azcosmos.IndexingModeConsistent,
		IncludedPaths: []azcosmos.IncludedPath{{Path: "/*"}},
	}
	if c.CompositeIndex != nil {
		properties.IndexingPolicy.CompositeIndexes = [][]azcosmos.CompositeIndex{c.CompositeIndex}
	}
	container := create(t, freshNamed(t, "go-pages"), properties)
	for _, item := range c.Items {
		put(t, container, string(item))
	}
	key := anywhere
	if c.PartitionKey != nil {
		key = azcosmos.NewPartitionKeyString(*c.PartitionKey)
	}

	rows, _ := c.pages(t, container, key, 0)
	equal(t, rows, string(text(t, query(t, container, key, c.Query))))

	rows, later := c.pages(t, container, key, c.MovesAfter)
	live := query(t, container, key, c.Query)
	seen, alive := map[any]bool{}, []any{}
	for at, row := range rows {
		dead := slices.Contains(c.Mortal, row)
		if seen[row] || dead && at >= later {
			t.Fatalf("%v is on two pages or has expired: %v", row, rows)
		}
		if seen[row] = true; !dead {
			alive = append(alive, row)
		}
	}
	if slices.ContainsFunc(live, func(row any) bool { return slices.Contains(c.Mortal, row) }) {
		t.Fatalf("an expired row: %v", live)
	}
	if !c.Limited {
		equal(t, alive, string(text(t, live)))
	}
}

// pages reads all pages, each by a new pager; the clock moves after the given number of pages, or at the end if there
// are fewer. It returns the rows, and the number of those before the move.
func (c *pageCase) pages(t *testing.T, container *azcosmos.ContainerClient, key azcosmos.PartitionKey, movesAfter int) (rows []any, later int) {
	t.Helper()
	rows = []any{}
	token := (*string)(nil)
	for count := 1; ; count++ {
		options := &azcosmos.QueryOptions{PageSizeHint: c.PageSize, ContinuationToken: token}
		page, err := container.NewQueryItemsPager(c.Query, key, options).NextPage(ctx)
		must(t, err)
		if len(page.Items) > int(c.PageSize) {
			t.Fatalf("%d items on a page of %d", len(page.Items), c.PageSize)
		}
		for _, item := range page.Items {
			rows = append(rows, decode(t, item))
		}
		token = page.ContinuationToken
		last := token == nil || *token == ""
		if count == movesAfter || last && count < movesAfter {
			later = len(rows)
			advance(t, c.DiesAfter)
		}
		if last {
			return rows, later
		}
	}
}
