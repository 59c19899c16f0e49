using System.Net;
using Microsoft.Azure.Cosmos;

/// <summary>Time to live, to the second, on every path to an item.</summary>
[Collection("clock")]
public class TimeToLiveTests : CosmosTest
{
    const int Day = 86400;
    readonly PartitionKey x = Pk("x");

    async Task<Container> WithDefault(int? seconds, string id = "c") =>
        await Db.CreateContainerAsync(new ContainerProperties(id, "/pk") { DefaultTimeToLive = seconds });

    static Item Living(string id, int? ttl) => new(id, "x") { ttl = ttl };

    async Task<bool> IsSeen(Container c, string id)
    {
        using var read = await c.ReadItemStreamAsync(id, x);
        var there = read.StatusCode == HttpStatusCode.OK;
        if (!there) Assert.Equal(HttpStatusCode.NotFound, read.StatusCode);
        var times = there ? 1 : 0;
        Assert.Equal(times, await One<int>(c, $"SELECT VALUE COUNT(1) FROM c WHERE c.id = '{id}'"));
        Assert.Equal(times, (await Query<Item>(c, $"SELECT * FROM c WHERE c.id = '{id}'")).Count);
        Assert.Equal(times, (await c.ReadManyItemsAsync<Item>([(id, x), ("other", x)])).Count);
        Assert.Equal(times, (await All(c.GetItemQueryIterator<Item>())).Count(item => item.id == id));
        var changes = c.GetChangeFeedIterator<Item>(ChangeFeedStartFrom.Beginning(), ChangeFeedMode.LatestVersion);
        Assert.Equal(times, (await Changes(changes)).Seen.Count(item => item.id == id));
        if (there) return true;
        await Fails(404, () => c.ReplaceItemAsync(new Item(id, "x"), id, x));
        await Fails(404, () => c.PatchItemAsync<Item>(id, x, [PatchOperation.Set("/n", 1)]));
        await Fails(404, () => c.DeleteItemAsync<Item>(id, x));
        return false;
    }

    /// <summary>Asserts that an item is there a second before a time that lies ahead, and gone at that time.</summary>
    async Task ExpiresIn(long seconds, Container c, string id)
    {
        await Advance(seconds - 1);
        Assert.True(await IsSeen(c, id), $"{id} is gone early");
        await Advance(1);
        Assert.False(await IsSeen(c, id), $"{id} is still there");
    }

    [Fact]
    public async Task AnItemsOwnTimeToLive()
    {
        var c = await WithDefault(-1);
        var made = await c.CreateItemAsync(Living("order", 30 * Day));
        Assert.Equal(30 * Day, made.Resource.ttl);
        await c.CreateItemAsync(Living("forever", null));
        await ExpiresIn(30 * Day, c, "order");
        Assert.True(await IsSeen(c, "forever"));
        // Its id is free again.
        Assert.Equal(HttpStatusCode.Created, (await c.CreateItemAsync(Living("order", Day))).StatusCode);
        await Advance(Day);
        Assert.Equal(HttpStatusCode.Created, (await c.UpsertItemAsync(Living("order", Day))).StatusCode);
    }

    [Fact]
    public async Task TheDefaultOfAContainer()
    {
        var c = await WithDefault(90 * Day);
        Assert.Equal(90 * Day, (await c.ReadContainerAsync()).Resource.DefaultTimeToLive);
        await c.CreateItemAsync(Living("inherits", null));
        await c.CreateItemAsync(Living("never", -1));
        await c.CreateItemAsync(Living("longer", 100 * Day));
        await ExpiresIn(90 * Day, c, "inherits");
        await ExpiresIn(10 * Day, c, "longer");
        await Advance(3650L * Day);
        Assert.True(await IsSeen(c, "never"));
    }

