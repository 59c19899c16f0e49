using System.Net;
using Microsoft.Azure.Cosmos;
using Newtonsoft.Json.Linq;

/// <summary>Point operations.</summary>
public class ItemTests : CosmosTest
{
    Container c = null!;
    readonly PartitionKey a = Pk("a");

    public override async Task InitializeAsync()
    {
        await base.InitializeAsync();
        c = await NewContainer();
    }

    [Fact]
    public async Task CreateReadUpsertReplaceDelete()
    {
        Database database = await Client.CreateDatabaseIfNotExistsAsync(Db.Id);
        Container container = await database.CreateContainerIfNotExistsAsync(new ContainerProperties("c", "/pk"));
        ItemResponse<Item> created = await container.CreateItemAsync(new Item("1", "a", 1), new PartitionKey("a"));
        Assert.Equal(HttpStatusCode.Created, created.StatusCode);
        Assert.True(created.RequestCharge > 0);
        Assert.Equal(created.ETag, created.Resource._etag);
        await Fails(409, () => c.CreateItemAsync(new Item("1", "a")));
        Assert.Equal(1, (await c.ReadItemAsync<Item>("1", a)).Resource.n);
        var upserted = await c.UpsertItemAsync(new Item("1", "a", 2));
        Assert.Equal(HttpStatusCode.OK, upserted.StatusCode);
        Assert.Equal(HttpStatusCode.Created, (await c.UpsertItemAsync(new Item("2", "b"))).StatusCode);
        var unchanged = new ItemRequestOptions { IfMatchEtag = upserted.ETag };
        Assert.Equal(3, (await c.ReplaceItemAsync(new Item("1", "a", 3), "1", a, unchanged)).Resource.n);
        await Fails(412, () => c.ReplaceItemAsync(new Item("1", "a", 4), "1", a, unchanged));
        Assert.Equal(HttpStatusCode.NoContent, (await c.DeleteItemAsync<Item>("1", a)).StatusCode);
        await Fails(404, () => c.ReadItemAsync<Item>("1", a));
    }

    [Fact]
    public async Task Streams()
    {
        async Task Is(HttpStatusCode status, Task<ResponseMessage> call, Action<ResponseMessage>? more = null)
        {
            using var message = await call;
            Assert.Equal(status, message.StatusCode);
            more?.Invoke(message);
        }
        int N(ResponseMessage message) => (int)JObject.Parse(Text(message.Content))["n"]!;
        await Is(HttpStatusCode.Created, c.CreateItemStreamAsync(Utf8("""{"id":"s","pk":"a","n":1}"""), a));
        await Is(HttpStatusCode.Conflict, c.CreateItemStreamAsync(Utf8("""{"id":"s","pk":"a"}"""), a),
            message => Assert.Contains("already exists", message.ErrorMessage));
        await Is(HttpStatusCode.OK, c.ReadItemStreamAsync("s", a), message =>
        {
            Assert.Equal(1, N(message));
            Assert.NotNull(message.Headers.ETag);
            Assert.NotNull(message.Headers.Session);
            Assert.NotNull(message.Headers.ActivityId);
        });
        await Is(HttpStatusCode.OK, c.UpsertItemStreamAsync(Utf8("""{"id":"s","pk":"a","n":2}"""), a));
        await Is(HttpStatusCode.OK, c.ReplaceItemStreamAsync(Utf8("""{"id":"s","pk":"a","n":3}"""), "s", a));
        await Is(HttpStatusCode.OK, c.PatchItemStreamAsync("s", a, [PatchOperation.Increment("/n", 1)]),
            message => Assert.Equal(4, N(message)));
        await Is(HttpStatusCode.NoContent, c.DeleteItemStreamAsync("s", a));
        await Is(HttpStatusCode.NotFound, c.ReadItemStreamAsync("s", a));
        await Is(HttpStatusCode.BadRequest, c.CreateItemStreamAsync(Utf8("""{"id":"s","pk":"""), a));
        await Is(HttpStatusCode.BadRequest, c.CreateItemStreamAsync(Utf8("""{"pk":"a"}"""), a),
            message => Assert.Contains("id", message.ErrorMessage));
    }

