using MongoDB.Bson;
using MongoDB.Bson.Serialization.Attributes;
using MongoDB.Driver;
using MongoDB.Driver.Linq;

/// <summary>LINQ and the fluent aggregation, each compared with the same query over a list in memory.</summary>
public class LinqTests : MongoTest
{
    public class Sale
    {
        public int Id { get; set; }
        public string Store { get; set; } = "";
        public int CustomerId { get; set; }
        public DateTime At { get; set; }

        [BsonRepresentation(BsonType.Decimal128)]
        public decimal Total { get; set; }
        public double Weight { get; set; }
        public List<Line> Lines { get; set; } = [];
        public string[] Tags { get; set; } = [];
        public int? Rating { get; set; }
        public string? Note { get; set; }
    }

    public class Line
    {
        public string Product { get; set; } = "";
        public int Quantity { get; set; }
    }

    static readonly List<Sale> All = Enumerable.Range(1, 60).Select(i => new Sale
    {
        Id = i, Store = new[] { "Berlin", "Paris", "Rome" }[i % 3], CustomerId = i % 7,
        At = new DateTime(2025, 12, 20, 22, 15, 30, 250, DateTimeKind.Utc).AddHours(i * 37), Total = i * 1.25m,
        Weight = i / 4.0,
        Lines = Enumerable.Range(0, i % 4).Select(n => new Line { Product = "p" + (i + n) % 5, Quantity = n + 1 }).ToList(),
        Tags = i % 5 == 0 ? [] : ["t" + i % 4, i % 2 == 0 ? "even" : "odd"],
        Rating = i % 3 == 0 ? null : i % 6, Note = i % 4 == 0 ? null : $"  Note {i} ",
    }).ToList();

    readonly IMongoCollection<Sale> sales;

    public LinqTests()
    {
        sales = Db.GetCollection<Sale>("sales");
        sales.InsertMany(All);
        sales.Indexes.CreateOne(new CreateIndexModel<Sale>(
            Builders<Sale>.IndexKeys.Ascending(sale => sale.Store).Descending(sale => sale.At)));
    }

    void Same<T>(Func<IQueryable<Sale>, IQueryable<T>> query, bool sorted = false)
    {
        List<string> Rows(IQueryable<Sale> source)
        {
            var rows = query(source).ToList().Select(row => row.ToJson()).ToList();
            return sorted ? rows : [.. rows.Order(StringComparer.Ordinal)];
        }
        Assert.Equal(Rows(All.AsQueryable()), Rows(sales.AsQueryable()));
    }

    [Fact]
    public void WhereOrderPage()
    {
        Same(q => q.Where(s => (s.Store == "Paris" && s.Total > 20) || s.Id == 1).Select(s => s.Id));
        Same(q => q.Where(s => s.Note == null || (s.Rating.HasValue && s.Rating.Value == 4)).Select(s => s.Id));
        Same(q => q.OrderBy(s => s.Store).ThenByDescending(s => s.Total).Select(s => s.Id), true);
        Same(q => q.OrderBy(s => s.Id % 10).ThenBy(s => s.Id).Skip(10).Take(5).Select(s => s.Id), true);
        Same(q => q.Where(s => s.Lines.Any(l => l.Quantity > 2) || s.Tags.All(t => t == "x")).Select(s => s.Id));
        Same(q => q.Select(s => s.CustomerId).Distinct());
    }

    [Fact]
    public void Projections()
    {
        Same(q => q.Select(s => new { s.Id, Half = s.Weight / 2, Label = s.Store + "-" + s.CustomerId }));
        Same(q => q.Select(s => new { s.Id, Mark = s.Rating == null ? "none" : s.Rating > 3 ? "good" : "bad" }));
        Same(q => q.Select(s => new { s.Id, Rating = s.Rating ?? -1 }));
        Same(q => q.Where(s => s.Lines.Count > 0)
            .Select(s => new { s.Id, First = s.Lines.First().Product, Sum = s.Lines.Sum(l => l.Quantity) }));
        Same(q => q.SelectMany(s => s.Tags, (s, tag) => new { s.Id, tag }));
    }

    [Fact]
    public void DatesTextsNumbers()
    {
        Same(q => q.Select(s => new { s.Id, s.At.Year, s.At.Month, s.At.Day, s.At.Hour, s.At.Millisecond, s.At.DayOfYear }));
        Same(q => q.Select(s => new { s.Id, Day = s.At.Date, Later = s.At.AddDays(2), Next = s.At.AddMonths(2) }));
        Same(q => q.Where(s => s.At.Month == 1 && s.At.DayOfWeek == DayOfWeek.Monday).Select(s => s.Id));
        Same(q => q.Where(s => s.Note != null)
            .Select(s => new { s.Id, Upper = s.Store.ToUpper(), Note = s.Note!.Trim(), Part = s.Store.Substring(1, 2) }));
        Same(q => q.Select(s => new { s.Id, Floor = Math.Floor(s.Weight), Power = Math.Pow(s.Weight, 2), Rest = s.Id % 4 }));
    }

    [Fact]
    public void Groups()
    {
        Same(q => q.GroupBy(s => s.Store)
            .Select(g => new { g.Key, N = g.Count(), Max = g.Max(s => s.Weight), Average = g.Average(s => s.Weight) }));
        Same(q => q.GroupBy(s => new { s.Store, s.At.Month }).Select(g => new { g.Key.Store, g.Key.Month, N = g.Count() }));
        Same(q => q.GroupBy(s => s.CustomerId).Where(g => g.Count() > 8).Select(g => new { g.Key }));
    }

    [Fact]
    public async Task Aggregates()
    {
        var q = sales.AsQueryable();
        Assert.Equal(All.Count(s => s.Store == "Rome"), await q.CountAsync(s => s.Store == "Rome"));
        Assert.Equal(All.Sum(s => s.Total), await q.SumAsync(s => s.Total));
        Assert.Equal(All.Average(s => s.Weight), await q.AverageAsync(s => s.Weight));
        Assert.Equal(All.Max(s => s.At), await q.MaxAsync(s => s.At));
        Assert.True(await q.AnyAsync(s => s.Id == 60) && !await q.AnyAsync(s => s.Id == 61));
        Assert.Equal(60, (await q.OrderByDescending(s => s.Id).FirstAsync()).Id);
    }

    record Customer(int Id, string Name);

    [Fact]
    public void JoinsAndTheFluentForm()
    {
        var customers = Db.GetCollection<Customer>("customers");
        customers.InsertMany(Enumerable.Range(0, 9).Select(i => new Customer(i, "name" + i)));
        var joined = sales.AsQueryable()
            .Join(customers.AsQueryable(), s => s.CustomerId, c => c.Id, (s, c) => new { s.Id, c.Name }).ToList();
        Assert.Equal(All.Select(s => new { s.Id, Name = "name" + s.CustomerId }), joined.OrderBy(row => row.Id));
        var stores = sales.Aggregate().Match(s => s.Id <= 30)
            .Group(s => s.Store, g => new { Store = g.Key, N = g.Count(), Sum = g.Sum(s => s.Total) }).SortBy(row => row.Store);
        Assert.Equal(
            All.Where(s => s.Id <= 30).GroupBy(s => s.Store).OrderBy(g => g.Key)
                .Select(g => new { Store = g.Key, N = g.Count(), Sum = g.Sum(s => s.Total) }),
            stores.ToList());
        var buckets = sales.Aggregate().Bucket(s => s.Id, new[] { 0, 10, 50, 100 }).ToList();
        Assert.Equal([9L, 40L, 11L], buckets.Select(bucket => bucket.Count));
    }
}
