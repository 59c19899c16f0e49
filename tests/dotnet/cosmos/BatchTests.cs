using System.Net;
using Microsoft.Azure.Cosmos;
using Newtonsoft.Json.Linq;

/// <summary>Transactional batches.</summary>
[Collection("clock")]
public class BatchTests : CosmosTest
{
    Container c = null!;
    readonly PartitionKey a = Pk("a");

    public override async Task InitializeAsync()
    {
        await base.InitializeAsync();
        c = await Db.CreateContainerAsync(new ContainerProperties("c", "/pk") { DefaultTimeToLive = -1 });
    }

    TransactionalBatch Batch() => c.CreateTransactionalBatch(a);

    static string Codes(TransactionalBatchResponse answer) =>
        string.Join(' ', answer.Select(row => (int)row.StatusCode));

    Task<int> Count() => One<int>(c, "SELECT VALUE COUNT(1) FROM c");

    /// <summary>Asserts that a batch fails with a status, in its last operation, and changes nothing.</summary>
    async Task Refused(HttpStatusCode status, TransactionalBatch batch)
    {
        var before = await Count();
        using var answer = await batch.ExecuteAsync();
        Assert.Equal(status, answer.StatusCode);
        Assert.False(answer.IsSuccessStatusCode);
        Assert.Equal($"424 {(int)status}", Codes(answer));
        Assert.Equal(before, await Count());
    }

    [Fact]
    public async Task EveryOperation()
    {
        foreach (var id in new[] { "read", "replace", "patch", "delete" }) await c.CreateItemAsync(new Item(id, "a", 1));
        using var answer = await Batch()
            .CreateItem(new Item("create", "a", 1))
            .ReadItem("read")
            .UpsertItem(new Item("upsert", "a", 2))
            .ReplaceItem("replace", new Item("replace", "a", 3))
            .PatchItem("patch", [PatchOperation.Increment("/n", 6), PatchOperation.Set("/name", "ü")])
            .UpsertItem(new Item("upsert", "a", 5))
            .DeleteItem("delete")
            .ExecuteAsync();
        Assert.True(answer.IsSuccessStatusCode, answer.ErrorMessage);
        Assert.Equal("201 200 201 200 200 200 204", Codes(answer));
        Assert.Equal(1, answer.GetOperationResultAtIndex<Item>(1).Resource.n);
        var patched = answer.GetOperationResultAtIndex<Item>(4);
        Assert.Equal((7, "ü"), (patched.Resource.n, patched.Resource.name));
        Assert.Equal(patched.ETag, (await c.ReadItemAsync<Item>("patch", a)).ETag);
        Assert.True(answer.RequestCharge > 0);
        Assert.All(answer.Take(6), row => Assert.NotNull(row.ETag));
        Assert.Null(answer[6].ResourceStream);
        Assert.Equal(5, (await c.ReadItemAsync<Item>("upsert", a)).Resource.n);
    }

    [Fact]
    public async Task AConflictUndoesAll()
    {
        await c.CreateItemAsync(new Item("there", "a"));
        using var answer = await Batch().CreateItem(new Item("new", "a")).CreateItem(new Item("there", "a"))
            .DeleteItem("there").ExecuteAsync();
        Assert.Equal(HttpStatusCode.Conflict, answer.StatusCode);
        Assert.Equal("424 409 424", Codes(answer));
        Assert.Contains("already exists", answer.ErrorMessage);
        Assert.Equal(1, await Count());
    }

    [Fact]
    public async Task ItemsThatAreMissing()
    {
        TransactionalBatch Begun() => Batch().UpsertItem(new Item("new", "a"));
        await Refused(HttpStatusCode.NotFound, Begun().ReadItem("none"));
        await Refused(HttpStatusCode.NotFound, Begun().ReplaceItem("none", new Item("none", "a")));
        await Refused(HttpStatusCode.NotFound, Begun().DeleteItem("none"));
        await Refused(HttpStatusCode.NotFound, Begun().PatchItem("none", [PatchOperation.Set("/n", 1)]));
    }

