using MongoDB.Bson;
using MongoDB.Driver;

/// <summary>A test with a database of its own.</summary>
public abstract class MongoTest : IDisposable
{
    protected static readonly MongoClient Client = new(Setting.Of("EBB_URI", "mongodb://127.0.0.1:27017"));
    protected readonly IMongoDatabase Db = Client.GetDatabase($"test-{Guid.NewGuid():N}");

    public void Dispose() => Client.DropDatabase(Db.DatabaseNamespace.DatabaseName);

    protected static BsonDocument Json(string json) => BsonDocument.Parse(json);
}

/// <summary>A test that moves the clock of the server.</summary>
[Collection("clock")]
public abstract class ClockTest : MongoTest
{
    protected static BsonDocument Clock(string? name = null, BsonValue? value = null)
    {
        var command = new BsonDocument("ebbClock", 1);
        if (name != null) command.Add(name, value);
        return Client.GetDatabase("admin").RunCommand<BsonDocument>(command);
    }

    protected static DateTime Now() => Clock()["now"].ToUniversalTime();

    protected static void Advance(double seconds) => Clock("advanceSeconds", seconds);

    /// <summary>Returns a new collection with a TTL index.</summary>
    protected IMongoCollection<T> NewCollection<T>(double seconds, string field = "_ts")
    {
        var collection = Db.GetCollection<T>($"c{Guid.NewGuid():N}");
        collection.Indexes.CreateOne(new CreateIndexModel<T>(
            Builders<T>.IndexKeys.Ascending(field),
            new CreateIndexOptions { ExpireAfter = TimeSpan.FromSeconds(seconds) }));
        // A lifetime by `_ts` counts from a whole second.
        var rest = Now().Millisecond;
        if (rest != 0) Advance((1000 - rest) / 1000.0);
        return collection;
    }

    protected static List<string> Ids<T>(IMongoCollection<T> collection) =>
        collection.Distinct<string>("_id", FilterDefinition<T>.Empty).ToList().Order().ToList();

    /// <summary>
    /// Asserts when each document of a collection expires, in seconds from now, to the millisecond; -1 is never.
    /// </summary>
    protected static void Lifetimes<T>(IMongoCollection<T> collection, params (string Id, double Seconds)[] all)
    {
        double at = 0;
        void To(double seconds)
        {
            Advance(seconds - at);
            at = seconds;
            var there = all.Where(one => one.Seconds < 0 || one.Seconds > seconds).Select(one => one.Id).Order();
            Assert.Equal(there, Ids(collection));
        }
        foreach (var deadline in all.Select(one => one.Seconds).Where(seconds => seconds > 0).Distinct().Order())
        {
            To(deadline - 0.001);
            To(deadline);
        }
    }
}