    [Fact]
    public async Task ETags()
    {
        var first = await c.CreateItemAsync(new Item("e", "a"), a);
        await Fails(304, () => c.ReadItemAsync<Item>("e", a, new() { IfNoneMatchEtag = first.ETag }));
        await c.ReadItemAsync<Item>("e", a, new() { IfNoneMatchEtag = "\"old\"" });
        var second = await c.UpsertItemAsync(new Item("e", "a", 2), a, new() { IfMatchEtag = first.ETag });
        Assert.NotEqual(first.ETag, second.ETag);
        var stale = new ItemRequestOptions { IfMatchEtag = first.ETag };
        var set = new[] { PatchOperation.Set("/n", 1) };
        await Fails(412, () => c.UpsertItemAsync(new Item("e", "a"), a, stale));
        await Fails(412, () => c.ReplaceItemAsync(new Item("e", "a"), "e", a, stale));
        await Fails(412, () => c.DeleteItemAsync<Item>("e", a, stale));
        await Fails(412, () => c.PatchItemAsync<Item>("e", a, set, new() { IfMatchEtag = first.ETag }));
        await c.ReplaceItemAsync(new Item("e", "a"), "e", a, new() { IfMatchEtag = "*" });
        await Fails(409, () => c.CreateItemAsync(new Item("e", "a"), a, new() { IfNoneMatchEtag = "*" }));
    }

    [Fact]
    public async Task EveryPatch()
    {
        var o = new { x = 1, y = 2 };
        await c.CreateItemAsync(new { id = "p", pk = "a", n = 1, d = 1.5, list = new[] { 1, 2, 3 }, o }, a);
        PatchOperation[] all =
        [
            PatchOperation.Add("/list/1", 9), PatchOperation.Add("/list/-", 4),
            PatchOperation.Set("/o/z", new { deep = true }), PatchOperation.Replace("/n", 5),
            PatchOperation.Remove("/o/x"), PatchOperation.Increment("/n", 2), PatchOperation.Increment("/d", 0.25),
            PatchOperation.Move("/o/y", "/moved"), PatchOperation.Set("/null", (string?)null),
            PatchOperation.Add("/new", new[] { "a" }),
        ];
        JObject patched = await c.PatchItemAsync<JObject>("p", a, all);
        foreach (var gone in patched.Properties().Where(p => p.Name[0] == '_').ToList()) gone.Remove();
        var want = JObject.Parse("""
            {"id": "p", "pk": "a", "n": 7, "d": 1.75, "list": [1, 9, 2, 3, 4], "o": {"z": {"deep": true}},
             "moved": 2, "null": null, "new": ["a"]}
            """);
        Assert.True(JToken.DeepEquals(want, patched), patched.ToString());
    }

    [Fact]
    public async Task PatchesThatAreRefused()
    {
        await c.CreateItemAsync(new { id = "p", pk = "a", n = 7, list = new[] { 1 } }, a);
        Task Patch(params PatchOperation[] operations) => c.PatchItemAsync<JObject>("p", a, operations);
        await Fails(400, () => Patch(PatchOperation.Replace("/none", 1)));
        await Fails(400, () => Patch(PatchOperation.Remove("/none")));
        await Fails(400, () => Patch(PatchOperation.Increment("/list", 1)));
        await Fails(400, () => Patch(PatchOperation.Set("/id", "q")));
        await Fails(400, () => Patch(PatchOperation.Set("/pk", "q")));
        await Fails(400, () => Patch([.. Enumerable.Range(0, 11).Select(i => PatchOperation.Set("/f" + i, i))]));
        PatchOperation[] one = [PatchOperation.Increment("/n", 1)];
        await Fails(404, () => c.PatchItemAsync<JObject>("none", a, one));
        var condition = new PatchItemRequestOptions { FilterPredicate = "FROM c WHERE c.n = 7" };
        Assert.Equal(8, (int)(await c.PatchItemAsync<JObject>("p", a, one, condition)).Resource["n"]!);
        await Fails(412, () => c.PatchItemAsync<JObject>("p", a, one, condition));
        await Fails(400, () => c.PatchItemAsync<JObject>("p", a, one, new() { FilterPredicate = "WHERE WHERE" }));
    }

    [Fact]
    public async Task NoContentOnWrite()
    {
        var silent = new ItemRequestOptions { EnableContentResponseOnWrite = false };
        var created = await c.CreateItemAsync(new Item("m", "a"), a, silent);
        Assert.Null(created.Resource);
        Assert.NotNull(created.ETag);
        Assert.Null((await c.UpsertItemAsync(new Item("m", "a"), a, silent)).Resource);
        Assert.Null((await c.ReplaceItemAsync(new Item("m", "a"), "m", a, silent)).Resource);
        PatchOperation[] set = [PatchOperation.Set("/n", 4)];
        Assert.Null((await c.PatchItemAsync<Item>("m", a, set, new() { EnableContentResponseOnWrite = false })).Resource);
        Assert.Equal(4, (await c.ReadItemAsync<Item>("m", a, silent)).Resource.n);
        using var client = NewClient(options => options.EnableContentResponseOnWrite = false);
        Assert.Null((await client.GetContainer(Db.Id, "c").UpsertItemAsync(new Item("m", "a"), a)).Resource);
    }