    [Fact]
    public async Task ETags()
    {
        var etag = (await c.UpsertItemAsync(new Item("e", "a"))).ETag;
        var stale = new TransactionalBatchItemRequestOptions { IfMatchEtag = "\"x\"" };
        var stalePatch = new TransactionalBatchPatchItemRequestOptions { IfMatchEtag = "\"x\"" };
        TransactionalBatch Begun() => Batch().CreateItem(new Item("new", "a"));
        await Refused(HttpStatusCode.PreconditionFailed, Begun().ReplaceItem("e", new Item("e", "a"), stale));
        await Refused(HttpStatusCode.PreconditionFailed, Begun().UpsertItem(new Item("e", "a"), stale));
        await Refused(HttpStatusCode.PreconditionFailed, Begun().DeleteItem("e", stale));
        await Refused(HttpStatusCode.PreconditionFailed,
            Begun().PatchItem("e", [PatchOperation.Set("/n", 1)], stalePatch));
        using var good = await Batch().ReplaceItem("e", new Item("e", "a", 9), new() { IfMatchEtag = etag })
            .ReadItem("e").ExecuteAsync();
        Assert.Equal("200 200", Codes(good));
        Assert.Equal(9, good.GetOperationResultAtIndex<Item>(1).Resource.n);
    }

    [Fact]
    public async Task AReadOfWhatHasNotChanged()
    {
        var etag = (await c.UpsertItemAsync(new Item("e", "a"))).ETag;
        using var answer = await Batch().CreateItem(new Item("new", "a"))
            .ReadItem("e", new() { IfNoneMatchEtag = etag }).ExecuteAsync();
        Assert.Equal("201 304", Codes(answer));
        Assert.Equal(2, await Count());
    }

    [Fact]
    public async Task PatchesWithACondition()
    {
        await c.UpsertItemAsync(new Item("p", "a", 1));
        TransactionalBatch Patch(int n) => Batch().PatchItem("p", [PatchOperation.Set("/n", 5)],
            new() { FilterPredicate = $"FROM c WHERE c.n = {n}" });
        using var no = await Patch(2).ExecuteAsync();
        Assert.Equal(HttpStatusCode.PreconditionFailed, no.StatusCode);
        using var yes = await Patch(1).ExecuteAsync();
        Assert.Equal(HttpStatusCode.OK, yes.StatusCode);
    }

    [Fact]
    public async Task NoContentOnWrite()
    {
        var silent = new TransactionalBatchItemRequestOptions { EnableContentResponseOnWrite = false };
        using var answer = await Batch().CreateItem(new Item("1", "a", 1), silent).UpsertItem(new Item("2", "a"), silent)
            .ReplaceItem("1", new Item("1", "a", 2), silent).ReadItem("1", silent).DeleteItem("2", silent).ExecuteAsync();
        Assert.Equal("201 201 200 200 204", Codes(answer));
        Assert.All(answer.Take(3), row => Assert.Null(row.ResourceStream));
        Assert.All(answer.Take(3), row => Assert.NotNull(row.ETag));
        Assert.Equal(2, answer.GetOperationResultAtIndex<Item>(3).Resource.n);
    }

    [Fact]
    public async Task StreamsAndIdsThatAreHard()
    {
        const string id = "s/1 ü#?";
        using var answer = await Batch()
            .CreateItemStream(Utf8($$"""{"id":"{{id}}","pk":"a","n":1.5}"""))
            .ReadItem(id)
            .ReplaceItemStream(id, Utf8($$"""{"id":"{{id}}","pk":"a","n":2}"""))
            .PatchItem(id, [PatchOperation.Increment("/n", 1)])
            .DeleteItem(id)
            .ExecuteAsync();
        Assert.Equal("201 200 200 200 204", Codes(answer));
        Assert.Equal(3, (int)JObject.Parse(Text(answer[3].ResourceStream))["n"]!);
    }

    [Theory]
    [InlineData("""{"pk":"a"}""")]
    [InlineData("""{"id":"x","pk":"other"}""")]
    [InlineData("""{"id":""")]
    [InlineData("""{"id":"x","pk":"a","ttl":0}""")]
    public async Task ItemsThatAreWrong(string body) =>
        await Refused(HttpStatusCode.BadRequest,
            Batch().CreateItem(new Item("new", "a")).CreateItemStream(Utf8(body)));

