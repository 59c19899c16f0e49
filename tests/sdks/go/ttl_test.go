// TTL: the matrix to the second on every path that reads, validation, countdowns and changes of the default.
package sdks

import (
	"fmt"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// alive asserts on every path whether item 1 of partition a exists.
func alive(t *testing.T, container *azcosmos.ContainerClient, lives bool) {
	t.Helper()
	ids, count, batched := `["1"]`, `[1]`, `[424, 404]`
	if !lives {
		ids, count, batched = `[]`, `[0]`, `[404, 424]`
	}
	if _, err := container.ReadItem(ctx, a, "1", nil); lives {
		must(t, err)
	} else {
		refused(t, err, 404, "0", noItem)
	}
	for _, key := range []azcosmos.PartitionKey{a, anywhere} {
		equal(t, query(t, container, key, "SELECT VALUE c.id FROM c"), ids)
		equal(t, query(t, container, key, "SELECT VALUE c.id FROM c WHERE c.n = 1"), ids)
		equal(t, query(t, container, key, "SELECT VALUE c.id FROM c ORDER BY c.n"), ids)
		equal(t, query(t, container, key, "SELECT DISTINCT VALUE c.id FROM c"), ids)
		equal(t, query(t, container, key, "SELECT VALUE COUNT(1) FROM c"), count)
		equal(t, query(t, container, key, "SELECT VALUE COUNT(1) FROM c WHERE c.n = 1"), count)
	}
	batch := container.NewTransactionalBatch(a)
	batch.ReadItem("1", nil)
	batch.DeleteItem("no such item", nil)
	answer, err := container.ExecuteTransactionalBatch(ctx, batch, nil)
	must(t, err)
	equal(t, statuses(answer), batched)
}

func TestTheMatrix(t *testing.T) {
	for _, cell := range expected(t).Matrix {
		t.Run(string(text(t, []any{cell.Default, cell.TTL})), func(t *testing.T) {
			properties := byPath("c", "/pk")
			properties.DefaultTimeToLive = cell.Default
			container := create(t, fresh(t), properties)
			item := object{"id": "1", "pk": "a", "n": 1}
			if cell.TTL != nil {
				item["ttl"] = *cell.TTL
			}
			put(t, container, string(text(t, item)))
			if cell.DiesAfter == nil {
				alive(t, container, true)
				advance(t, 1_000_000)
				alive(t, container, true)
				equal(t, read(t, container, "1"), string(text(t, item)))
				return
			}
			advance(t, int(*cell.DiesAfter)-1)
			alive(t, container, true)
			equal(t, read(t, container, "1"), string(text(t, item)))
			advance(t, 1)
			alive(t, container, false)
			advance(t, 1)
			alive(t, container, false)
		})
	}
}

func TestWritesOfTheDead(t *testing.T) {
	properties := byPath("c", "/pk")
	properties.DefaultTimeToLive = to.Ptr(int32(10))
	properties.UniqueKeyPolicy = &azcosmos.UniqueKeyPolicy{UniqueKeys: []azcosmos.UniqueKey{{Paths: []string{"/u"}}}}
	container := create(t, fresh(t), properties)
	first, err := container.CreateItem(ctx, a, []byte(`{"id":"1","pk":"a","u":1}`), nil)
	must(t, err)
	put(t, container, `{"id":"2","pk":"a","u":2}`, `{"id":"3","pk":"a","u":3}`)
	advance(t, 10)

	_, err = container.ReplaceItem(ctx, a, "1", []byte(`{"id":"1","pk":"a"}`), nil)
	refused(t, err, 404, "0", noItem)
	patch := azcosmos.PatchOperations{}
	patch.AppendSet("/x", 1)
	_, err = container.PatchItem(ctx, a, "1", patch, nil)
	refused(t, err, 404, "0", noItem)
	_, err = container.DeleteItem(ctx, a, "1", nil)
	refused(t, err, 404, "0", noItem)
	_, err = container.DeleteItem(ctx, a, "1", &azcosmos.ItemOptions{IfMatchEtag: &first.ETag})
	refused(t, err, 404, "0", noItem)

	put(t, container, `{"id":"1","pk":"a","u":2}`)
	upserted, err := container.UpsertItem(ctx, a, []byte(`{"id":"2","pk":"a","u":3}`), nil)
	must(t, err)
	equal(t, upserted.RawResponse.StatusCode, `201`)
	equal(t, query(t, container, a, "SELECT VALUE c.id FROM c ORDER BY c.id"), `["1", "2"]`)
}

func TestEveryWriteRestartsTheCountdown(t *testing.T) {
	patch := azcosmos.PatchOperations{}
	patch.AppendSet("/x", 1)
	for name, write := range map[string]func(*azcosmos.ContainerClient) error{
		"replace": func(container *azcosmos.ContainerClient) error {
			_, err := container.ReplaceItem(ctx, a, "1", []byte(`{"id":"1","pk":"a","n":1}`), nil)
			return err
		},
		"upsert": func(container *azcosmos.ContainerClient) error {
			_, err := container.UpsertItem(ctx, a, []byte(`{"id":"1","pk":"a","n":1}`), nil)
			return err
		},
		"patch": func(container *azcosmos.ContainerClient) error {
			_, err := container.PatchItem(ctx, a, "1", patch, nil)
			return err
		},
		"batch": func(container *azcosmos.ContainerClient) error {
			batch := container.NewTransactionalBatch(a)
			batch.ReplaceItem("1", []byte(`{"id":"1","pk":"a","n":1}`), nil)
			_, err := container.ExecuteTransactionalBatch(ctx, batch, nil)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			container := container(t, 10)
			put(t, container, `{"id":"1","pk":"a","n":1}`)
			advance(t, 9)
			must(t, write(container))
			advance(t, 9)
			alive(t, container, true)
			advance(t, 1)
			alive(t, container, false)
		})
	}
}

