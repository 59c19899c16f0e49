using System.Net;
using Microsoft.Azure.Cosmos;
using Newtonsoft.Json.Linq;

/// <summary>40 orders that queries are asked of; no test changes them.</summary>
public abstract class OrdersTest : CosmosTest
{
    public enum Kind { One, Two }
    public record Inner(int x, List<Inner>? list = null);
    public record Order(string id, string pk, int n, string name, double price, List<string> tags, Inner inner,
        DateTime when, Kind kind);

    protected static readonly DateTime Start = new(2031, 1, 1, 0, 0, 0, DateTimeKind.Utc);
    protected Container c = null!;

    public override async Task InitializeAsync()
    {
        await base.InitializeAsync();
        var properties = new ContainerProperties("c", "/pk");
        properties.IndexingPolicy.CompositeIndexes.Add(
            [new() { Path = "/pk" }, new() { Path = "/n", Order = CompositePathSortOrder.Descending }]);
        c = await Db.CreateContainerAsync(properties);
        await Task.WhenAll(Enumerable.Range(0, 40).Select(i => c.CreateItemAsync(new Order(
            "i" + i, "p" + i % 4, i, i % 3 == 0 ? "fizz" : "n" + i, i * 0.5, ["t" + i % 2, "x"],
            new Inner(i % 5, [new(1), new(i)]), Start.AddDays(i), (Kind)(i % 2)))));
    }
}

public class QueryTests : OrdersTest
{
    Task<List<T>> Q<T>(string sql, QueryRequestOptions? options = null) => Query<T>(c, sql, options);
    static QueryRequestOptions Within(string key) => new() { PartitionKey = Pk(key) };

    [Fact]
    public async Task Parameters()
    {
        var query = new QueryDefinition("""
            SELECT VALUE c.id FROM c WHERE c.n = @n AND c.name = @s AND ARRAY_CONTAINS(@l, c.pk)
            AND c['inner'].x = @o.x AND @b AND IS_NULL(@z)
            """)
            .WithParameter("@n", 3).WithParameter("@s", "fizz").WithParameter("@l", new[] { "p3", "p4" })
            .WithParameter("@o", new { x = 3 }).WithParameter("@b", true).WithParameter("@z", null);
        Assert.Equal(["i3"], await All(c.GetItemQueryIterator<string>(query)));
        var stream = new QueryDefinition("SELECT VALUE c.id FROM c WHERE c.n = @n").WithParameterStream("@n", Utf8("5"));
        Assert.Equal(["i5"], await All(c.GetItemQueryIterator<string>(stream)));
    }

    [Fact]
    public async Task OrderBy()
    {
        Assert.Equal(Enumerable.Range(0, 40).Reverse(), await Q<int>("SELECT VALUE c.n FROM c ORDER BY c.n DESC"));
        Assert.Equal([36, 32, 28], (await Q<int>("SELECT VALUE c.n FROM c ORDER BY c.pk, c.n DESC")).Take(3));
        Assert.Equal([37, 33], (await Q<int>("SELECT VALUE c.n FROM c ORDER BY c.n DESC", Within("p1"))).Take(2));
    }

    [Fact]
    public async Task OrderByWhereValuesAreMissing()
    {
        var some = await NewContainer("some");
        for (var i = 0; i < 6; i++)
            await some.CreateItemAsync<object>(
                i % 2 == 0 ? new { id = "u" + i, pk = "a", n = i, m = i * 10 } : new { id = "u" + i, pk = "a", n = i });
        Task<List<int>> M(string sql) => Query<int>(some, sql);
        Assert.Equal([0, 20, 40], await M("SELECT VALUE c.m FROM c"));
        Assert.Equal([0, 20, 40], await M("SELECT VALUE c.m FROM c ORDER BY c.n"));
        Assert.Equal([20, 40], await M("SELECT VALUE c.m FROM c ORDER BY c.n OFFSET 1 LIMIT 2"));
        Assert.Equal([0, 20], await M("SELECT TOP 2 VALUE c.m FROM c ORDER BY c.n"));
        Assert.Equal([0, 20, 40], await M("SELECT DISTINCT VALUE c.m FROM c ORDER BY c.m"));
        Assert.Equal(6, (await Query<JObject>(some, "SELECT c.m FROM c ORDER BY c.n")).Count);
    }

