// Partition keys: of every type, and hierarchical ones.
package sdks

import (
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

func TestPartitionKeysOfEveryType(t *testing.T) {
	container := container(t)
	for _, kind := range []struct {
		key  azcosmos.PartitionKey
		json string
	}{
		{azcosmos.NewPartitionKeyString("ключ \"quoted\""), `"ключ \"quoted\""`},
		{azcosmos.NewPartitionKeyString(""), `""`},
		{azcosmos.NewPartitionKeyNumber(1), `1`},
		{azcosmos.NewPartitionKeyNumber(-1.5), `-1.5`},
		{azcosmos.NewPartitionKeyBool(true), `true`},
		{azcosmos.NewPartitionKeyBool(false), `false`},
		{azcosmos.NullPartitionKey, `null`},
	} {
		item := `{"id":"1","pk":` + kind.json + `}`
		_, err := container.CreateItem(ctx, kind.key, []byte(item), nil)
		must(t, err)
		found, err := container.ReadItem(ctx, kind.key, "1", nil)
		must(t, err)
		equal(t, bare(t, found.Value), item)
		equal(t, query(t, container, kind.key, "SELECT VALUE c.pk FROM c"), `[`+kind.json+`]`)
	}
	equal(t, query(t, container, anywhere, "SELECT VALUE COUNT(1) FROM c"), `[7]`)

	_, err := container.CreateItem(ctx, azcosmos.NewPartitionKeyString("1"), []byte(`{"id":"2","pk":1}`), nil)
	refused(t, err, 400, "1001", otherHeader)
	_, err = container.CreateItem(ctx, azcosmos.NullPartitionKey, []byte(`{"id":"2"}`), nil)
	refused(t, err, 400, "1001", otherHeader)
}

func TestHierarchicalKeys(t *testing.T) {
	container := create(t, fresh(t), byPath("c", "/t", "/u/v", "/w"))
	found, err := container.Read(ctx, nil)
	must(t, err)
	equal(t, found.ContainerProperties.PartitionKeyDefinition, `{"kind": "MultiHash", "paths": ["/t", "/u/v", "/w"], "version": 2}`)
	key := func(t string, u float64) azcosmos.PartitionKey {
		return azcosmos.NewPartitionKeyString(t).AppendNumber(u).AppendBool(true)
	}
	for _, u := range []float64{1, 2} {
		for _, tenant := range []string{"x", "y"} {
			item := text(t, object{"id": "1", "t": tenant, "u": object{"v": u}, "w": true})
			_, err := container.CreateItem(ctx, key(tenant, u), item, nil)
			must(t, err)
		}
	}
	one, err := container.ReadItem(ctx, key("x", 2), "1", nil)
	must(t, err)
	equal(t, bare(t, one.Value), `{"id": "1", "t": "x", "u": {"v": 2}, "w": true}`)
	_, err = container.ReadItem(ctx, key("z", 2), "1", nil)
	refused(t, err, 404, "0", noItem)
	equal(t, query(t, container, key("x", 2), "SELECT VALUE [c.t, c.u.v] FROM c"), `[["x", 2]]`)
	equal(t, query(t, container, anywhere, "SELECT VALUE c.u.v FROM c WHERE c.t = 'y' ORDER BY c.u.v"), `[1, 2]`)

	prefix := azcosmos.NewPartitionKeyString("x")
	equal(t, query(t, container, prefix, "SELECT VALUE c.u.v FROM c ORDER BY c.u.v"), `[1, 2]`)
	equal(t, query(t, container, prefix.AppendNumber(1), "SELECT VALUE [c.t, c.u.v] FROM c"), `[["x", 1]]`)
	_, err = container.CreateItem(ctx, prefix, []byte(`{"id":"2","t":"x","u":{"v":1},"w":true}`), nil)
	refused(t, err, 400, "1001", "")
}
