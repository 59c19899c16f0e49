using MongoDB.Bson;
using MongoDB.Bson.Serialization.Attributes;
using MongoDB.Bson.Serialization.Options;
using MongoDB.Driver;

public class TimeToLiveTests : ClockTest
{
    public class Order
    {
        public string Id { get; set; } = "";

        [BsonElement("ttl"), BsonIgnoreIfNull]
        public int? TimeToLive { get; set; }
    }

    [Fact]
    public void ADefaultAndAnOverride()
    {
        var orders = Db.GetCollection<Order>("orders");
        orders.Indexes.CreateOne(new CreateIndexModel<Order>(
            Builders<Order>.IndexKeys.Ascending("_ts"),
            new CreateIndexOptions { ExpireAfter = TimeSpan.FromDays(90) }));
        orders.InsertMany([
            new() { Id = "default" },
            new() { Id = "month", TimeToLive = 30 * 86400 },
            new() { Id = "never", TimeToLive = -1 },
        ]);
        Assert.False(orders.Find(order => order.Id == "default").As<BsonDocument>().Single().Contains("ttl"));
        Lifetimes(orders, ("default", 90 * 86400), ("month", 30 * 86400), ("never", -1));
    }

    [Fact]
    public void WhatHasExpiredIsSeenByNoPath()
    {
        var c = NewCollection<BsonDocument>(10);
        c.InsertOne(Json("{_id: 'a', n: 1}"));
        using var cursor = c.Find("{}").ToCursor();
        Advance(10);
        Assert.Equal(0, c.CountDocuments("{}"));
        Assert.Empty(c.Find("{}").ToList());
        Assert.Empty(c.Aggregate().Match("{}").ToList());
        Assert.Empty(c.AsQueryable().ToList());
        Assert.Empty(Ids(c));
        Assert.Null(c.FindOneAndDelete("{}"));
        Assert.Equal(0, c.DeleteMany("{}").DeletedCount);
        Assert.Equal(0, c.UpdateOne("{_id: 'a'}", "{$set: {n: 2}}").MatchedCount);
        c.InsertOne(Json("{_id: 'a'}"));
    }

    [Fact]
    public void EveryWriteBeginsItAnew()
    {
        var c = NewCollection<BsonDocument>(10);
        string[] ids = ["left", "same", "set", "replaced", "found", "longer", "never", "many"];
        c.InsertMany(ids.Select(id => new BsonDocument { { "_id", id }, { "a", 1 } }));
        Advance(9);
        FilterDefinition<BsonDocument> Id(string id) => new BsonDocument("_id", id);
        var update = Builders<BsonDocument>.Update;
        Assert.Equal(0, c.UpdateOne(Id("same"), update.Set("a", 1)).ModifiedCount);
        c.UpdateOne(Id("set"), update.Set("a", 2));
        c.ReplaceOne(Id("replaced"), Json("{a: 3}"));
        c.FindOneAndUpdate(Id("found"), update.CurrentDate("at"));
        c.UpdateOne(Id("longer"), update.Set("ttl", 30));
        c.UpdateOne(Id("never"), update.Set("ttl", -1));
        c.BulkWrite([new UpdateManyModel<BsonDocument>(Id("many"), update.Inc("a", 1))]);
        Lifetimes(c, ("left", 1), ("same", 1), ("set", 10), ("replaced", 10), ("found", 10), ("longer", 30),
            ("never", -1), ("many", 10));
    }

