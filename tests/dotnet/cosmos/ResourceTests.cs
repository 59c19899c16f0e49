using System.Collections.ObjectModel;
using System.Net;
using Microsoft.Azure.Cosmos;
using Newtonsoft.Json.Linq;

/// <summary>Databases, containers and their policies, throughput, keys of partitions.</summary>
public class ResourceTests : CosmosTest
{
    [Fact]
    public async Task Databases()
    {
        Assert.Equal(Db.Id, (await Db.ReadAsync()).Resource.Id);
        var query = $"SELECT * FROM c WHERE c.id = '{Db.Id}'";
        Assert.Single(await All(Client.GetDatabaseQueryIterator<DatabaseProperties>(query)));
        Assert.Contains(Db.Id, (await All(Client.GetDatabaseQueryIterator<DatabaseProperties>())).Select(db => db.Id));
        await Fails(409, () => Client.CreateDatabaseAsync(Db.Id));
        await Fails(404, () => Client.GetDatabase("none").ReadAsync());
        await Fails(404, () => Client.GetDatabase("none").DeleteAsync());
        Assert.Equal(HttpStatusCode.OK, (await Client.CreateDatabaseIfNotExistsAsync(Db.Id)).StatusCode);
    }

    [Fact]
    public async Task Containers()
    {
        var c = await NewContainer();
        ContainerProperties properties = await c.ReadContainerAsync();
        Assert.Equal("/pk", properties.PartitionKeyPath);
        await NewContainer("d");
        Assert.Equal(2, (await All(Db.GetContainerQueryIterator<ContainerProperties>())).Count);
        var query = "SELECT * FROM c WHERE c.id = 'd'";
        Assert.Single(await All(Db.GetContainerQueryIterator<ContainerProperties>(query)));
        await Fails(409, () => NewContainer());
        properties.PartitionKeyPath = "/other";
        await Fails(400, () => c.ReplaceContainerAsync(properties));
        var quota = await c.ReadContainerAsync(new ContainerRequestOptions { PopulateQuotaInfo = true });
        Assert.NotNull(quota.Headers["x-ms-resource-usage"]);
        Assert.Equal(HttpStatusCode.NoContent, (await c.DeleteContainerAsync()).StatusCode);
        await Fails(404, () => c.ReadContainerAsync());
    }

    [Fact]
    public async Task Throughput()
    {
        Container manual = await Db.CreateContainerAsync("manual", "/pk", 500);
        Assert.Equal(500, await manual.ReadThroughputAsync());
        Assert.Equal(700, (await manual.ReplaceThroughputAsync(700)).Resource.Throughput);
        Container auto = await Db.CreateContainerAsync(
            new ContainerProperties("auto", "/pk"), ThroughputProperties.CreateAutoscaleThroughput(4000));
        Assert.Equal(4000, (await auto.ReadThroughputAsync(new RequestOptions())).Resource.AutoscaleMaxThroughput);
        var more = await auto.ReplaceThroughputAsync(ThroughputProperties.CreateAutoscaleThroughput(6000));
        Assert.Equal(6000, more.Resource.AutoscaleMaxThroughput);
        Database shared = await Client.CreateDatabaseAsync(Db.Id + "-shared", 1000);
        Container sharing = await shared.CreateContainerAsync("c", "/pk");
        Assert.Equal(1000, await shared.ReadThroughputAsync());
        Assert.Null(await sharing.ReadThroughputAsync());
        await Fails(404, () => sharing.ReadThroughputAsync(new RequestOptions()));
        await shared.DeleteAsync();
        await Fails(400, () => Db.CreateContainerAsync("bad", "/pk", 10));
        await Fails(400, () => Db.CreateContainerAsync("bad", "/pk", 450));
    }

    [Fact]
    public async Task UniqueKeys()
    {
        Container c = await Db.DefineContainer("unique", "/pk")
            .WithUniqueKey().Path("/a/b").Path("/c").Attach().WithUniqueKey().Path("/e").Attach().CreateAsync();
        Assert.Equal(2, (await c.ReadContainerAsync()).Resource.UniqueKeyPolicy.UniqueKeys.Count);
        object Of(string id, string pk, int b, int e) => new { id, pk, a = new { b }, c = 2, e };
        await c.CreateItemAsync(Of("1", "a", 1, 3));
        await Fails(409, () => c.CreateItemAsync(Of("2", "a", 1, 4)));
        await Fails(409, () => c.UpsertItemAsync(Of("2", "a", 2, 3)));
        await c.CreateItemAsync(Of("2", "b", 1, 3));
    }

