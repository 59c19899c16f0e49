// Queries: shapes, parameters, paging and errors.
package sdks

import (
	"fmt"
	"os"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// shelf is a container of six books of two partitions.
func shelf(t *testing.T) *azcosmos.ContainerClient {
	t.Helper()
	container := container(t)
	put(t, container,
		`{"id":"1","pk":"a","n":3,"kind":"x","tags":["red","blue"]}`,
		`{"id":"2","pk":"a","n":1,"kind":"y","tags":["red"]}`,
		`{"id":"3","pk":"b","n":2,"kind":"x","tags":[]}`,
		`{"id":"4","pk":"b","n":5,"kind":"x"}`,
		`{"id":"5","pk":"b","n":4.5,"kind":"y","tags":["green"]}`,
		`{"id":"6","pk":"b","kind":"z","s":"text"}`)
	return container
}

func TestQueries(t *testing.T) {
	container := shelf(t)
	for _, is := range []struct{ sql, want string }{
		{"SELECT VALUE c.id FROM c WHERE c.n > 2 ORDER BY c.n", `["1", "5", "4"]`},
		{"SELECT VALUE c.id FROM c WHERE IS_DEFINED(c.n) ORDER BY c.n DESC", `["4", "5", "1", "3", "2"]`},
		{"SELECT TOP 2 VALUE c.id FROM c ORDER BY c.n DESC", `["4", "5"]`},
		{"SELECT VALUE c.id FROM c ORDER BY c.id OFFSET 2 LIMIT 3", `["3", "4", "5"]`},
		{"SELECT DISTINCT VALUE c.kind FROM c ORDER BY c.kind", `["x", "y", "z"]`},
		{"SELECT VALUE COUNT(1) FROM c", `[6]`},
		{"SELECT VALUE SUM(c.n) FROM c", `[15.5]`},
		{"SELECT VALUE MIN(c.n) FROM c", `[1]`},
		{"SELECT VALUE MAX(c.n) FROM c", `[5]`},
		{"SELECT VALUE AVG(c.n) FROM c WHERE c.kind = 'y'", `[2.75]`},
		{"SELECT COUNT(1) AS many, MAX(c.n) AS most FROM c", `[{"many": 6, "most": 5}]`},
		{"SELECT c.id, t AS tag FROM c JOIN t IN c.tags WHERE c.pk = 'a' ORDER BY c.id",
			`[{"id": "1", "tag": "red"}, {"id": "1", "tag": "blue"}, {"id": "2", "tag": "red"}]`},
		{"SELECT VALUE c.id FROM c WHERE EXISTS (SELECT VALUE t FROM t IN c.tags WHERE t = 'red') ORDER BY c.id", `["1", "2"]`},
		{"SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS(c.tags, 'green')", `["5"]`},
		{"SELECT VALUE c.id FROM c WHERE c.kind IN ('y', 'z') AND (c.id BETWEEN '1' AND '5') ORDER BY c.id", `["2", "5"]`},
		{"SELECT VALUE UPPER(c.s) || '!' FROM c WHERE c.s LIKE 'te%'", `["TEXT!"]`},
		{"SELECT VALUE {\"a\": c.id, \"b\": [c.n ?? 'none', c.kind = 'x' ? 1 : 2]} FROM c WHERE c.id = '6'", `[{"a": "6", "b": ["none", 2]}]`},
		{"SELECT c.n FROM c WHERE c.id = '6'", `[{}]`},
		{"SELECT VALUE c.n FROM c WHERE c.id = '6'", `[]`},
	} {
		t.Run(is.sql, func(t *testing.T) { equal(t, query(t, container, anywhere, is.sql), is.want) })
	}
	equal(t, query(t, container, a, "SELECT VALUE c.id FROM c ORDER BY c.id"), `["1", "2"]`)
	equal(t, query(t, container, a, "SELECT VALUE COUNT(1) FROM c"), `[2]`)
}

func TestGroups(t *testing.T) {
	container := shelf(t)
	groups := map[string]any{}
	for _, group := range query(t, container, anywhere, "SELECT c.kind, COUNT(1) AS many, SUM(c.n) AS total, AVG(c.n) AS mean FROM c WHERE c.kind != 'z' GROUP BY c.kind") {
		groups[group.(object)["kind"].(string)] = group
	}
	equal(t, groups, `{"x": {"kind": "x", "many": 3, "total": 10, "mean": 3.3333333333333335},
		"y": {"kind": "y", "many": 2, "total": 5.5, "mean": 2.75}}`)
}

func TestParameters(t *testing.T) {
	container := shelf(t)
	found := query(t, container, anywhere, "SELECT VALUE c.id FROM c WHERE c.n = @n OR c.tags = @tags OR c.s = @s ORDER BY c.id",
		azcosmos.QueryParameter{Name: "@n", Value: 5}, azcosmos.QueryParameter{Name: "@tags", Value: []string{"red"}},
		azcosmos.QueryParameter{Name: "@s", Value: nil})
	equal(t, found, `["2", "4"]`)
}

func TestPages(t *testing.T) {
	container := container(t)
	want := []string{}
	for n := range 25 {
		key := string(rune('a' + n%2))
		put(t, container, fmt.Sprintf(`{"id":"%02d","pk":"%s"}`, n, key))
		want = append(want, fmt.Sprintf("%02d", n))
	}
	for _, sql := range []string{"SELECT VALUE c.id FROM c ORDER BY c.id", "SELECT DISTINCT VALUE c.id FROM c ORDER BY c.id",
		"SELECT VALUE c.id FROM c ORDER BY c.id OFFSET 0 LIMIT 100"} {
		found, token, pages := []any{}, (*string)(nil), 0
		for {
			// Each page is asked for by a client of its own.
			other, err := connect(client.Endpoint(), os.Getenv("EBB_KEY"))
			must(t, err)
			there, err := other.NewContainer(named(t), "c")
			must(t, err)
			page, err := there.NewQueryItemsPager(sql, anywhere, &azcosmos.QueryOptions{PageSizeHint: 4, ContinuationToken: token}).NextPage(ctx)
			must(t, err)
			if len(page.Items) > 4 {
				t.Fatalf("%d items on a page of 4", len(page.Items))
			}
			for _, item := range page.Items {
				found = append(found, decode(t, item))
			}
			pages++
			if token = page.ContinuationToken; token == nil || *token == "" {
				break
			}
		}
		equal(t, found, string(text(t, want)))
		equal(t, pages >= 7, `true`)
	}
	_, err := container.NewQueryItemsPager("SELECT * FROM c", anywhere, &azcosmos.QueryOptions{ContinuationToken: to.Ptr("rubbish")}).NextPage(ctx)
	refused(t, err, 400, "0", "")
}

// Pages over values that many items have: each is read by a new pager from the token of the page before.
func TestPagesOverTies(t *testing.T) {
	table := expected(t).TiedPages
	for _, sql := range table.Queries {
		t.Run(sql, func(t *testing.T) {
			properties := byPath("c", "/pk")
			properties.DefaultTimeToLive = to.Ptr(int32(-1))
			properties.IndexingPolicy = &azcosmos.IndexingPolicy{
				Automatic:        true,
				IndexingMode:     azcosmos.IndexingModeConsistent,
				IncludedPaths:    []azcosmos.IncludedPath{{Path: "/*"}},
				CompositeIndexes: [][]azcosmos.CompositeIndex{table.CompositeIndex},
			}
			container := create(t, freshNamed(t, "go-ties"), properties)
			for n := range table.Items {
				ttl := -1
				if n%5 == 4 {
					ttl = table.DiesAfter
				}
				put(t, container, fmt.Sprintf(`{"id":"%d","pk":"k%d","n":%d,"same":%d,"odd":%d,"ttl":%d}`, n, n%7, n, n%3, n%2, ttl))
			}
			pages := func(between func(count int)) (found []any, later int) {
				token := (*string)(nil)
				for count := 1; ; count++ {
					page, err := container.NewQueryItemsPager(sql, anywhere, &azcosmos.QueryOptions{PageSizeHint: table.PageSize, ContinuationToken: token}).NextPage(ctx)
					must(t, err)
					for _, item := range page.Items {
						found = append(found, decode(t, item))
					}
					if count == 2 {
						later = len(found)
					}
					between(count)
					if token = page.ContinuationToken; token == nil || *token == "" {
						return found, later
					}
				}
			}
			found, _ := pages(func(int) {})
			equal(t, found, string(text(t, query(t, container, anywhere, sql))))
			found, later := pages(func(count int) {
				if count == 2 {
					advance(t, table.DiesAfter)
				}
			})
			seen, live := map[any]bool{}, []any{}
			for at, n := range found {
				dies := int(n.(float64))%5 == 4
				if seen[n] || dies && at >= later {
					t.Fatalf("%v is on two pages or has expired: %v", n, found)
				}
				if seen[n] = true; !dies {
					live = append(live, n)
				}
			}
			equal(t, live, string(text(t, query(t, container, anywhere, sql))))
		})
	}
}

func TestCompositeOrder(t *testing.T) {
	properties := byPath("c", "/pk")
	properties.IndexingPolicy = &azcosmos.IndexingPolicy{
		Automatic:     true,
		IndexingMode:  azcosmos.IndexingModeConsistent,
		IncludedPaths: []azcosmos.IncludedPath{{Path: "/*"}},
		CompositeIndexes: [][]azcosmos.CompositeIndex{{
			{Path: "/x", Order: azcosmos.CompositeIndexAscending}, {Path: "/y", Order: azcosmos.CompositeIndexDescending},
		}},
	}
	container := create(t, fresh(t), properties)
	put(t, container, `{"id":"1","pk":"a","x":1,"y":1}`, `{"id":"2","pk":"a","x":1,"y":2}`, `{"id":"3","pk":"b","x":0,"y":0}`)
	equal(t, query(t, container, anywhere, "SELECT VALUE c.id FROM c ORDER BY c.x, c.y DESC"), `["3", "2", "1"]`)
	equal(t, query(t, container, anywhere, "SELECT VALUE c.id FROM c ORDER BY c.x DESC, c.y"), `["1", "2", "3"]`)
	badQuery(t, container, "SELECT * FROM c ORDER BY c.x, c.y", "The order by query does not have a corresponding composite index that it can be served from.")
}

func TestBadQueries(t *testing.T) {
	container := container(t)
	badQuery(t, container, "SELECT * FORM c", "Syntax error, incorrect syntax near")
	badQuery(t, container, "SELECT nowhere.x FROM c", "Identifier 'nowhere' could not be resolved.")
	badQuery(t, container, "SELECT NOSUCH(c.x) FROM c", "'NOSUCH' is not a recognized built-in function name.")
	badQuery(t, container, "", "")

	pager := container.NewQueryItemsPager("SELECT * FROM c", anywhere, &azcosmos.QueryOptions{EnableCrossPartitionQuery: to.Ptr(false)})
	_, err := pager.NextPage(ctx)
	refused(t, err, 400, "0", "Cross partition query is required but disabled.")
}

func badQuery(t *testing.T, container *azcosmos.ContainerClient, sql, part string) {
	t.Helper()
	_, err := container.NewQueryItemsPager(sql, anywhere, nil).NextPage(ctx)
	refused(t, err, 400, "0", part)
}
