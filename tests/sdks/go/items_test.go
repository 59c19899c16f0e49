// Items: create, read, upsert, replace, patch, delete, conditions, unique keys and batches.
package sdks

import (
	"os"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

const (
	noItem       = "Entity with the specified id does not exist in the system."
	itemExists   = "Entity with the specified id already exists in the system."
	notMet       = "One of the specified pre-condition is not met. Learn more: https://aka.ms/CosmosDB/sql/errors/precondition-failed"
	otherHeader  = "PartitionKey extracted from document doesn't match the one specified in the header."
	noUniqueness = "Unique index constraint violation."
)

func TestLifeOfAnItem(t *testing.T) {
	container := container(t)
	created, err := container.CreateItem(ctx, a, []byte(`{"id":"1","pk":"a","n":1}`), nil)
	must(t, err)
	equal(t, created.RawResponse.StatusCode, `201`)
	equal(t, bare(t, created.Value), `{"id": "1", "pk": "a", "n": 1}`)
	whole := decode(t, created.Value).(object)
	equal(t, []any{string(created.ETag)}, string(text(t, []any{whole["_etag"]})))
	for _, name := range []string{"_rid", "_self", "_etag", "_ts", "_attachments"} {
		if whole[name] == nil {
			t.Fatalf("no %s in %s", name, created.Value)
		}
	}
	if created.RequestCharge <= 0 || created.ActivityID == "" || created.SessionToken == nil {
		t.Fatalf("charge %v, activity %q, session %v", created.RequestCharge, created.ActivityID, created.SessionToken)
	}
	_, err = container.CreateItem(ctx, a, []byte(`{"id":"1","pk":"a"}`), nil)
	refused(t, err, 409, "0", itemExists)

	found, err := container.ReadItem(ctx, a, "1", nil)
	must(t, err)
	equal(t, decode(t, found.Value), string(created.Value))
	_, err = container.ReadItem(ctx, b, "1", nil)
	refused(t, err, 404, "0", noItem)

	replaced, err := container.ReplaceItem(ctx, a, "1", []byte(`{"id":"1","pk":"a","n":2}`), nil)
	must(t, err)
	equal(t, replaced.RawResponse.StatusCode, `200`)
	if replaced.ETag == created.ETag {
		t.Fatal("the ETag stayed")
	}
	upserted, err := container.UpsertItem(ctx, a, []byte(`{"id":"1","pk":"a","n":3}`), nil)
	must(t, err)
	equal(t, upserted.RawResponse.StatusCode, `200`)
	upserted, err = container.UpsertItem(ctx, a, []byte(`{"id":"2","pk":"a","n":4}`), nil)
	must(t, err)
	equal(t, upserted.RawResponse.StatusCode, `201`)
	equal(t, []any{read(t, container, "1")["n"], read(t, container, "2")["n"]}, `[3, 4]`)

	gone, err := container.DeleteItem(ctx, a, "1", nil)
	must(t, err)
	equal(t, gone.RawResponse.StatusCode, `204`)
	_, err = container.DeleteItem(ctx, a, "1", nil)
	refused(t, err, 404, "0", noItem)
	_, err = container.ReplaceItem(ctx, a, "1", []byte(`{"id":"1","pk":"a"}`), nil)
	refused(t, err, 404, "0", noItem)
}

func TestMinimalAnswers(t *testing.T) {
	container := container(t)
	credential, err := azcosmos.NewKeyCredential(os.Getenv("EBB_KEY"))
	must(t, err)
	quiet, err := azcosmos.NewClientWithKey(client.Endpoint(), credential, nil)
	must(t, err)
	there, err := quiet.NewContainer(named(t), container.ID())
	must(t, err)
	answer, err := there.CreateItem(ctx, a, []byte(`{"id":"1","pk":"a"}`), nil)
	must(t, err)
	equal(t, len(answer.Value), `0`)
	if answer.ETag == "" {
		t.Fatal("no ETag")
	}
	equal(t, read(t, container, "1"), `{"id": "1", "pk": "a"}`)
}

func TestETags(t *testing.T) {
	container := container(t)
	created, err := container.CreateItem(ctx, a, []byte(`{"id":"1","pk":"a","n":1}`), nil)
	must(t, err)
	old := &azcosmos.ItemOptions{IfMatchEtag: &created.ETag}
	_, err = container.ReplaceItem(ctx, a, "1", []byte(`{"id":"1","pk":"a","n":2}`), old)
	must(t, err)

	_, err = container.ReplaceItem(ctx, a, "1", []byte(`{"id":"1","pk":"a","n":3}`), old)
	refused(t, err, 412, "0", notMet)
	_, err = container.UpsertItem(ctx, a, []byte(`{"id":"1","pk":"a","n":3}`), old)
	refused(t, err, 412, "0", notMet)
	patch := azcosmos.PatchOperations{}
	patch.AppendSet("/n", 3)
	_, err = container.PatchItem(ctx, a, "1", patch, old)
	refused(t, err, 412, "0", notMet)
	_, err = container.DeleteItem(ctx, a, "1", old)
	refused(t, err, 412, "0", notMet)
	equal(t, read(t, container, "1")["n"], `2`)

	_, err = container.DeleteItem(ctx, a, "1", &azcosmos.ItemOptions{IfMatchEtag: to.Ptr(azcore.ETagAny)})
	must(t, err)
	_, err = container.DeleteItem(ctx, a, "1", old)
	refused(t, err, 404, "0", noItem)
}

func TestPatch(t *testing.T) {
	container := container(t)
	put(t, container, `{"id":"1","pk":"a","n":1,"s":"x","list":[1,3],"o":{"gone":1,"kept":2}}`)
	patch := azcosmos.PatchOperations{}
	patch.AppendAdd("/list/1", 2)
	patch.AppendAdd("/list/-", 4)
	patch.AppendSet("/new", object{"k": true})
	patch.AppendReplace("/s", "y")
	patch.AppendRemove("/o/gone")
	patch.AppendIncrement("/n", 5)
	patch.SetCondition("from c where c.n = 1")
	answer, err := container.PatchItem(ctx, a, "1", patch, nil)
	must(t, err)
	equal(t, answer.RawResponse.StatusCode, `200`)
	want := `{"id":"1","pk":"a","n":6,"s":"y","list":[1,2,3,4],"o":{"kept":2},"new":{"k":true}}`
	equal(t, bare(t, answer.Value), want)
	equal(t, read(t, container, "1"), want)

	_, err = container.PatchItem(ctx, a, "1", patch, nil)
	refused(t, err, 412, "0", "")
	missing := azcosmos.PatchOperations{}
	missing.AppendReplace("/nowhere", 1)
	_, err = container.PatchItem(ctx, a, "1", missing, nil)
	refused(t, err, 400, "0", "")
	_, err = container.PatchItem(ctx, a, "none", missing, nil)
	refused(t, err, 404, "0", noItem)
	many := azcosmos.PatchOperations{}
	for range 11 {
		many.AppendIncrement("/n", 1)
	}
	_, err = container.PatchItem(ctx, a, "1", many, nil)
	refused(t, err, 400, "0", "")
	equal(t, read(t, container, "1"), want)
}

func TestBadItems(t *testing.T) {
	container := container(t)
	for _, item := range []string{`{"pk":"a"}`, `{"id":5,"pk":"a"}`, `{"id":"","pk":"a"}`, `[]`, `{"id":`} {
		_, err := container.CreateItem(ctx, a, []byte(item), nil)
		refused(t, err, 400, "0", "BadRequest")
	}
	_, err := container.CreateItem(ctx, b, []byte(`{"id":"1","pk":"a"}`), nil)
	refused(t, err, 400, "1001", otherHeader)
	big := `{"id":"1","pk":"a","s":"` + strings.Repeat("x", 2<<20) + `"}`
	_, err = container.CreateItem(ctx, a, []byte(big), nil)
	refused(t, err, 413, "0", "Request size is too large")
	equal(t, query(t, container, anywhere, "SELECT VALUE COUNT(1) FROM c"), `[0]`)
}

func TestUniqueKeys(t *testing.T) {
	properties := byPath("c", "/pk")
	properties.UniqueKeyPolicy = &azcosmos.UniqueKeyPolicy{UniqueKeys: []azcosmos.UniqueKey{{Paths: []string{"/x", "/y/z"}}}}
	container := create(t, fresh(t), properties)
	put(t, container, `{"id":"1","pk":"a","x":1,"y":{"z":1}}`, `{"id":"2","pk":"a","x":1,"y":{"z":2}}`, `{"id":"1","pk":"b","x":1,"y":{"z":1}}`)
	_, err := container.CreateItem(ctx, a, []byte(`{"id":"3","pk":"a","x":1,"y":{"z":1}}`), nil)
	refused(t, err, 409, "0", noUniqueness)
	_, err = container.ReplaceItem(ctx, a, "2", []byte(`{"id":"2","pk":"a","x":1,"y":{"z":1}}`), nil)
	refused(t, err, 409, "0", noUniqueness)
	put(t, container, `{"id":"4","pk":"a"}`)
	_, err = container.CreateItem(ctx, a, []byte(`{"id":"5","pk":"a"}`), nil)
	refused(t, err, 409, "0", noUniqueness)
	_, err = container.DeleteItem(ctx, a, "1", nil)
	must(t, err)
	put(t, container, `{"id":"3","pk":"a","x":1,"y":{"z":1}}`)
}

func TestSessionTokens(t *testing.T) {
	container := container(t)
	created, err := container.CreateItem(ctx, a, []byte(`{"id":"1","pk":"a"}`), nil)
	must(t, err)
	other, err := connect(client.Endpoint(), os.Getenv("EBB_KEY"))
	must(t, err)
	there, err := other.NewContainer(named(t), "c")
	must(t, err)
	_, err = there.ReadItem(ctx, a, "1", &azcosmos.ItemOptions{SessionToken: created.SessionToken})
	must(t, err)
	_, err = there.ReadItem(ctx, a, "1", &azcosmos.ItemOptions{SessionToken: to.Ptr("0:-1#999999999999")})
	refused(t, err, 404, "1002", "The read/write session is not available for the input session token.")
}

func TestBatch(t *testing.T) {
	container := container(t)
	put(t, container, `{"id":"1","pk":"a","n":1}`, `{"id":"2","pk":"a"}`, `{"id":"3","pk":"a"}`)
	batch := container.NewTransactionalBatch(a)
	batch.CreateItem([]byte(`{"id":"new","pk":"a"}`), nil)
	batch.ReadItem("1", nil)
	batch.UpsertItem([]byte(`{"id":"up","pk":"a"}`), nil)
	batch.ReplaceItem("2", []byte(`{"id":"2","pk":"a","r":true}`), nil)
	batch.DeleteItem("3", nil)
	patch := azcosmos.PatchOperations{}
	patch.AppendIncrement("/n", 1)
	batch.PatchItem("1", patch, nil)
	answer, err := container.ExecuteTransactionalBatch(ctx, batch, &azcosmos.TransactionalBatchOptions{EnableContentResponseOnWrite: true})
	must(t, err)
	equal(t, statuses(answer), `[201, 200, 201, 200, 204, 200]`)
	equal(t, answer.Success, `true`)
	equal(t, bare(t, answer.OperationResults[1].ResourceBody), `{"id": "1", "pk": "a", "n": 1}`)
	equal(t, bare(t, answer.OperationResults[5].ResourceBody), `{"id": "1", "pk": "a", "n": 2}`)
	equal(t, query(t, container, a, "SELECT VALUE c.id FROM c ORDER BY c.id"), `["1", "2", "new", "up"]`)
}

func TestAFailedBatchChangesNothing(t *testing.T) {
	container := container(t)
	put(t, container, `{"id":"1","pk":"a"}`)
	for _, failing := range []struct {
		add  func(*azcosmos.TransactionalBatch)
		want string
	}{
		{func(batch *azcosmos.TransactionalBatch) { batch.CreateItem([]byte(`{"id":"1","pk":"a"}`), nil) }, `[424, 409, 424]`},
		{func(batch *azcosmos.TransactionalBatch) { batch.ReadItem("none", nil) }, `[424, 404, 424]`},
		{func(batch *azcosmos.TransactionalBatch) { batch.DeleteItem("none", nil) }, `[424, 404, 424]`},
		{func(batch *azcosmos.TransactionalBatch) {
			stale := azcore.ETag(`"stale"`)
			batch.DeleteItem("1", &azcosmos.TransactionalBatchItemOptions{IfMatchETag: &stale})
		}, `[424, 412, 424]`},
	} {
		batch := container.NewTransactionalBatch(a)
		batch.UpsertItem([]byte(`{"id":"x","pk":"a"}`), nil)
		failing.add(&batch)
		batch.DeleteItem("1", nil)
		answer, err := container.ExecuteTransactionalBatch(ctx, batch, nil)
		must(t, err)
		equal(t, answer.Success, `false`)
		equal(t, answer.RawResponse.StatusCode, `207`)
		equal(t, statuses(answer), failing.want)
		equal(t, query(t, container, a, "SELECT VALUE c.id FROM c"), `["1"]`)
	}
}

func statuses(answer azcosmos.TransactionalBatchResponse) []int32 {
	found := []int32{}
	for _, result := range answer.OperationResults {
		found = append(found, result.StatusCode)
	}
	return found
}
