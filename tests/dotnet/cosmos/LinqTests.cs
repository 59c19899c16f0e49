using Microsoft.Azure.Cosmos;
using Microsoft.Azure.Cosmos.Linq;

public class LinqTests : OrdersTest
{
    IOrderedQueryable<Order> Orders => c.GetItemLinqQueryable<Order>(allowSynchronousQueryExecution: true);

    [Fact]
    public async Task WhereSelectOrderPage()
    {
        Assert.Equal([3, 5], Orders.Where(o => o.n >= 3 && o.n < 6 && o.n != 4).OrderBy(o => o.n).Select(o => o.n).ToList());
        Assert.Equal([12, 13], Orders.OrderBy(o => o.n).Skip(12).Take(2).Select(o => o.n).ToList());
        Assert.Equal([39, 38], await All(Orders.OrderByDescending(o => o.n).Take(2).Select(o => o.n).ToFeedIterator()));
        Assert.Equal([37, 33],
            Orders.OrderBy(o => o.pk).ThenByDescending(o => o.n).Where(o => o.pk == "p1").Take(2).Select(o => o.n).ToList());
        Assert.Equal(4, Orders.Select(o => o.pk).Distinct().ToList().Count);
        var one = Orders.Where(o => o.n == 7).Select(o => new { o.id, twice = o.n * 2, deep = o.inner.list![1].x }).ToList();
        Assert.Equal(new { id = "i7", twice = 14, deep = 7 }, Assert.Single(one));
        Assert.Equal("i9", Orders.Where(o => o.n == 9).FirstOrDefault()!.id);
        Assert.Null(Orders.Where(o => o.n == 900).FirstOrDefault());
    }

    [Fact]
    public void Functions()
    {
        Assert.Equal(14, Orders.Where(o => o.name.StartsWith("fi")).Count());
        Assert.Equal(14, Orders.Where(o => o.name.Contains("IZ", StringComparison.OrdinalIgnoreCase)).Count());
        Assert.Equal(14, Orders.Where(o => o.name.EndsWith("zz") && o.name.ToUpper() == "FIZZ" && o.name.Count() == 4
            && o.name.Substring(0, 2) == "fi" && o.name.IndexOf("z") == 2).Count());
        Assert.Equal(20, Orders.Where(o => o.tags.Contains("t1")).Count());
        string[] ids = ["i1", "i2", "nope"];
        Assert.Equal(2, Orders.Where(o => Enumerable.Contains(ids, o.id)).Count());
        Assert.Equal(10, Orders.Where(o => o.when >= Start.AddDays(30)).Count());
        Assert.Equal(20, Orders.Where(o => o.kind == Kind.Two).Count());
        Assert.Equal(2, Orders.Where(o => Math.Abs(o.n - 20) == 5 && Math.Floor(o.price) > 0).Count());
        Assert.Equal(40, Orders.Where(o => o.name.IsDefined() && !o.name.IsNull() && o.n.IsNumber()).Count());
        Assert.Equal(14, Orders.Where(o => o.name.RegexMatch("^f.*z$")).Count());
        Assert.Equal(20, Orders.Where(o => (o.n > 19 ? "hi" : "lo") == "hi").Count());
        Assert.Equal(40, Orders.Where(o => (o.name ?? "none") != "none").Count());
    }

    [Fact]
    public async Task Aggregates()
    {
        Assert.Equal(40, (await Orders.CountAsync()).Resource);
        Assert.Equal(780, (await Orders.Select(o => o.n).SumAsync()).Resource);
        Assert.Equal(19.5, (await Orders.Select(o => o.n).AverageAsync()).Resource);
        Assert.Equal(0, (await Orders.Select(o => o.n).MinAsync()).Resource);
        Assert.Equal(39, (await Orders.Select(o => o.n).MaxAsync()).Resource);
        Assert.Equal(10, Orders.Count(o => o.pk == "p1"));
        Assert.Equal(4, (await Orders.Select(o => o.pk).Distinct().CountAsync()).Resource);
        var groups = Orders.GroupBy(o => o.pk, (key, of) => new { key, count = of.Count(), sum = of.Sum(o => o.n) }).ToList();
        Assert.Equal(new { key = "p1", count = 10, sum = 190 }, groups.OrderBy(group => group.key).ElementAt(1));
    }

    class Pascal
    {
        [Newtonsoft.Json.JsonProperty("id")]
        public string Id { get; set; } = "";
        public int N { get; set; }
        public Part Inner { get; set; } = new();
    }

    class Part
    {
        public int X { get; set; }
    }

    [Fact]
    public void NamesInCamelCase()
    {
        var camel = new CosmosLinqSerializerOptions { PropertyNamingPolicy = CosmosPropertyNamingPolicy.CamelCase };
        var some = c.GetItemLinqQueryable<Pascal>(true, linqSerializerOptions: camel).Where(o => o.Inner.X == 2 && o.N < 8);
        Assert.Contains("""["inner"]["x"]""", some.ToQueryDefinition().QueryText);
        Assert.Equal(2, some.Select(o => o.N).ToList().Count);
        using var system = NewClient(options => options.UseSystemTextJsonSerializerWithOptions = new()
        {
            PropertyNamingPolicy = System.Text.Json.JsonNamingPolicy.CamelCase,
        });
        var container = system.GetContainer(Db.Id, "c");
        Assert.Equal(8, container.GetItemLinqQueryable<Pascal>(true).Where(o => o.N < 8).ToList().Count);
    }

    [Fact]
    public async Task WithinAPartitionKey()
    {
        var options = new QueryRequestOptions { PartitionKey = Pk("p1") };
        Assert.Equal(10, c.GetItemLinqQueryable<Order>(true, requestOptions: options).ToList().Count);
        var limit = 5;
        var query = Orders.Where(o => o.n < limit).ToQueryDefinition();
        Assert.Equal(5, (await All(c.GetItemQueryIterator<Order>(query))).Count);
    }
}
