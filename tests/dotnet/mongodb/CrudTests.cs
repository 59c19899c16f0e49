using MongoDB.Bson;
using MongoDB.Bson.Serialization.Attributes;
using MongoDB.Driver;
using MongoDB.Driver.Linq;

public class CrudTests : MongoTest
{
    public class Product
    {
        public int Id { get; set; }
        public string Sku { get; set; } = "";
        public int Quantity { get; set; }

        [BsonRepresentation(BsonType.Decimal128)]
        public decimal Price { get; set; }
        public List<string> Tags { get; set; } = [];
        public List<Line> Lines { get; set; } = [];
        public DateTime? Seen { get; set; }
    }

    public class Line
    {
        public string Name { get; set; } = "";
        public int N { get; set; }
        public bool Done { get; set; }
    }

    static FilterDefinitionBuilder<Product> F => Builders<Product>.Filter;
    static UpdateDefinitionBuilder<Product> U => Builders<Product>.Update;

    readonly IMongoCollection<Product> c;

    public CrudTests()
    {
        c = Db.GetCollection<Product>("products");
        c.InsertMany(Enumerable.Range(1, 10).Select(i => new Product
        {
            Id = i, Sku = "sku" + i % 3, Quantity = i * 10, Price = i + 0.5m,
            Tags = [i % 2 == 0 ? "even" : "odd", "t" + i],
            Lines = [new() { Name = "a", N = i }, new() { Name = "b", N = 10 - i, Done = i > 5 }],
        }));
    }

    [Fact]
    public async Task InsertFindReplaceDelete()
    {
        await c.InsertOneAsync(new Product { Id = 11 });
        Assert.Equal(11, await c.CountDocumentsAsync(F.Empty));
        Assert.Equal(11, await c.EstimatedDocumentCountAsync());
        Assert.Equal(1, (await c.DeleteOneAsync(p => p.Id == 11)).DeletedCount);
        var upserted = c.ReplaceOne(p => p.Id == 12, new Product { Id = 12 }, new ReplaceOptions { IsUpsert = true });
        Assert.Equal(12, upserted.UpsertedId.AsInt32);
        Assert.Equal(1, c.DeleteMany(p => p.Id > 10).DeletedCount);
        Assert.Equal(10, c.Find(F.Empty).ToList().Count);
        Assert.Null(await c.Find(p => p.Id == 99).FirstOrDefaultAsync());
        Assert.True(await c.Find(p => p.Id == 9).AnyAsync());
    }

    [Fact]
    public void Filters()
    {
        void Ids(FilterDefinition<Product> filter, params int[] want) =>
            Assert.Equal(want, c.Find(filter).SortBy(p => p.Id).Project(p => p.Id).ToList());
        Ids(F.Eq(p => p.Sku, "sku0") & F.Gt(p => p.Quantity, 30), 6, 9);
        Ids(F.In(p => p.Id, [1, 5, 77]), 1, 5);
        Ids(!F.Lt(p => p.Id, 9) | F.Eq(p => p.Id, 1), 1, 9, 10);
        Ids(F.AnyEq(p => p.Tags, "t4"), 4);
        Ids(F.All(p => p.Tags, ["even", "t4"]), 4);
        Ids(F.ElemMatch(p => p.Lines, line => line.Name == "b" && line.N >= 8), 1, 2);
        Ids(F.Regex(p => p.Sku, new BsonRegularExpression("^SKU1$", "i")), 1, 4, 7, 10);
        Ids(F.Mod(p => p.Id, 4, 1), 1, 5, 9);
        Ids(F.Eq(p => p.Seen, null) & F.Lte(p => p.Id, 2), 1, 2);
        Ids(F.BitsAllSet(p => p.Quantity, 0b1010), 1, 3, 9);
        Ids(F.Where(p => p.Lines.Any(line => line.Done) && p.Id > 8), 9, 10);
        Ids("{$expr: {$eq: ['$Quantity', {$multiply: ['$_id', 10]}]}, _id: {$lt: 3}}", 1, 2);
    }

    [Fact]
    public void SortSkipLimitProject()
    {
        var sorted = c.Find(F.Empty).SortByDescending(p => p.Sku).ThenBy(p => p.Id).Skip(1).Limit(3).Project(p => p.Id);
        Assert.Equal([5, 8, 1], sorted.ToList());
        var one = c.Find(p => p.Id == 3).Project(p => new { p.Sku, Total = p.Quantity * 2, First = p.Lines.First().Name });
        Assert.Equal(new { Sku = "sku0", Total = 60, First = "a" }, one.Single());
        Assert.Equal(["sku0", "sku1", "sku2"], c.Distinct(p => p.Sku, p => p.Id > 1).ToList().Order());
    }