    [Fact]
    public async Task OptionsWithoutEffectAreAccepted()
    {
        await c.UpsertItemAsync(new Item("x", "a"), a, new() { IndexingDirective = IndexingDirective.Exclude });
        await c.UpsertItemAsync(new Item("x", "a"), a, new() { PriorityLevel = PriorityLevel.Low });
        var cache = new DedicatedGatewayRequestOptions { MaxIntegratedCacheStaleness = TimeSpan.FromMinutes(5) };
        await c.ReadItemAsync<Item>("x", a, new() { DedicatedGatewayRequestOptions = cache });
    }

    [Fact]
    public async Task SessionTokensAndConsistency()
    {
        var written = await c.UpsertItemAsync(new Item("se", "a", 5), a);
        using var client = NewClient();
        var other = client.GetContainer(Db.Id, "c");
        var session = new ItemRequestOptions { SessionToken = written.Headers.Session };
        Assert.Equal(5, (await other.ReadItemAsync<Item>("se", a, session)).Resource.n);
        foreach (var level in new[] { ConsistencyLevel.ConsistentPrefix, ConsistencyLevel.Eventual })
        {
            using var weak = NewClient(options => options.ConsistencyLevel = level);
            Assert.Equal(5, (await weak.GetContainer(Db.Id, "c").ReadItemAsync<Item>("se", a)).Resource.n);
        }
        using var strong = NewClient(options => options.ConsistencyLevel = ConsistencyLevel.Strong);
        await Assert.ThrowsAsync<ArgumentException>(() =>
            strong.GetContainer(Db.Id, "c").ReadItemAsync<Item>("se", a));
        var future = new ItemRequestOptions { SessionToken = "0:-1#99999999" };
        Assert.Equal(1002, (await Fails(404, () => other.ReadItemAsync<Item>("se", a, future))).SubStatusCode);
    }

    [Theory]
    [InlineData("with space")]
    [InlineData("ümläut-😀")]
    [InlineData("a+b")]
    [InlineData("a&b=c")]
    [InlineData("it's \"so\"")]
    [InlineData("a:b;c")]
    public async Task IdsThatAreHard(string id)
    {
        foreach (var hard in new[] { id, id + new string('i', 1000) })
        {
            Assert.Equal(hard, (await c.UpsertItemAsync(new Item(hard, "a"), a)).Resource.id);
            Assert.Equal(hard, (await c.ReadItemAsync<Item>(hard, a)).Resource.id);
            await c.DeleteItemAsync<Item>(hard, a);
        }
    }

    // What the SDK's own tests expect of the service for create, read, replace and delete, in gateway mode and in
    // direct mode.
    [Theory]
    [InlineData("This is a test", "201 200 200 204", "201 200 200 204")]
    [InlineData(" Test", "201 200 200 204", "201 200 200 204")]
    [InlineData("Test ", "201 401 401 401", "201 200 200 204")]
    [InlineData("WithUnicode鱀", "201 200 200 204", "201 200 200 204")]
    [InlineData("WithAllowedSpecial,=.:~+-@()^${}[]!_Chars", "201 200 200 204", "201 200 200 204")]
    [InlineData("Disallowed?Chars", "201 200 200 204", "201 200 200 204")]
    [InlineData("Disallowed/Chars", "201 404 404 404", "201 404 404 404")]
    [InlineData("Disallowed#Chars", "201 401 401 401", "201 200 200 204")]
    [InlineData("Disallowed\\Chars", "400 404 404 404", "400 404 404 404")]
    [InlineData("IdEndingWithPercentEncodedWhitespace%20", "201 401 401 401", "201 200 200 204")]
    public async Task IdsInPaths(string id, string gateway, string direct)
    {
        var body = JObject.FromObject(new { id, pk = "a" }).ToString();
        var got = new List<int>();
        foreach (var call in new Func<Task<ResponseMessage>>[]
        {
            () => c.CreateItemStreamAsync(Utf8(body), a), () => c.ReadItemStreamAsync(id, a),
            () => c.ReplaceItemStreamAsync(Utf8(body), id, a), () => c.DeleteItemStreamAsync(id, a),
        })
        {
            using var message = await call();
            got.Add((int)message.StatusCode);
        }
        Assert.Equal(Direct ? direct : gateway, string.Join(' ', got));
    }