    [Fact]
    public async Task ConflictPolicies()
    {
        Container last = await Db.DefineContainer("last", "/pk")
            .WithConflictResolution().WithLastWriterWinsResolution("/when").Attach().CreateAsync();
        var policy = (await last.ReadContainerAsync()).Resource.ConflictResolutionPolicy;
        Assert.Equal((ConflictResolutionMode.LastWriterWins, "/when"), (policy.Mode, policy.ResolutionPath));
        Container custom = await Db.DefineContainer("custom", "/pk")
            .WithConflictResolution().WithCustomStoredProcedureResolution("resolve").Attach().CreateAsync();
        Assert.Equal(ConflictResolutionMode.Custom,
            (await custom.ReadContainerAsync()).Resource.ConflictResolutionPolicy.Mode);
        Assert.Empty(await All(custom.Conflicts.GetConflictQueryIterator<ConflictProperties>()));
    }

    [Fact]
    public async Task IndexingPolicies()
    {
        var properties = new ContainerProperties("index", "/pk")
        {
            GeospatialConfig = new GeospatialConfig(GeospatialType.Geography),
        };
        var policy = properties.IndexingPolicy;
        policy.IncludedPaths.Add(new IncludedPath { Path = "/*" });
        policy.ExcludedPaths.Add(new ExcludedPath { Path = "/big/*" });
        policy.CompositeIndexes.Add(
            [new() { Path = "/n" }, new() { Path = "/name", Order = CompositePathSortOrder.Descending }]);
        policy.SpatialIndexes.Add(new SpatialPath { Path = "/place/*", SpatialTypes = { SpatialType.Point } });
        Container c = await Db.CreateContainerAsync(properties);
        ContainerProperties kept = await c.ReadContainerAsync();
        Assert.Equal(CompositePathSortOrder.Descending, kept.IndexingPolicy.CompositeIndexes[0][1].Order);
        Assert.Single(kept.IndexingPolicy.SpatialIndexes);
        Assert.Contains(kept.IndexingPolicy.ExcludedPaths, path => path.Path == "/big/*");
        Assert.Equal(GeospatialType.Geography, kept.GeospatialConfig.GeospatialType);
        kept.IndexingPolicy.CompositeIndexes.Clear();
        await c.ReplaceContainerAsync(kept);
        var after = await c.ReadContainerAsync(new ContainerRequestOptions { PopulateQuotaInfo = true });
        Assert.Empty(after.Resource.IndexingPolicy.CompositeIndexes);
        Assert.Equal("100", after.Headers["x-ms-documentdb-collection-index-transformation-progress"]);
        kept.IndexingPolicy = new IndexingPolicy { IndexingMode = IndexingMode.None, Automatic = false };
        Assert.Equal(IndexingMode.None, (await c.ReplaceContainerAsync(kept)).Resource.IndexingPolicy.IndexingMode);
    }

    [Fact]
    public async Task PoliciesOfSearchAreKept()
    {
        var properties = new ContainerProperties("search", "/pk")
        {
            VectorEmbeddingPolicy = new VectorEmbeddingPolicy(new Collection<Embedding>
            {
                new()
                {
                    Path = "/v", DataType = VectorDataType.Float32, DistanceFunction = DistanceFunction.Cosine,
                    Dimensions = 3,
                },
            }),
            FullTextPolicy = new FullTextPolicy
            {
                DefaultLanguage = "en-US", FullTextPaths = [new() { Path = "/text", Language = "en-US" }],
            },
        };
        properties.IndexingPolicy.VectorIndexes.Add(new() { Path = "/v", Type = VectorIndexType.Flat });
        properties.IndexingPolicy.FullTextIndexes.Add(new() { Path = "/text" });
        properties.IndexingPolicy.IncludedPaths.Add(new() { Path = "/*" });
        properties.IndexingPolicy.ExcludedPaths.Add(new() { Path = "/v/*" });
        ContainerProperties kept = await Db.CreateContainerAsync(properties);
        Assert.Equal(3, Assert.Single(kept.VectorEmbeddingPolicy.Embeddings).Dimensions);
        Assert.Equal(VectorIndexType.Flat, Assert.Single(kept.IndexingPolicy.VectorIndexes).Type);
        Assert.Equal("/text", Assert.Single(kept.FullTextPolicy.FullTextPaths).Path);
        Assert.Equal("/text", Assert.Single(kept.IndexingPolicy.FullTextIndexes).Path);
    }

