using System.Net;
using Microsoft.Azure.Cosmos;

/// <summary>A client with AllowBulkExecution, whose calls the SDK puts together.</summary>
[Collection("clock")]
public class BulkTests : CosmosTest
{
    readonly CosmosClient client = NewClient(options => options.AllowBulkExecution = true);
    Container bulk = null!, c = null!;

    public override async Task InitializeAsync()
    {
        await base.InitializeAsync();
        c = await Db.CreateContainerAsync(new ContainerProperties("c", "/pk") { DefaultTimeToLive = -1 });
        bulk = client.GetContainer(Db.Id, "c");
    }

    public override async Task DisposeAsync()
    {
        await base.DisposeAsync();
        client.Dispose();
    }

    Task<ItemResponse<Item>[]> Create(int count, int keys) => Task.WhenAll(Enumerable.Range(0, count).Select(i =>
        bulk.CreateItemAsync(new Item("i" + i, "p" + i % keys, i), Pk("p" + i % keys))));

    [Fact]
    public async Task FiveHundredItemsOfFiftyKeys()
    {
        Assert.All(await Create(500, 50), answer =>
        {
            Assert.Equal(HttpStatusCode.Created, answer.StatusCode);
            Assert.True(answer.Resource._ts > 0 && answer.RequestCharge > 0);
        });
        Assert.Equal(500, await One<int>(c, "SELECT VALUE COUNT(1) FROM c"));
        Assert.Equal(10, (await Query<Item>(bulk, "SELECT * FROM c WHERE c.pk = 'p3'")).Count);
    }

    [Fact]
    public async Task EachOperationHasItsOwnOutcome()
    {
        await Create(8, 1);
        var key = Pk("p0");
        static async Task<int> Typed<T>(Task<ItemResponse<T>> call) => (int)(await call).StatusCode;
        static async Task<int> Raw(Task<ResponseMessage> call)
        {
            using var message = await call;
            return (int)message.StatusCode;
        }
        var stale = new ItemRequestOptions { IfMatchEtag = "\"x\"" };
        var statuses = await Task.WhenAll(
            Typed(bulk.CreateItemAsync(new Item("new", "p0"))),
            Typed(bulk.UpsertItemAsync(new Item("i0", "p0", 7))),
            Typed(bulk.ReplaceItemAsync(new Item("i1", "p0", 7), "i1", key)),
            Typed(bulk.ReadItemAsync<Item>("i2", key)),
            Typed(bulk.PatchItemAsync<Item>("i3", key, [PatchOperation.Increment("/n", 1)])),
            Typed(bulk.DeleteItemAsync<Item>("i4", key)),
            Raw(bulk.CreateItemStreamAsync(Utf8("""{"id":"i0","pk":"p0"}"""), key)),
            Raw(bulk.ReadItemStreamAsync("none", key)),
            Raw(bulk.ReplaceItemStreamAsync(Utf8("""{"id":"i5","pk":"p0"}"""), "i5", key, stale)),
            Raw(bulk.DeleteItemStreamAsync("i5", key, stale)),
            Raw(bulk.PatchItemStreamAsync("i5", key, [PatchOperation.Remove("/none")])),
            Raw(bulk.CreateItemStreamAsync(Utf8("""{"id":"bad","pk":"p0","ttl":0}"""), key)));
        Assert.Equal([201, 200, 200, 200, 200, 204, 409, 404, 412, 412, 400, 400], statuses);
    }

    [Fact]
    public async Task EveryKindOfKey()
    {
        await Task.WhenAll(
            bulk.CreateItemAsync<object>(new { id = "k" }, PartitionKey.None),
            bulk.CreateItemAsync<object>(new { id = "k", pk = (string?)null }, PartitionKey.Null),
            bulk.CreateItemAsync<object>(new { id = "k", pk = 2.5 }, new PartitionKey(2.5)),
            bulk.CreateItemAsync<object>(new { id = "k", pk = false }, new PartitionKey(false)),
            bulk.CreateItemAsync<object>(new { id = "k", pk = "ü\"" }, Pk("ü\"")));
        await Task.WhenAll(
            bulk.DeleteItemAsync<object>("k", PartitionKey.None),
            bulk.DeleteItemAsync<object>("k", new PartitionKey(2.5)));
        Assert.Equal(3, await One<int>(c, "SELECT VALUE COUNT(1) FROM c"));
        await Db.CreateContainerAsync(new ContainerProperties("two", ["/t", "/u"]));
        var two = client.GetContainer(Db.Id, "two");
        await Task.WhenAll(Enumerable.Range(0, 20).Select(i => two.UpsertItemAsync(
            new { id = "i" + i, t = "t" + i % 2, u = i }, new PartitionKeyBuilder().Add("t" + i % 2).Add(i).Build())));
        Assert.Equal(10, await One<int>(two, "SELECT VALUE COUNT(1) FROM c WHERE c.t = 't1'"));
    }

    [Fact]
    public async Task AnItemThatIsTooLargeFailsAlone()
    {
        var large = new Item("big", "b") { name = new string('x', 2_300_000) };
        var refused = bulk.CreateItemAsync(large, Pk("b"));
        await Create(10, 1);
        await Fails(413, () => refused);
    }

    [Fact]
    public async Task ReadsOfMoreThanOneAnswerHolds()
    {
        for (var i = 0; i < 8; i++) await c.UpsertItemAsync(new Item("r" + i, "r") { name = new string('x', 900_000) });
        var read = Enumerable.Range(0, 8).Select(i => bulk.ReadItemAsync<Item>("r" + i, Pk("r")));
        Assert.All(await Task.WhenAll(read), answer => Assert.Equal(900_000, answer.Resource.name!.Length));
    }

    [Fact]
    public async Task NoContentOnWrite()
    {
        using var silent = NewClient(options =>
        {
            options.AllowBulkExecution = true;
            options.EnableContentResponseOnWrite = false;
        });
        var container = silent.GetContainer(Db.Id, "c");
        var made = Enumerable.Range(0, 30).Select(i => container.UpsertItemAsync(new Item("n" + i, "n"), Pk("n")));
        Assert.All(await Task.WhenAll(made), answer => Assert.True(answer.Resource == null && answer.ETag != null));
    }

    [Fact]
    public async Task TimeToLive()
    {
        await Task.WhenAll(Enumerable.Range(0, 10).Select(i =>
            bulk.CreateItemAsync(new Item("t" + i, "t") { ttl = i % 2 == 0 ? 10 : -1 }, Pk("t"))));
        await Advance(10);
        Assert.Equal(5, await One<int>(c, "SELECT VALUE COUNT(1) FROM c"));
        await Fails(404, () => bulk.ReadItemAsync<Item>("t0", Pk("t")));
        var again = await bulk.CreateItemAsync(new Item("t0", "t"), Pk("t"));
        Assert.Equal(HttpStatusCode.Created, again.StatusCode);
    }
}