    [Fact]
    public void ValuesThatCountAndThatDoNot()
    {
        var c = NewCollection<BsonDocument>(10);
        (string Id, BsonValue Ttl, double Lives)[] all =
        [
            ("int", 5, 5), ("long", 5L, 5), ("double", 5.0, 5), ("never", -1, -1), ("never, double", -1.0, -1),
            ("largest", int.MaxValue, -1), ("half", 5.5, 10), ("zero", 0, 10), ("minus five", -5, 10),
            ("too large", 2147483648L, 10), ("decimal", Decimal128.Parse("5"), 10), ("text", "5", 10),
            ("null", BsonNull.Value, 10), ("bool", true, 10), ("nan", double.NaN, 10), ("array", new BsonArray { 5 }, 10),
        ];
        c.InsertMany(all.Select(one => new BsonDocument { { "_id", one.Id }, { "ttl", one.Ttl } }));
        foreach (var one in all) Assert.Equal(one.Ttl, c.Find(new BsonDocument("_id", one.Id)).Single()["ttl"]);
        c.InsertMany([Json("{_id: 'pascal', Ttl: 5}"), Json("{_id: 'inner', a: {ttl: 5}}")]);
        Lifetimes(c, [.. all.Select(one => (one.Id, one.Lives)), ("pascal", 10), ("inner", 10)]);
    }

    class Typed<T>
    {
        public string Id { get; set; } = "";

        [BsonElement("ttl")]
        public T? Ttl { get; set; }
    }

    class Seconds
    {
        public string Id { get; set; } = "";

        [BsonElement("ttl"), BsonTimeSpanOptions(BsonType.Int32, TimeSpanUnits.Seconds)]
        public TimeSpan Ttl { get; set; }
    }

    [Fact]
    public void PropertiesOfClasses()
    {
        var c = NewCollection<BsonDocument>(10);
        void Put<T>(string id, T ttl) => Of<Typed<T>>().InsertOne(new() { Id = id, Ttl = ttl });
        IMongoCollection<T> Of<T>() => Db.GetCollection<T>(c.CollectionNamespace.CollectionName);
        Put("int", 5);
        Put("long", 5L);
        Put("short", (short)5);
        Put("double", 5.0);
        Put("nullable", (int?)5);
        Put("null", (int?)null);
        Put("decimal", 5m);
        Put("time span", TimeSpan.FromSeconds(5)); // stored as a text
        Of<Seconds>().InsertOne(new() { Id = "seconds", Ttl = TimeSpan.FromSeconds(5) });
        Lifetimes(c, ("int", 5), ("long", 5), ("short", 5), ("double", 5), ("nullable", 5), ("null", 10),
            ("decimal", 10), ("time span", 10), ("seconds", 5));
    }

    [Fact]
    public void TheIndexOfADefault()
    {
        var c = NewCollection<BsonDocument>(10);
        var index = c.Indexes.List().ToList().Single(index => index["name"] == "_ts_1");
        Assert.Equal(10, index["expireAfterSeconds"].ToInt32());
        c.InsertMany([Json("{_id: 'a'}"), Json("{_id: 'b', ttl: 20}")]);
        var reply = Db.RunCommand<BsonDocument>(new BsonDocument
        {
            { "collMod", c.CollectionNamespace.CollectionName },
            { "index", Json("{keyPattern: {_ts: 1}, expireAfterSeconds: 30}") },
        });
        Assert.Equal((10, 30), (reply["expireAfterSeconds_old"].ToInt32(), reply["expireAfterSeconds_new"].ToInt32()));
        Lifetimes(c, ("a", 30), ("b", 20));
        // Without the index nothing expires, and what has expired does not come back.
        c.InsertOne(Json("{_id: 'c', ttl: 5}"));
        c.Indexes.DropOne("_ts_1");
        Advance(1000);
        Assert.Equal(["c"], Ids(c));
    }

    [Fact]
    public void TsIsReserved()
    {
        var c = NewCollection<BsonDocument>(10);
        var refused = Assert.Throws<MongoWriteException>(() => c.InsertOne(Json("{_id: 'a', _ts: 5}")));
        Assert.Equal(2, refused.WriteError.Code);
        c.InsertOne(Json("{_id: 'a'}"));
        Assert.Equal(Json("{_id: 'a'}"), c.Find("{}").Single());
        Assert.Equal(0, c.CountDocuments("{_ts: {$gt: 0}}"));
    }
}
