using System.Net;
using Microsoft.Azure.Cosmos;
using Newtonsoft.Json.Linq;

/// <summary>Change feeds, pulled and by the processor.</summary>
[Collection("clock")]
public class ChangeFeedTests : CosmosTest
{
    Container c = null!;

    public override async Task InitializeAsync()
    {
        await base.InitializeAsync();
        c = await NewContainer();
        for (var i = 0; i < 12; i++) await c.CreateItemAsync(new Item("i" + i, "p" + i % 3, i));
    }

    Task<(List<Item> Seen, string Token)> Pull(ChangeFeedStartFrom start, int? size = null) =>
        Changes(c.GetChangeFeedIterator<Item>(
            start, ChangeFeedMode.LatestVersion, new ChangeFeedRequestOptions { PageSizeHint = size }));

    static IEnumerable<int> N(List<Item> items) => items.Select(item => item.n);

    [Fact]
    public async Task FromTheBeginningInPagesAndFromAToken()
    {
        var (seen, token) = await Pull(ChangeFeedStartFrom.Beginning(), 5);
        Assert.Equal(Enumerable.Range(0, 12), N(seen));
        await c.UpsertItemAsync(new Item("i3", "p0", 33));
        await c.DeleteItemAsync<Item>("i4", Pk("p1"));
        (seen, token) = await Pull(ChangeFeedStartFrom.ContinuationToken(token));
        Assert.Equal([33], N(seen));
        Assert.Empty((await Pull(ChangeFeedStartFrom.ContinuationToken(token))).Seen);
    }

    [Fact]
    public async Task EachPageFromANewIterator()
    {
        var seen = new List<int>();
        var start = ChangeFeedStartFrom.Beginning();
        while (true)
        {
            using var feed = c.GetChangeFeedIterator<Item>(
                start, ChangeFeedMode.LatestVersion, new ChangeFeedRequestOptions { PageSizeHint = 5 });
            var page = await feed.ReadNextAsync();
            if (page.StatusCode == HttpStatusCode.NotModified) break;
            seen.AddRange(page.Select(item => item.n));
            start = ChangeFeedStartFrom.ContinuationToken(page.ContinuationToken);
        }
        Assert.Equal(Enumerable.Range(0, 12), seen);
    }

    [Fact]
    public async Task FromNowATimeAKeyAndARange()
    {
        var (seen, token) = await Pull(ChangeFeedStartFrom.Now());
        Assert.Empty(seen);
        await c.UpsertItemAsync(new Item("new", "p2", 100));
        Assert.Equal([100], N((await Pull(ChangeFeedStartFrom.ContinuationToken(token))).Seen));
        var key = FeedRange.FromPartitionKey(Pk("p2"));
        Assert.Equal([2, 5, 8, 11, 100], N((await Pull(ChangeFeedStartFrom.Beginning(key))).Seen));
        var range = (await c.GetFeedRangesAsync())[0];
        Assert.Equal(13, (await Pull(ChangeFeedStartFrom.Beginning(range))).Seen.Count);
        DateTime Year(int year) => new(year, 1, 1, 0, 0, 0, DateTimeKind.Utc);
        Assert.Equal(13, (await Pull(ChangeFeedStartFrom.Time(Year(2020)))).Seen.Count);
        Assert.Empty((await Pull(ChangeFeedStartFrom.Time(Year(9000)))).Seen);
    }

    [Fact]
    public async Task Streams()
    {
        using var feed = c.GetChangeFeedStreamIterator(ChangeFeedStartFrom.Beginning(), ChangeFeedMode.LatestVersion);
        using var page = await feed.ReadNextAsync();
        Assert.Equal(12, ((JArray)JObject.Parse(Text(page.Content))["Documents"]!).Count);
        using var end = await feed.ReadNextAsync();
        Assert.Equal(HttpStatusCode.NotModified, end.StatusCode);
    }

    [Fact]
    public async Task AllVersionsAndDeletes()
    {
        Container all = await Db.CreateContainerAsync(new ContainerProperties("all", "/pk")
        {
            DefaultTimeToLive = -1,
            ChangeFeedPolicy = new ChangeFeedPolicy { FullFidelityRetention = TimeSpan.FromMinutes(10) },
        });
        FeedIterator<ChangeFeedItem<Item>> Feed(ChangeFeedStartFrom start) =>
            all.GetChangeFeedIterator<ChangeFeedItem<Item>>(start, ChangeFeedMode.AllVersionsAndDeletes);
        var (seen, token) = await Changes(Feed(ChangeFeedStartFrom.Now()));
        Assert.Empty(seen);
        await all.CreateItemAsync(new Item("1", "a", 1));
        await all.UpsertItemAsync(new Item("1", "a", 2));
        await all.DeleteItemAsync<Item>("1", Pk("a"));
        await all.CreateItemAsync(new Item("2", "a", 3) { ttl = 10 });
        await Advance(10);
        (seen, _) = await Changes(Feed(ChangeFeedStartFrom.ContinuationToken(token)));
        Assert.Equal(
            [ChangeFeedOperationType.Create, ChangeFeedOperationType.Replace, ChangeFeedOperationType.Delete,
                ChangeFeedOperationType.Create, ChangeFeedOperationType.Delete],
            seen.Select(change => change.Metadata.OperationType));
        Assert.Equal([1, 2], seen.Take(2).Select(change => change.Current.n));
        Assert.Equal([false, false, false, false, true], seen.Select(change => change.Metadata.IsTimeToLiveExpired));
    }

    [Fact]
    public async Task TheProcessorGoesOnWhereAnotherWasStopped()
    {
        var leases = await NewContainer("leases", "/id");
        var seen = new List<int>();
        int Count() { lock (seen) return seen.Count; }
        async Task<long> Lag() => (await All(c.GetChangeFeedEstimator("p", leases).GetCurrentStateIterator()))
            .Sum(state => state.EstimatedLag);
        ChangeFeedProcessor Processor(string instance) => c
            .GetChangeFeedProcessorBuilder<Item>("p", (IReadOnlyCollection<Item> changes, CancellationToken _) =>
            {
                lock (seen) seen.AddRange(changes.Select(item => item.n));
                return Task.CompletedTask;
            })
            .WithInstanceName(instance).WithLeaseContainer(leases).WithMaxItems(4)
            .WithStartTime(DateTime.MinValue.ToUniversalTime()).WithPollInterval(TimeSpan.FromMilliseconds(50)).Build();
        var first = Processor("one");
        await first.StartAsync();
        await Eventually.Holds(() => Count() == 12, "12 changes");
        await c.CreateItemAsync(new Item("late", "a", 12));
        await Eventually.Holds(() => Count() == 13, "the late one");
        // A change is handled before its lease says so, and one that is not in the lease is handled again.
        await Eventually.Holds(async () => await Lag() == 0, "the lease of the late one");
        await first.StopAsync();
        for (var i = 13; i < 16; i++) await c.CreateItemAsync(new Item("i" + i, "a", i));
        // Sequence numbers grow with each change, but not by one alone, so that a lag is an estimate.
        Assert.True(await Lag() >= 3);
        var second = Processor("two");
        await second.StartAsync();
        await Eventually.Holds(() => Count() == 16, "what came meanwhile");
        await second.StopAsync();
        Assert.Equal(Enumerable.Range(0, 16), seen);
    }
}