func TestTheDefaultChanges(t *testing.T) {
	container := container(t)
	set := func(ttl *int32) {
		t.Helper()
		properties := byPath("c", "/pk")
		properties.DefaultTimeToLive = ttl
		_, err := container.Replace(ctx, properties, nil)
		must(t, err)
	}
	put(t, container, `{"id":"1","pk":"a","n":1}`)
	advance(t, 50)
	set(to.Ptr(int32(100)))
	alive(t, container, true)
	set(to.Ptr(int32(50)))
	alive(t, container, false)
	for _, ttl := range []*int32{to.Ptr(int32(1000)), to.Ptr(int32(-1)), nil} {
		set(ttl)
		alive(t, container, false)
	}
	put(t, container, `{"id":"1","pk":"a","n":1,"ttl":5}`)
	advance(t, 5)
	alive(t, container, true)
	set(to.Ptr(int32(-1)))
	alive(t, container, false)
}

func TestContainerTTLIsChecked(t *testing.T) {
	database := fresh(t)
	for n, ttl := range expected(t).AcceptedDefaultTTL {
		properties := byPath(fmt.Sprint("good", n), "/pk")
		properties.DefaultTimeToLive = &ttl
		found, err := create(t, database, properties).Read(ctx, nil)
		must(t, err)
		equal(t, found.ContainerProperties.DefaultTimeToLive, fmt.Sprint(ttl))
	}
	properties := byPath("c", "/pk")
	container := create(t, database, properties)
	for n, ttl := range []int32{0, -2, -10} {
		properties.DefaultTimeToLive = &ttl
		_, err := container.Replace(ctx, properties, nil)
		refused(t, err, 400, "0", "")
		properties := byPath(fmt.Sprint("bad", n), "/pk")
		properties.DefaultTimeToLive = &ttl
		_, err = database.CreateContainer(ctx, properties, nil)
		refused(t, err, 400, "0", "")
	}
	found, err := container.Read(ctx, nil)
	must(t, err)
	equal(t, []any{found.ContainerProperties.DefaultTimeToLive}, `[null]`)
}

func TestItemTTLIsChecked(t *testing.T) {
	table := expected(t)
	for _, ttl := range []int32{-1, 100} {
		t.Run(fmt.Sprint("default ", ttl), func(t *testing.T) {
			on := container(t, ttl)
			for n, value := range table.AcceptedItemTTL {
				item := fmt.Sprintf(`{"id":"good%d","pk":"a","ttl":%s}`, n, value)
				put(t, on, item)
				equal(t, read(t, on, fmt.Sprint("good", n)), item)
			}
			put(t, on, `{"id":"x","pk":"a"}`)
			for _, bad := range table.RefusedItemTTL {
				text := fmt.Sprintf(table.Texts["itemTtl"], bad.Quoted)
				item := []byte(fmt.Sprintf(`{"id":"x","pk":"a","ttl":%s}`, bad.TTL))
				_, err := on.CreateItem(ctx, a, []byte(fmt.Sprintf(`{"id":"y","pk":"a","ttl":%s}`, bad.TTL)), nil)
				refused(t, err, 400, "0", text)
				_, err = on.UpsertItem(ctx, a, item, nil)
				refused(t, err, 400, "0", text)
				_, err = on.ReplaceItem(ctx, a, "x", item, nil)
				refused(t, err, 400, "0", text)
				// The SDK leaves a null out of a patch.
				if value := decode(t, bad.TTL); value != nil {
					patch := azcosmos.PatchOperations{}
					patch.AppendSet("/ttl", value)
					_, err = on.PatchItem(ctx, a, "x", patch, nil)
					refused(t, err, 400, "0", text)
				}
				batch := on.NewTransactionalBatch(a)
				batch.UpsertItem(item, nil)
				answer, err := on.ExecuteTransactionalBatch(ctx, batch, nil)
				must(t, err)
				equal(t, statuses(answer), `[400]`)
			}
			equal(t, read(t, on, "x"), `{"id": "x", "pk": "a"}`)
		})
	}
}

func TestItemTTLMeansNothingWhereItIsOff(t *testing.T) {
	table, off := expected(t), container(t)
	for n, bad := range table.RefusedItemTTL {
		item := fmt.Sprintf(`{"id":"any%d","pk":"a","ttl":%s}`, n, bad.TTL)
		put(t, off, item)
		equal(t, read(t, off, fmt.Sprint("any", n)), item)
	}
}

func TestTokensOfAFormerLife(t *testing.T) {
	container := container(t, 10)
	created, err := container.CreateItem(ctx, a, []byte(`{"id":"1","pk":"a"}`), nil)
	must(t, err)
	advance(t, 10)
	put(t, container, `{"id":"1","pk":"a"}`)
	_, err = container.DeleteItem(ctx, a, "1", &azcosmos.ItemOptions{IfMatchEtag: &created.ETag})
	refused(t, err, 412, "0", notMet)
}