    [Fact]
    public async Task Limits()
    {
        TransactionalBatch Of(int operations)
        {
            var batch = Batch();
            for (var i = 0; i < operations; i++) batch.UpsertItem(new Item("l" + i, "a"));
            return batch;
        }
        using var hundred = await Of(100).ExecuteAsync();
        Assert.Equal(HttpStatusCode.OK, hundred.StatusCode);
        using var more = await Of(101).ExecuteAsync();
        Assert.Equal(HttpStatusCode.BadRequest, more.StatusCode);
        Item Big(string id, int size) => new(id, "a") { name = new string('x', size) };
        using var large = await Batch().CreateItem(Big("1", 1_200_000)).CreateItem(Big("2", 1_200_000)).ExecuteAsync();
        Assert.Equal(HttpStatusCode.RequestEntityTooLarge, large.StatusCode);
        using var fits = await Batch().CreateItem(Big("1", 1_000_000)).CreateItem(Big("2", 1_000_000)).ExecuteAsync();
        Assert.Equal(HttpStatusCode.OK, fits.StatusCode);
        await Assert.ThrowsAsync<ArgumentException>(() => Batch().ExecuteAsync());
    }

    [Fact]
    public async Task EveryKindOfKey()
    {
        async Task Works(Container container, PartitionKey key, object item)
        {
            using var answer = await container.CreateTransactionalBatch(key)
                .CreateItem(item).UpsertItem(item).ReadItem("h").DeleteItem("h").ExecuteAsync();
            Assert.Equal("201 200 200 204", Codes(answer));
        }
        await Works(c, PartitionKey.None, new { id = "h" });
        await Works(c, PartitionKey.Null, new { id = "h", pk = (string?)null });
        await Works(c, new PartitionKey(1.5), new { id = "h", pk = 1.5 });
        await Works(c, new PartitionKey(true), new { id = "h", pk = true });
        await Works(c, Pk("ü\"\\"), new { id = "h", pk = "ü\"\\" });
        Container two = await Db.CreateContainerAsync(new ContainerProperties("two", ["/t", "/u"]));
        await Works(two, new PartitionKeyBuilder().Add("t").Add(5).Build(), new { id = "h", t = "t", u = 5 });
        await Works(await NewContainer("byid", "/id"), Pk("h"), new { id = "h" });
    }

    [Fact]
    public async Task TimeToLive()
    {
        using var made = await Batch().CreateItem(new Item("1", "a") { ttl = 10 })
            .CreateItem(new Item("2", "a") { ttl = -1 }).ExecuteAsync();
        Assert.Equal("201 201", Codes(made));
        await Advance(10);
        using var read = await Batch().ReadItem("2").ReadItem("1").ExecuteAsync();
        Assert.Equal("424 404", Codes(read));
        using var again = await Batch().CreateItem(new Item("1", "a")).UpsertItem(new Item("1", "a")).ExecuteAsync();
        Assert.Equal("201 200", Codes(again));
    }

    [Fact]
    public async Task SessionTokens()
    {
        using var written = await Batch().UpsertItem(new Item("1", "a")).ExecuteAsync();
        using var read = await Batch().ReadItem("1").ExecuteAsync(new TransactionalBatchRequestOptions
        {
            SessionToken = written.Headers.Session, ConsistencyLevel = ConsistencyLevel.Eventual,
        });
        Assert.Equal("200", Codes(read));
    }

    // Azure/azure-cosmos-db-emulator-docker#304
    [Fact]
    public async Task OfTwoThatRaceOneWinsAndTheOtherLeavesNothing()
    {
        for (var round = 0; round < 10; round++)
        {
            var key = "race" + round;
            var both = await Task.WhenAll(new[] { "x", "y" }.Select(id =>
                c.CreateTransactionalBatch(Pk(key)).CreateItem(new Item("root", key)).CreateItem(new Item(id, key))
                    .ExecuteAsync()));
            Assert.Equal(["201 201", "409 424"], both.Select(Codes).Order());
            var options = new QueryRequestOptions { PartitionKey = Pk(key) };
            Assert.Equal(2, (await Query<Item>(c, "SELECT * FROM c", options)).Count);
        }
    }
}