    [Fact]
    public async Task TopOffsetLimitDistinct()
    {
        Assert.Equal([0, 1, 2], await Q<int>("SELECT TOP 3 VALUE c.n FROM c ORDER BY c.n"));
        Assert.Equal(3, (await Q<int>("SELECT TOP 3 VALUE c.n FROM c")).Count);
        Assert.Equal([10, 11], await Q<int>("SELECT VALUE c.n FROM c ORDER BY c.n OFFSET 10 LIMIT 2"));
        string[] keys = ["p0", "p1", "p2", "p3"];
        Assert.Equal(keys, (await Q<string>("SELECT DISTINCT VALUE c.pk FROM c")).Order());
        Assert.Equal(keys, await Q<string>("SELECT DISTINCT VALUE c.pk FROM c ORDER BY c.pk"));
        Assert.Equal(2, (await Q<object>("SELECT DISTINCT VALUE c.tags FROM c")).Count);
    }

    [Fact]
    public async Task Aggregates()
    {
        Assert.Equal(40, await One<int>(c, "SELECT VALUE COUNT(1) FROM c"));
        Assert.Equal(780, await One<long>(c, "SELECT VALUE SUM(c.n) FROM c"));
        Assert.Equal(19.5, await One<double>(c, "SELECT VALUE AVG(c.n) FROM c"));
        Assert.Equal(0, await One<int>(c, "SELECT VALUE MIN(c.n) FROM c"));
        Assert.Equal("p3", await One<string>(c, "SELECT VALUE MAX(c.pk) FROM c"));
        Assert.Equal(20, await One<int>(c, "SELECT VALUE COUNTIF(c.kind = 1) FROM c"));
        Assert.Equal(10, await One<int>(c, "SELECT VALUE COUNT(1) FROM c", Within("p1")));
        var several = await One<JObject>(c,
            "SELECT COUNT(1) AS k, SUM(c.n) AS s, AVG(c.price) AS a, MIN(c.n) AS lo, MAX(c.n) AS hi FROM c");
        Assert.Equal("40 780 9.75 0 39", string.Join(' ', several.PropertyValues()));
    }

    [Fact]
    public async Task GroupBy()
    {
        var groups = await Q<JObject>("SELECT c.pk, COUNT(1) AS k, SUM(c.n) AS s FROM c GROUP BY c.pk");
        Assert.Equal(["p0 10 180", "p1 10 190", "p2 10 200", "p3 10 210"],
            groups.Select(group => string.Join(' ', group.PropertyValues())).Order());
        Assert.Equal(2, (await Q<JObject>("SELECT c.kind FROM c GROUP BY c.kind")).Count);
        Assert.Equal(5, (await Q<int>("SELECT VALUE COUNT(1) FROM c GROUP BY c['inner'].x")).Count);
        var small = new QueryRequestOptions { MaxItemCount = 2 };
        Assert.Equal(4, (await Q<JObject>("SELECT c.pk, AVG(c.n) AS a FROM c GROUP BY c.pk", small)).Count);
    }

    [Fact]
    public async Task SubqueriesAndJoins()
    {
        Assert.Equal(4, await One<int>(c, "SELECT VALUE COUNT(1) FROM (SELECT DISTINCT VALUE c.pk FROM c)"));
        Assert.Equal(39, await One<int>(c, """
            SELECT TOP 1 VALUE s.m FROM c JOIN (SELECT MAX(x.x) AS m FROM x IN c['inner'].list) s ORDER BY c.n DESC
            """));
        // The item i1 has two such elements.
        Assert.Equal(41, (await Q<int>("""
            SELECT VALUE t.x FROM c JOIN t IN c['inner'].list
            WHERE t.x = 1 AND EXISTS(SELECT VALUE g FROM g IN c.tags WHERE g = 'x')
            """)).Count);
        Assert.Equal(["i2"], await Q<string>("SELECT VALUE c.id FROM c WHERE c.id IN ('i2', 'none')"));
        Assert.Equal([2], await Q<int>("SELECT VALUE ARRAY_LENGTH(ARRAY(SELECT VALUE t FROM t IN c.tags)) FROM c WHERE c.n = 1"));
    }

