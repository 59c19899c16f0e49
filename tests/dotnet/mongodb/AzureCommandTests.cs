using MongoDB.Bson;
using MongoDB.Driver;

/// <summary>
/// Azure Cosmos DB's own commands, in the order in which its tutorials send them: a collection with a shard key and
/// throughput, documents, and the charge of an operation.
/// </summary>
public class AzureCommandTests : ClockTest
{
    BsonDocument Action(string name, string more = "{}")
    {
        var command = new BsonDocument("customAction", name);
        command.AddRange(Json(more));
        return Db.RunCommand<BsonDocument>(command);
    }

    BsonDocument Shown(string name) => Action("GetCollection", $"{{collection: '{name}', showIndexes: true}}");

    /// <summary>Asserts the charge of the last operation of a session, read as the documented program does.</summary>
    void Charged(IClientSessionHandle session, string command, double charge)
    {
        var stats = Db.RunCommand<Dictionary<string, object>>(session, Json("{getLastRequestStatistics: 1}"));
        Assert.Equal("GetRequestStatisticsResponse", stats["_t"]);
        Assert.Equal(command, stats["CommandName"]);
        Assert.Equal(charge, (double)stats["RequestCharge"]);
        Assert.True((double)stats["RequestDurationInMilliSeconds"] >= 0);
    }

    [Fact]
    public void ACollectionWithShardKeyThroughputAndDefault()
    {
        Action("CreateDatabase", "{offerThroughput: 1000}");
        Action("CreateCollection", """
            {collection: 'students', offerThroughput: 400, shardKey: 'university', defaultTtl: 60,
             indexes: [{key: {_id: 1}, name: '_id_1'}, {key: {name: 1}, name: 'by_name'}]}
            """);
        var shown = Shown("students");
        Assert.Equal(Json("{university: 'hashed'}"), shown["shardKeyDefinition"]);
        Assert.Equal((400, 60), (shown["provisionedThroughput"].AsInt32, shown["defaultTtl"].AsInt32));
        Assert.Equal(["_id_", "by_name", "_ts_1"], shown["indexes"].AsBsonArray.Select(index => index["name"].AsString));
        var students = Db.GetCollection<BsonDocument>("students");
        var rest = Now().Millisecond;
        if (rest != 0) Advance((1000 - rest) / 1000.0);
        using (var session = Client.StartSession())
        {
            students.InsertOne(session, Json("{_id: '1', university: 'a', name: 'n'}"));
            Charged(session, "insert", 5);
            Assert.Equal("n", students.Find(session, "{_id: '1'}").Single()["name"]);
            Charged(session, "find", 1);
        }
        Lifetimes(students, ("1", 60));
    }

    [Fact]
    public void ThroughputIsChangedAndScalesItself()
    {
        Action("CreateCollection", "{collection: 'c', offerThroughput: 400}");
        Action("UpdateCollection", "{collection: 'c', offerThroughput: 1200}");
        Assert.Equal(1200, Shown("c")["provisionedThroughput"]);
        Action("UpdateCollection", "{collection: 'c', autoScaleSettings: {maxThroughput: 4000}}");
        Assert.Equal((400, Json("{maxThroughput: 4000}")),
            (Shown("c")["provisionedThroughput"].AsInt32, Shown("c")["autoScaleSettings"]));
    }

    [Fact]
    public void CollectionsAreSharded()
    {
        var name = $"{Db.DatabaseNamespace.DatabaseName}.c";
        var admin = Client.GetDatabase("admin");
        admin.RunCommand<BsonDocument>(new BsonDocument("enableSharding", Db.DatabaseNamespace.DatabaseName));
        var shard = new BsonDocument { { "shardCollection", name }, { "key", Json("{university: 'hashed'}") } };
        foreach (var reply in new[] { Db.RunCommand<BsonDocument>(shard), admin.RunCommand<BsonDocument>(shard) })
        {
            Assert.Equal(("ShardCollectionResponse", name), (reply["_t"].AsString, reply["collectionsharded"].AsString));
        }
        Db.RunCommand<BsonDocument>(Json("{create: 'made', shardKey: 'a.b'}"));
        Assert.Equal(new BsonDocument("a.b", "hashed"), Shown("made")["shardKeyDefinition"]);
    }

    [Theory]
    [InlineData("CreateCollection", "{collection: 'c', offerThroughput: 399}", 2)]
    [InlineData("GetCollection", "{collection: 'c'}", 26)]
    [InlineData("Nothing", "{}", 59)]
    public void WrongArgumentsAreRefusedAndChangeNothing(string name, string more, int code)
    {
        Assert.Equal(code, Assert.Throws<MongoCommandException>(() => Action(name, more)).Code);
        Assert.Empty(Db.ListCollectionNames().ToList());
    }

    /// <summary>A server that does not enforce throughput accepts all documents.</summary>
    [Fact]
    public void AnErrorOfThroughputNamesTheTimeToWait()
    {
        Action("CreateCollection", "{collection: 'c', offerThroughput: 400}");
        var c = Db.GetCollection<BsonDocument>("c");
        try
        {
            c.InsertMany(Enumerable.Range(0, 1000).Select(n => new BsonDocument("_id", n)));
            Assert.Equal(1000, c.CountDocuments("{}"));
        }
        catch (MongoBulkWriteException<BsonDocument> error)
        {
            Assert.Equal(16500, error.WriteErrors[0].Code);
            Assert.Matches(@"RetryAfterMs=\d+,", error.WriteErrors[0].Message);
        }
    }
}