    [Fact]
    public async Task EveryKindOfPartitionKey()
    {
        var c = await NewContainer("kinds", "/a/b");
        await c.CreateItemAsync<object>(new { id = "1", a = new { b = 1.5 } }, new PartitionKey(1.5));
        await c.CreateItemAsync<object>(new { id = "1", a = new { b = true } }, new PartitionKey(true));
        await c.CreateItemAsync<object>(new { id = "1", a = new { b = (string?)null } }, PartitionKey.Null);
        await c.CreateItemAsync<object>(new { id = "1" }, PartitionKey.None);
        Assert.Equal(4, (await Query<object>(c, "SELECT * FROM c")).Count);
        foreach (var key in new[] { new PartitionKey(1.5), new PartitionKey(true), PartitionKey.Null, PartitionKey.None })
        {
            await c.ReadItemAsync<object>("1", key);
            await One<object>(c, "SELECT * FROM c", new() { PartitionKey = key });
        }
        await Fails(400, () => c.CreateItemAsync<object>(new { id = "2", a = new { b = "x" } }, Pk("y")));
    }

    static PartitionKey Parts(params object[] parts)
    {
        var key = new PartitionKeyBuilder();
        foreach (var part in parts) _ = part is int number ? key.Add(number) : key.Add((string)part);
        return key.Build();
    }

    [Fact]
    public async Task HierarchicalPartitionKeys()
    {
        Container c = await Db.CreateContainerAsync(new ContainerProperties("h", ["/t", "/u", "/s"]));
        Assert.Equal(["/t", "/u", "/s"], (await c.ReadContainerAsync()).Resource.PartitionKeyPaths);
        foreach (var t in new[] { "t1", "t2" })
            foreach (var u in new[] { "u1", "u2" })
                foreach (var s in new[] { 1, 2 })
                    await c.CreateItemAsync(new { id = t + u + s, t, u, s }, Parts(t, u, s));
        await c.CreateItemAsync(new { id = "null", t = "t3", u = "u1", s = (string?)null });
        var partly = new PartitionKeyBuilder().Add("t3").AddNoneType().AddNoneType().Build();
        await c.CreateItemAsync<object>(new { id = "part", t = "t3" }, partly);
        await c.ReadItemAsync<JObject>("t1u21", Parts("t1", "u2", 1));
        async Task<int> Rows(string sql, params object[] prefix) =>
            (await Query<JObject>(c, sql, new() { PartitionKey = Parts(prefix) })).Count;
        Assert.Equal(4, await Rows("SELECT * FROM c", "t1"));
        Assert.Equal(2, await Rows("SELECT * FROM c ORDER BY c.s", "t1", "u1"));
        Assert.Equal(2, await Rows("SELECT * FROM c", "t3"));
        Assert.Equal(2, (await c.ReadManyItemsAsync<JObject>(
            [("t1u11", Parts("t1", "u1", 1)), ("part", partly)])).Count);
        using var deleted = await c.DeleteAllItemsByPartitionKeyStreamAsync(Parts("t2", "u2", 1));
        Assert.Equal(HttpStatusCode.OK, deleted.StatusCode);
        Assert.Equal(3, await One<int>(c, "SELECT VALUE COUNT(1) FROM c WHERE c.t = 't2'"));
    }

    [Fact]
    public async Task DeleteByPartitionKey()
    {
        var c = await NewContainer();
        for (var i = 0; i < 10; i++) await c.CreateItemAsync(new Item("i" + i, "p" + i % 2));
        using var deleted = await c.DeleteAllItemsByPartitionKeyStreamAsync(Pk("p0"));
        Assert.Equal(HttpStatusCode.OK, deleted.StatusCode);
        Assert.Equal(["p1"], await Query<string>(c, "SELECT DISTINCT VALUE c.pk FROM c"));
    }
}