    [Fact]
    public async Task OptionsOfQueries()
    {
        foreach (var options in new QueryRequestOptions[]
        {
            new() { MaxConcurrency = -1, MaxBufferedItemCount = 100, MaxItemCount = 3 },
            new() { MaxConcurrency = 4, MaxItemCount = 9, ResponseContinuationTokenLimitInKb = 1 },
            new() { EnableScanInQuery = true, EnableLowPrecisionOrderBy = true, MaxItemCount = -1 },
        })
            Assert.Equal(Enumerable.Range(0, 40), await Q<int>("SELECT VALUE c.n FROM c ORDER BY c.n", options));
        var only = await c.GetItemQueryIterator<int>(
            "SELECT VALUE c.n FROM c WHERE c.n > 5 AND c.name = 'fizz'",
            requestOptions: new() { PopulateIndexMetrics = true }).ReadNextAsync();
        Assert.Contains("/name/?", only.IndexMetrics);
        Assert.Equal(only.Count, only.Diagnostics.GetQueryMetrics().CumulativeMetrics.OutputDocumentCount);
    }

    [Fact]
    public async Task StreamsAndErrors()
    {
        using var pages = c.GetItemQueryStreamIterator(
            "SELECT VALUE c.n FROM c ORDER BY c.n", requestOptions: new() { MaxItemCount = 30 });
        var rows = 0;
        while (pages.HasMoreResults)
        {
            using var page = await pages.ReadNextAsync();
            rows += ((JArray)JObject.Parse(Text(page.Content))["Documents"]!).Count;
        }
        Assert.Equal(40, rows);
        using var wrong = await c.GetItemQueryStreamIterator("SELECT * FORM c").ReadNextAsync();
        Assert.Equal(HttpStatusCode.BadRequest, wrong.StatusCode);
        Assert.Contains("syntax", wrong.ErrorMessage, StringComparison.OrdinalIgnoreCase);
        await Fails(400, () => Q<object>("SELECT * FROM c WHERE NOSUCH(c.n)"));
        await Fails(400, () => Q<object>("SELECT * FROM c WHERE c.n = @missing"));
        await Fails(400, () => Q<object>("SELECT"));
    }

    [Fact]
    public async Task FeedsAndRanges()
    {
        Assert.Equal(40, (await All(c.GetItemQueryIterator<Order>())).Count);
        var within = new QueryRequestOptions { PartitionKey = Pk("p2"), MaxItemCount = 3 };
        Assert.Equal(10, (await All(c.GetItemQueryIterator<Order>(requestOptions: within))).Count);
        var range = Assert.Single(await c.GetFeedRangesAsync());
        var again = FeedRange.FromJsonString(range.ToJsonString());
        var query = new QueryDefinition("SELECT * FROM c ORDER BY c.n");
        Assert.Equal(40, (await All(c.GetItemQueryIterator<Order>(again, query))).Count);
    }

    [Fact]
    public async Task ReadMany()
    {
        var wanted = Enumerable.Range(0, 40).Select(i => ("i" + i, Pk("p" + i % 4))).Append(("none", Pk("p1"))).ToList();
        Assert.Equal(40, (await c.ReadManyItemsAsync<Order>(wanted)).Count);
        using var stream = await c.ReadManyItemsStreamAsync(wanted);
        Assert.Equal(40, ((JArray)JObject.Parse(Text(stream.Content))["Documents"]!).Count);
        Assert.Single(await c.ReadManyItemsAsync<Order>(wanted.Take(1).ToList()));
        var many = Enumerable.Range(0, 1200).Select(i => ("i" + i, Pk("p" + i % 4))).ToList();
        Assert.Equal(40, (await c.ReadManyItemsAsync<Order>(many)).Count);
        var other = await NewContainer("other");
        await other.CreateItemAsync<object>(new { id = "1" }, PartitionKey.None);
        await other.CreateItemAsync<object>(new { id = "2", pk = (string?)null }, PartitionKey.Null);
        Assert.Equal(2, (await other.ReadManyItemsAsync<JObject>(
            [("1", PartitionKey.None), ("2", PartitionKey.Null), ("3", PartitionKey.None)])).Count);
    }
}