    [Fact]
    public async Task EveryWriteBeginsItAnew()
    {
        var c = await WithDefault(-1);
        await c.CreateItemAsync(Living("extended", 1000));
        await Advance(999);
        Item read = await c.ReadItemAsync<Item>("extended", x);
        var replaced = await c.ReplaceItemAsync(read with { ttl = 54000 }, "extended");
        Assert.Equal(read._ts + 999, replaced.Resource._ts);
        await ExpiresIn(54000, c, "extended");
        await c.CreateItemAsync(Living("patched", 60));
        await Advance(59);
        await c.PatchItemAsync<Item>("patched", x, [PatchOperation.Set("/ttl", 90)]);
        await ExpiresIn(90, c, "patched");
    }

    [Fact]
    public async Task WithoutItsOwnAnItemInheritsTheDefault()
    {
        Container never = await WithDefault(-1), days = await WithDefault(90 * Day, "days");
        foreach (var c in new[] { never, days })
        {
            await c.CreateItemAsync(Living("1", 10));
            Item read = await c.ReadItemAsync<Item>("1", x);
            await c.ReplaceItemAsync(read with { ttl = null }, "1");
            using var raw = await c.ReadItemStreamAsync("1", x);
            Assert.DoesNotContain("\"ttl\"", Text(raw.Content));
        }
        await ExpiresIn(90 * Day, days, "1");
        Assert.True(await IsSeen(never, "1"));
    }

    [Fact]
    public async Task WhereItIsOffNothingExpiresUntilItIsOnAgain()
    {
        var c = await WithDefault(100);
        await c.CreateItemAsync(Living("1", 10));
        ContainerProperties properties = await c.ReadContainerAsync();
        properties.DefaultTimeToLive = null;
        Assert.Null((await c.ReplaceContainerAsync(properties)).Resource.DefaultTimeToLive);
        await Advance(1000);
        Assert.True(await IsSeen(c, "1"));
        properties.DefaultTimeToLive = -1;
        await c.ReplaceContainerAsync(properties);
        Assert.False(await IsSeen(c, "1"));
    }

    [Fact]
    public async Task EveryPairOfDefaultAndOwn()
    {
        int?[] defaults = [null, -1, 20];
        foreach (var seconds in defaults)
        {
            var c = await WithDefault(seconds, "m" + seconds);
            foreach (var own in new int?[] { null, -1, 10 }) await c.CreateItemAsync(Living("t" + own, own));
        }
        async Task There(string want)
        {
            var ids = defaults.Select(seconds =>
                Query<string>(Db.GetContainer("m" + seconds), "SELECT VALUE c.id FROM c ORDER BY c.id"));
            Assert.Equal(want, string.Join(" | ", (await Task.WhenAll(ids)).Select(found => string.Join('+', found))));
        }
        await Advance(9);
        await There("t+t-1+t10 | t+t-1+t10 | t+t-1+t10");
        await Advance(1);
        await There("t+t-1+t10 | t+t-1 | t+t-1");
        await Advance(10);
        await There("t+t-1+t10 | t+t-1 | t-1");
    }

    [Fact]
    public async Task ValuesThatAreWrong()
    {
        await Fails(400, () => WithDefault(0));
        await Fails(400, () => WithDefault(-2));
        var c = await WithDefault(-1);
        foreach (var ttl in new[] { 0, -2, int.MinValue }) await Fails(400, () => c.CreateItemAsync(Living("w", ttl)));
        await Fails(400, () => c.CreateItemAsync(new { id = "w", pk = "x", ttl = (int?)null }));
        await c.CreateItemAsync(Living("longest", int.MaxValue));
        ContainerProperties properties = await c.ReadContainerAsync();
        properties.IndexingPolicy.IndexingMode = IndexingMode.None;
        properties.IndexingPolicy.Automatic = false;
        await Fails(400, () => c.ReplaceContainerAsync(properties));
    }

    [Fact]
    public async Task AFluentDefinition()
    {
        Container c = await Db.DefineContainer("f", "/pk").WithDefaultTimeToLive(TimeSpan.FromMinutes(1)).CreateAsync();
        await c.CreateItemAsync(Living("1", null));
        await ExpiresIn(60, c, "1");
    }
}
