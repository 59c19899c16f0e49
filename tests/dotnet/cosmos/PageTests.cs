using Microsoft.Azure.Cosmos;

/// <summary>Pages from continuation tokens: each from a new iterator, as a web page does it.</summary>
public class PageTests : CosmosTest
{
    Container c = null!;

    public override async Task InitializeAsync()
    {
        await base.InitializeAsync();
        c = await NewContainer();
        // Each item has a key of its own; all have the same `name`, and `n` has three values.
        await Task.WhenAll(Enumerable.Range(0, 60).Select(i =>
            c.CreateItemAsync(new Item("i" + i, "p" + i, i % 3) { name = "same" })));
    }

    /// <summary>Reads a query page by page, each page from a new iterator with the token of the page before.</summary>
    static async Task<List<T>> Pages<T>(Container container, string? sql, int size)
    {
        var rows = new List<T>();
        string? token = null;
        do
        {
            using var pages = container.GetItemQueryIterator<T>(
                sql, token, new QueryRequestOptions { MaxItemCount = size });
            var page = await pages.ReadNextAsync();
            Assert.True(page.Count <= size, $"a page of {page.Count}");
            rows.AddRange(page);
            token = page.ContinuationToken;
        }
        while (token != null);
        return rows;
    }

    [Theory]
    [InlineData("SELECT VALUE c.id FROM c")]
    [InlineData("SELECT VALUE c.id FROM c WHERE c.n < 5")]
    [InlineData("SELECT VALUE c.id FROM c ORDER BY c.name")]
    [InlineData("SELECT VALUE c.id FROM c ORDER BY c.name DESC")]
    [InlineData("SELECT VALUE c.id FROM c ORDER BY c.n")]
    [InlineData("SELECT VALUE c.id FROM c ORDER BY c.n DESC")]
    [InlineData("SELECT VALUE c.id FROM c ORDER BY c._ts")]
    [InlineData("SELECT DISTINCT VALUE c.id FROM c ORDER BY c.id")]
    public async Task NoRowIsLostOrRepeated(string sql)
    {
        var all = await Query<string>(c, sql);
        Assert.Equal(60, all.Distinct().Count());
        foreach (var size in new[] { 1, 5, 7, 59, 60, 100 })
        {
            var rows = await Pages<string>(c, sql, size);
            if (sql.Contains("ORDER BY")) Assert.Equal(all, rows);
            else Assert.Equal(all.Order(), rows.Order());
        }
    }

    [Fact]
    public async Task OtherKindsOfQueries()
    {
        Assert.Equal([0, 1, 2], await Pages<int>(c, "SELECT DISTINCT VALUE c.n FROM c ORDER BY c.n", 2));
        var some = "SELECT VALUE c.id FROM c ORDER BY c.n OFFSET 5 LIMIT 9";
        Assert.Equal(await Query<string>(c, some), await Pages<string>(c, some, 4));
        Assert.Equal(60, (await Pages<Item>(c, null, 9)).Select(item => item.id).Distinct().Count());
        using var wrong = c.GetItemQueryIterator<string>("SELECT VALUE c.id FROM c", "nonsense");
        await Fails(400, () => wrong.ReadNextAsync());
    }

    [Fact]
    public async Task OneKeyAndSeveralColumns()
    {
        var key = await NewContainer("one");
        var composite = new ContainerProperties("two", "/pk");
        composite.IndexingPolicy.CompositeIndexes.Add(
            [new() { Path = "/name" }, new() { Path = "/n", Order = CompositePathSortOrder.Descending }]);
        Container two = await Db.CreateContainerAsync(composite);
        foreach (var container in new[] { key, two })
            await Task.WhenAll(Enumerable.Range(0, 40).Select(i =>
                container.CreateItemAsync(new Item("i" + i, "a", i % 4) { name = "x" + i % 2 })));
        var ordered = "SELECT VALUE c.id FROM c ORDER BY c.name, c.n DESC";
        Assert.Equal(await Query<string>(two, ordered), await Pages<string>(two, ordered, 3));
        var single = "SELECT VALUE c.id FROM c WHERE c.pk = 'a' ORDER BY c.n DESC";
        Assert.Equal(await Query<string>(key, single), await Pages<string>(key, single, 3));
    }
}