    [Fact]
    public void Updates()
    {
        Product After(UpdateDefinition<Product> update, long modified = 1)
        {
            Assert.Equal(modified, c.UpdateOne(p => p.Id == 1, update).ModifiedCount);
            return c.Find(p => p.Id == 1).Single();
        }
        var changed = After(U.Set(p => p.Sku, "new").Inc(p => p.Quantity, 5).Mul(p => p.Price, 2).CurrentDate(p => p.Seen));
        Assert.Equal(("new", 15, 3.0m), (changed.Sku, changed.Quantity, changed.Price));
        Assert.True(changed.Seen > DateTime.UnixEpoch);
        After(U.AddToSetEach(p => p.Tags, ["p", "q"]));
        After(U.AddToSet(p => p.Tags, "p"), 0);
        Assert.Equal(["z", "odd", "t1", "p"], After(U.PushEach(p => p.Tags, ["z"], 4, 0)).Tags);
        Assert.Equal(["odd", "t1", "p"], After(U.Pull(p => p.Tags, "z")).Tags);
        Assert.Equal(["t1", "p"], After(U.PopFirst(p => p.Tags)).Tags);
        Assert.Equal(3, After(U.Min(p => p.Quantity, 3).Unset(p => p.Seen)).Quantity);
    }

    [Fact]
    public void ElementsOfArrays()
    {
        c.UpdateMany(p => p.Id <= 3, U.Set("Lines.$[line].Done", true), new UpdateOptions
        {
            ArrayFilters = [new BsonDocumentArrayFilterDefinition<Line>(Json("{'line.N': {$gte: 8}}"))],
        });
        Assert.Equal(2, c.CountDocuments(p => p.Lines.Any(line => line.Done) && p.Id <= 3));
        c.UpdateOne(p => p.Id == 4 && p.Lines.Any(line => line.Name == "b"),
            U.Set(p => p.Lines.FirstMatchingElement().N, 99));
        c.UpdateOne(p => p.Id == 5, U.Inc(p => p.Lines.AllElements().N, 100));
        int[] N(int id) => c.Find(p => p.Id == id).Single().Lines.Select(line => line.N).ToArray();
        Assert.Equal([4, 99], N(4));
        Assert.Equal([105, 105], N(5));
    }

    [Fact]
    public void FindOneAnd()
    {
        var after = new FindOneAndUpdateOptions<Product> { ReturnDocument = ReturnDocument.After };
        Assert.Equal(10, c.FindOneAndUpdate(p => p.Id == 1, U.Inc(p => p.Quantity, 1)).Quantity);
        Assert.Equal(12, c.FindOneAndUpdate(p => p.Id == 1, U.Inc(p => p.Quantity, 1), after).Quantity);
        var last = new FindOneAndDeleteOptions<Product> { Sort = Builders<Product>.Sort.Descending(p => p.Quantity) };
        Assert.Equal(10, c.FindOneAndDelete(F.Empty, last).Id);
        var upsert = new FindOneAndReplaceOptions<Product> { IsUpsert = true };
        Assert.Null(c.FindOneAndReplace(F.Eq(p => p.Id, 50), new Product { Id = 50 }, upsert));
        var pipeline = new EmptyPipelineDefinition<Product>()
            .AppendStage<Product, Product, Product>("{$set: {Quantity: {$add: ['$Quantity', '$_id']}}}");
        Assert.Equal(55, c.FindOneAndUpdate(p => p.Id == 5, U.Pipeline(pipeline), after).Quantity);
    }

    [Fact]
    public void BulkWrites()
    {
        var done = c.BulkWrite([
            new InsertOneModel<Product>(new Product { Id = 20 }),
            new UpdateOneModel<Product>(F.Eq(p => p.Id, 1), U.Set(p => p.Quantity, 1)),
            new UpdateManyModel<Product>(F.Gt(p => p.Id, 8), U.Inc(p => p.Quantity, 1)),
            new ReplaceOneModel<Product>(F.Eq(p => p.Id, 30), new Product { Id = 30 }) { IsUpsert = true },
            new DeleteManyModel<Product>(F.In(p => p.Id, [3, 4])),
        ]);
        Assert.Equal((1, 4, 4, 2), (done.InsertedCount, done.MatchedCount, done.ModifiedCount, done.DeletedCount));
        Assert.Equal((3, 30), (done.Upserts.Single().Index, done.Upserts.Single().Id.AsInt32));
        // Of several collections at once.
        var both = Client.BulkWrite([
            new BulkWriteInsertOneModel<Product>(c.CollectionNamespace, new Product { Id = 60 }),
            new BulkWriteDeleteOneModel<Product>(c.CollectionNamespace, F.Eq(p => p.Id, 60)),
        ]);
        Assert.Equal((1, 1), (both.InsertedCount, both.DeletedCount));
    }