    [Fact]
    public async Task ValuesAndKeysThatAreHard()
    {
        var text = "line\nend\u2028\u0000x";
        var written = new { id = "v", pk = "a", big = long.MaxValue, d = 0.1, e = 1e300, text };
        JObject back = await c.UpsertItemAsync(JObject.FromObject(written), a);
        Assert.Equal((text, 0.1, 1e300), ((string?)back["text"], (double)back["d"]!, (double)back["e"]!));
        foreach (var key in new[] { "ü\"\\/😀", "", " ", new string('k', 2000) })
        {
            await c.UpsertItemAsync(new Item("k", key), Pk(key));
            Assert.Equal(key, (await c.ReadItemAsync<Item>("k", Pk(key))).Resource.pk);
        }
        await Fails(400, () => c.CreateItemAsync(new Item("k", "x"), Pk("y")));
    }

    [Fact]
    public async Task Sizes()
    {
        await c.UpsertItemAsync(new Item("big", "a") { name = new string('x', 2_000_000) }, a);
        await Fails(413, () => c.UpsertItemAsync(new Item("big", "a") { name = new string('x', 2_300_000) }, a));
        await Fails(400, () => c.UpsertItemAsync(new Item(new string('i', 1024), "a"), a));
    }

    class Plain
    {
        public string Id { get; set; } = "";
        public string Pk { get; set; } = "";
        public int SomeValue { get; set; }
        public string? Missing { get; set; }
    }

    [Fact]
    public async Task Serializers()
    {
        using var camel = NewClient(options => options.SerializerOptions = new()
        {
            PropertyNamingPolicy = CosmosPropertyNamingPolicy.CamelCase, IgnoreNullValues = true,
        });
        await camel.GetContainer(Db.Id, "c").UpsertItemAsync(new Plain { Id = "s", Pk = "a", SomeValue = 3 }, a);
        JObject raw = await c.ReadItemAsync<JObject>("s", a);
        Assert.Equal(3, (int)raw["someValue"]!);
        Assert.False(raw.ContainsKey("missing"));
        using var system = NewClient(options => options.UseSystemTextJsonSerializerWithOptions = new()
        {
            PropertyNamingPolicy = System.Text.Json.JsonNamingPolicy.CamelCase,
        });
        var read = system.GetContainer(Db.Id, "c");
        Assert.Equal(3, (await read.ReadItemAsync<Plain>("s", a)).Resource.SomeValue);
        Assert.Equal(3, (await One<Plain>(read, "SELECT * FROM c WHERE c.id = 's'")).SomeValue);
    }

    [Fact]
    public async Task NamesThatAreNotThere()
    {
        await Fails(404, () => Db.GetContainer("none").ReadItemAsync<Item>("1", a));
        await Fails(404, () => Client.GetContainer("none", "none").UpsertItemAsync(new Item("1", "a")));
    }

    [Fact]
    public async Task AContainerThatIsDroppedAndMadeAnewUnderAClient()
    {
        await c.UpsertItemAsync(new Item("1", "a"));
        using (var other = NewClient())
        {
            var again = other.GetContainer(Db.Id, "c");
            await again.DeleteContainerAsync();
            await other.GetDatabase(Db.Id).CreateContainerAsync("c", "/name");
        }
        await c.UpsertItemAsync(new Item("1", "a") { name = "b" });
        Assert.Equal("b", (await c.ReadItemAsync<Item>("1", Pk("b"))).Resource.name);
        Assert.Equal("1", await One<string>(c, "SELECT VALUE c.id FROM c ORDER BY c.n"));
    }

    [Fact]
    public async Task WritersThatMeetLoseNothing()
    {
        await c.CreateItemAsync(new Item("count", "a"));
        async Task Add()
        {
            while (true)
            {
                var read = await c.ReadItemAsync<Item>("count", a);
                var next = read.Resource with { n = read.Resource.n + 1 };
                try
                {
                    await c.ReplaceItemAsync(next, "count", a, new() { IfMatchEtag = read.ETag });
                    return;
                }
                catch (CosmosException e) when (e.StatusCode == HttpStatusCode.PreconditionFailed) { }
            }
        }
        await Task.WhenAll(Enumerable.Range(0, 20).Select(_ => Add()));
        Assert.Equal(20, (await c.ReadItemAsync<Item>("count", a)).Resource.n);
    }
}
