using Microsoft.Azure.Cosmos;
using Newtonsoft.Json.Linq;

/// <summary>
/// What people reported in public trackers of other servers and of the SDK, tried here. E names an issue of
/// Azure/azure-cosmos-db-emulator-docker, V one of Azure/azure-cosmos-dotnet-v3.
/// </summary>
public class ReportTests : CosmosTest
{
    [Fact]
    public async Task E192_TwoPropertiesAreCompared()
    {
        var c = await NewContainer();
        await c.CreateItemAsync(new { id = "1", pk = "a", Type = "User", TenantCode = "t", PrimaryTenantCode = "t" });
        await One<JObject>(c, """
            SELECT c FROM root c WHERE c.Type = "User" AND c.TenantCode = c.PrimaryTenantCode
            """);
        var query = new QueryDefinition("SELECT * FROM root WHERE root.id = @id").WithParameter("@id", "1"); // E293
        Assert.Single(await All(c.GetItemQueryIterator<JObject>(query)));
    }

    [Fact]
    public async Task E226_AKeyThatDiffersFromTheItemsIs400()
    {
        var c = await NewContainer();
        await Fails(400, () => c.UpsertItemAsync(new Item("m", "x"), Pk("y")));
        await Fails(400, () => c.CreateItemAsync(new Item("m", "x"), Pk("y")));
    }

    [Fact]
    public async Task E266_PatchesInABatchOfAContainerById()
    {
        var c = await NewContainer("byid", "/id");
        await c.UpsertItemAsync<object>(new { id = "1", name = "test" }, Pk("1"));
        using var answer = await c.CreateTransactionalBatch(Pk("1"))
            .PatchItem("1", [PatchOperation.Set("/name", "new")])
            .PatchItem("1", [PatchOperation.Replace("/name", "newer")]).ExecuteAsync();
        Assert.True(answer.IsSuccessStatusCode, answer.ErrorMessage);
        Assert.Equal("newer", await One<string>(c, "SELECT VALUE c.name FROM c"));
    }

    [Fact]
    public async Task E279_NullInAHierarchicalKey()
    {
        Container c = await Db.CreateContainerAsync(new ContainerProperties("h", ["/workspaceId", "/ownerId"]));
        var key = new PartitionKeyBuilder().Add("ws-1").AddNullValue().Build();
        await c.CreateItemAsync(new { id = "1", workspaceId = "ws-1", ownerId = (string?)null }, key);
        await c.ReadItemAsync<JObject>("1", key);
        await One<JObject>(c, "SELECT * FROM c", new() { PartitionKey = key });
    }

    [Fact]
    public async Task E290_E329_APrefixOfAHierarchicalKey()
    {
        Container c = await Db.CreateContainerAsync(new ContainerProperties("h", ["/k1", "/k2", "/k3"]));
        foreach (var (id, k1, k2, k3) in new[]
            { ("1", "PK1", 1, true), ("2", "PK1", 1, true), ("3", "PK1", 2, false), ("4", "PK2", 1, true) })
            await c.CreateItemAsync(new { id, k1, k2, k3 });
        Task<List<string>> Ids(PartitionKeyBuilder key) =>
            Query<string>(c, "SELECT VALUE c.id FROM root c", new() { PartitionKey = key.Build() });
        Assert.Equal(["1", "2"], (await Ids(new PartitionKeyBuilder().Add("PK1").Add(1))).Order());
        Assert.Equal(["1", "2", "3"], (await Ids(new PartitionKeyBuilder().Add("PK1"))).Order());
    }

    [Fact]
    public async Task V2643_V3136_V4946_ReadManyWithoutKeys()
    {
        var c = await NewContainer();
        for (var i = 0; i < 3; i++) await c.CreateItemAsync<object>(new { id = "n" + i }, PartitionKey.None);
        var none = Enumerable.Range(0, 3).Select(i => ("n" + i, PartitionKey.None)).ToList();
        Assert.Equal(3, (await c.ReadManyItemsAsync<JObject>(none)).Count);
        Container h = await Db.CreateContainerAsync(new ContainerProperties("h", ["/tenant", "/user"]));
        var key = new PartitionKeyBuilder().Add("t").AddNoneType().Build();
        foreach (var id in new[] { "x", "y" }) await h.CreateItemAsync<object>(new { id, tenant = "t" }, key);
        Assert.Equal(2, (await h.ReadManyItemsAsync<JObject>([("x", key), ("y", key)])).Count);
    }

    [Fact]
    public async Task V4339_DistinctOrderedByAnotherProperty()
    {
        var c = await NewContainer();
        for (var i = 0; i < 30; i++)
            await c.CreateItemAsync(new { id = "c" + i, pk = "a", City = "city" + i % 7, CustomerID = $"C{i:00}" });
        foreach (var size in new int?[] { null, 1, 4 })
            Assert.Equal(7, (await Query<JObject>(c, """SELECT DISTINCT c["City"] FROM root c ORDER BY c["CustomerID"]""",
                new() { MaxItemCount = size })).Count);
    }

    [Fact]
    public async Task V5545_AFailedBatchHasAMessage()
    {
        var c = await NewContainer();
        await c.CreateItemAsync(new Item("1", "a"));
        using var answer = await c.CreateTransactionalBatch(Pk("a")).CreateItem(new Item("1", "a")).ExecuteAsync();
        Assert.NotEmpty(answer.ErrorMessage);
    }
}