    [Fact]
    public void FailuresOfBulkWrites()
    {
        WriteModel<Product>[] models =
        [
            new InsertOneModel<Product>(new Product { Id = 21 }), new InsertOneModel<Product>(new Product { Id = 1 }),
            new DeleteOneModel<Product>(F.Eq(p => p.Id, 5)), new InsertOneModel<Product>(new Product { Id = 2 }),
        ];
        var ordered = Assert.Throws<MongoBulkWriteException<Product>>(() => c.BulkWrite(models));
        var failure = Assert.Single(ordered.WriteErrors);
        Assert.Equal((1, 11000, ServerErrorCategory.DuplicateKey), (failure.Index, failure.Code, failure.Category));
        Assert.Equal((2, 1), (ordered.UnprocessedRequests.Count, (int)ordered.Result.InsertedCount));
        c.DeleteOne(p => p.Id == 21);
        var unordered = Assert.Throws<MongoBulkWriteException<Product>>(() =>
            c.BulkWrite(models, new BulkWriteOptions { IsOrdered = false }));
        Assert.Equal([1, 3], unordered.WriteErrors.Select(error => error.Index));
        Assert.Equal((1, 1), (unordered.Result.InsertedCount, unordered.Result.DeletedCount));
    }

    [Fact]
    public void Exceptions()
    {
        var duplicate = Assert.Throws<MongoWriteException>(() => c.InsertOne(new Product { Id = 1 }));
        Assert.Equal(ServerErrorCategory.DuplicateKey, duplicate.WriteError.Category);
        Assert.Contains("index: _id_ dup key: { _id: 1 }", duplicate.WriteError.Message);
        var type = Assert.Throws<MongoWriteException>(() => c.UpdateOne(p => p.Id == 1, "{$inc: {Sku: 1}}"));
        Assert.Equal(14, type.WriteError.Code);
        string Refused(Action call)
        {
            var refused = Assert.Throws<MongoCommandException>(call);
            return $"{refused.Code} {refused.CodeName}";
        }
        Assert.Equal("66 ImmutableField", Refused(() => c.FindOneAndUpdate(p => p.Id == 1, "{$set: {_id: 5}}")));
        Assert.Equal("59 CommandNotFound", Refused(() => Db.RunCommand<BsonDocument>("{noSuchCommand: 1}")));
        Assert.Equal("2 BadValue", Refused(() => c.Find("{a: {$nope: 1}}").ToList()));
        Assert.Equal("27 IndexNotFound", Refused(() => c.Indexes.DropOne("nope")));
    }

    [Fact]
    public async Task FiftyUpsertsOfOneDocument()
    {
        var race = Db.GetCollection<BsonDocument>("race");
        var done = await Task.WhenAll(Enumerable.Range(0, 50).Select(_ =>
            race.UpdateOneAsync("{_id: 'k'}", "{$inc: {n: 1}}", new UpdateOptions { IsUpsert = true })));
        Assert.Equal(50, (await race.Find("{}").SingleAsync())["n"].AsInt32);
        Assert.Single(done, result => result.UpsertedId != null);
    }

    [Fact]
    public async Task CursorsOfManyBatches()
    {
        var many = Db.GetCollection<BsonDocument>("many");
        await many.InsertManyAsync(Enumerable.Range(0, 25_000).Select(i => new BsonDocument("_id", i)));
        using var cursor = await many.FindAsync("{}", new FindOptions<BsonDocument> { BatchSize = 1000, Sort = "{_id: 1}" });
        Assert.Equal(Enumerable.Range(0, 25_000), (await cursor.ToListAsync()).Select(document => document["_id"].AsInt32));
    }

    [Fact]
    public void EveryTypeOfBsonByteForByte()
    {
        var document = new BsonDocument
        {
            { "_id", ObjectId.GenerateNewId() }, { "double", 1.5 }, { "text", "\0x" }, { "inner", new BsonDocument() },
            { "array", new BsonArray { 1, BsonNull.Value } }, { "bytes", new byte[] { 1 } },
            { "guid", new BsonBinaryData(Guid.NewGuid(), GuidRepresentation.Standard) }, { "yes", true },
            { "date", new BsonDateTime(long.MinValue / 2) }, { "regex", new BsonRegularExpression("a.*", "im") },
            { "int", int.MinValue }, { "timestamp", new BsonTimestamp(5, 6) }, { "long", long.MinValue },
            { "decimal", Decimal128.Parse("1.10E+6000") }, { "min", BsonMinKey.Value }, { "nan", double.NaN },
        };
        var types = Db.GetCollection<BsonDocument>("types");
        types.InsertOne(document);
        Assert.Equal(document.ToBson(), types.Find("{}").Single().ToBson());
    }
}
