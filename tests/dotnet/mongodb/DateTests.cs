using MongoDB.Bson;
using MongoDB.Bson.Serialization.Attributes;
using MongoDB.Driver;

/// <summary>TTL indexes on dates, exact to the millisecond.</summary>
public class DateTests : ClockTest
{
    class At<T>
    {
        public string Id { get; set; } = "";

        [BsonElement("at")]
        public T? Value { get; set; }
    }

    [Fact]
    public void DatesThatExpireAndValuesThatDoNot()
    {
        var c = NewCollection<BsonDocument>(10, "at");
        var now = Now();
        void Put<T>(string id, T at) =>
            Db.GetCollection<At<T>>(c.CollectionNamespace.CollectionName).InsertOne(new() { Id = id, Value = at });
        Put("utc", now);
        Put("local", now.ToLocalTime());
        Put("millisecond", now.AddMilliseconds(250));
        Put("past", now.AddSeconds(-3));
        Put("future", now.AddSeconds(100));
        Put("earliest of an array", new[] { now.AddSeconds(50), now.AddSeconds(5), now.AddSeconds(20) });
        Put("null", (DateTime?)null);
        Put("text", now.ToString("O"));
        Put("number", 5L);
        Put("largest", DateTime.MaxValue);
        Put("gone at once", DateTime.UnixEpoch);
        Lifetimes(c, ("utc", 10), ("local", 10), ("millisecond", 10.25), ("past", 7), ("future", 110),
            ("earliest of an array", 15), ("null", -1), ("text", -1), ("number", -1), ("largest", -1));
    }

    public class Message
    {
        public string Id { get; set; } = "";

        // Without this the driver stores a document, which no index on `at` makes expire.
        [BsonElement("at"), BsonRepresentation(BsonType.DateTime)]
        public DateTimeOffset At { get; set; }
    }

    [Fact]
    public void ADateTimeOffsetExpiresOnlyWhereItIsStoredAsADate()
    {
        var c = NewCollection<BsonDocument>(10, "at");
        var name = c.CollectionNamespace.CollectionName;
        var now = new DateTimeOffset(Now()).ToOffset(TimeSpan.FromHours(5.5));
        Db.GetCollection<Message>(name).InsertOne(new() { Id = "date", At = now });
        Db.GetCollection<At<DateTimeOffset>>(name).InsertOne(new() { Id = "default", Value = now });
        Assert.Equal(BsonType.Document, c.Find("{_id: 'default'}").Single()["at"].BsonType);
        Lifetimes(c, ("date", 10), ("default", -1));
        // The document has the date in it.
        var inner = NewCollection<At<DateTimeOffset>>(10, "at.DateTime");
        inner.InsertOne(new() { Id = "inner", Value = new DateTimeOffset(Now()) });
        Lifetimes(inner, ("inner", 10));
    }

    public class Session
    {
        public string Id { get; set; } = "";
        public DateTime ExpiresAt { get; set; }
    }

    [Fact]
    public void ASlidingSessionByATypedIndex()
    {
        var sessions = Db.GetCollection<Session>("sessions");
        sessions.Indexes.CreateOne(new CreateIndexModel<Session>(
            Builders<Session>.IndexKeys.Ascending(session => session.ExpiresAt),
            new CreateIndexOptions { ExpireAfter = TimeSpan.Zero }));
        var time = new ServerTime(Client);
        var begun = time.GetUtcNow().UtcDateTime;
        sessions.InsertOne(new() { Id = "ada", ExpiresAt = begun.AddMinutes(20) });
        Advance(600);
        Assert.Equal(begun.AddMinutes(10), time.GetUtcNow().UtcDateTime);
        sessions.UpdateOne(session => session.Id == "ada",
            Builders<Session>.Update.Set(session => session.ExpiresAt, begun.AddMinutes(30)));
        Lifetimes(sessions, ("ada", 1200));
    }

    [Fact]
    public void PartialIndexesAndTwoIndexes()
    {
        var jobs = Db.GetCollection<BsonDocument>("jobs");
        jobs.Indexes.CreateOne(new CreateIndexModel<BsonDocument>("{at: 1}", new CreateIndexOptions<BsonDocument>
        {
            ExpireAfter = TimeSpan.FromSeconds(10),
            PartialFilterExpression = Builders<BsonDocument>.Filter.Eq("state", "done"),
        }));
        var now = Now();
        jobs.InsertMany([
            new() { { "_id", "done" }, { "state", "done" }, { "at", now } },
            new() { { "_id", "open" }, { "state", "open" }, { "at", now } },
        ]);
        Lifetimes(jobs, ("done", 10), ("open", -1));
        jobs.UpdateOne("{_id: 'open'}", "{$set: {state: 'done'}}");
        Assert.Empty(Ids(jobs));
        var both = NewCollection<BsonDocument>(10);
        both.Indexes.CreateOne(new CreateIndexModel<BsonDocument>(
            "{at: 1}", new CreateIndexOptions { ExpireAfter = TimeSpan.Zero }));
        now = Now();
        both.InsertMany([
            new() { { "_id", "date" }, { "at", now.AddSeconds(4) } },
            new() { { "_id", "ts" }, { "at", now.AddSeconds(40) } },
        ]);
        Lifetimes(both, ("date", 4), ("ts", 10));
    }
}

/// <summary>The time of the server, for code that asks a TimeProvider.</summary>
public class ServerTime(IMongoClient client) : TimeProvider
{
    public override DateTimeOffset GetUtcNow() =>
        client.GetDatabase("admin").RunCommand<BsonDocument>(new BsonDocument("ebbClock", 1))["now"].ToUniversalTime();
}
