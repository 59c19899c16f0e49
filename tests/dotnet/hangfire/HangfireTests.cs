using System.Collections.Concurrent;
using Hangfire;
using Hangfire.Common;
using Hangfire.Mongo;
using Hangfire.Mongo.CosmosDB;
using Hangfire.Mongo.Migration.Strategies;
using Hangfire.Mongo.Migration.Strategies.Backup;
using Hangfire.States;
using Hangfire.Storage;
using MongoDB.Bson;
using MongoDB.Driver;

/// <summary>Hangfire.Mongo, on a server with the machine's clock: workers ask the database for the time.</summary>
public class HangfireTests : IDisposable
{
    static readonly MongoClient Client = new(Setting.Of("EBB_JOBS_URI", "mongodb://127.0.0.1:27017"));
    readonly string name = $"jobs-{Guid.NewGuid():N}";

    public void Dispose() => Client.DropDatabase(name);

    // Workers follow a capped collection.
    static MongoStorageOptions Options() => new()
    {
        CheckQueuedJobsStrategy = CheckQueuedJobsStrategy.TailNotificationsCollection,
        QueuePollInterval = TimeSpan.FromMilliseconds(100),
        MigrationOptions = new MongoMigrationOptions
        {
            MigrationStrategy = new MigrateMongoMigrationStrategy(),
            BackupStrategy = new NoneMongoBackupStrategy(),
        },
    };

    static BackgroundJobServer NewServer(JobStorage storage, string server) => new(new BackgroundJobServerOptions
    {
        ServerName = server, WorkerCount = 3, Queues = ["critical", "default"],
        SchedulePollingInterval = TimeSpan.FromMilliseconds(200), ServerCheckInterval = TimeSpan.FromSeconds(1),
        HeartbeatInterval = TimeSpan.FromSeconds(1), ShutdownTimeout = TimeSpan.FromSeconds(5),
    }, storage);

    [Fact]
    public async Task JobsOnTwoServers()
    {
        var storage = new MongoStorage(Client, name, Options());
        using var one = NewServer(storage, "one");
        using var two = NewServer(storage, "two");
        var jobs = new BackgroundJobClient(storage);
        using var connection = storage.GetConnection();
        var monitor = storage.GetMonitoringApi();
        Task Reaches(string id, string state) =>
            Eventually.Holds(() => connection.GetStateData(id)?.Name == state, $"{id} is {state}");

        var many = Enumerable.Range(0, 40).Select(i => jobs.Enqueue(() => Jobs.Run("many" + i))).ToList();
        var critical = jobs.Create(() => Jobs.Run("critical"), new EnqueuedState("critical"));
        var sum = jobs.Enqueue(() => Jobs.Sum(2, 3));
        var later = jobs.Schedule(() => Jobs.Run("later"), TimeSpan.FromSeconds(1));
        var last = jobs.ContinueJobWith(sum, () => Jobs.Run("continued"));
        var retried = jobs.Enqueue(() => Jobs.FailsOnce("retried"));
        var failed = jobs.Enqueue(() => Jobs.Fails());
        foreach (var id in many.Append(critical).Append(later).Append(last).Append(retried)) await Reaches(id, "Succeeded");
        Assert.All(Enumerable.Range(0, 40), i => Assert.Equal(1, Jobs.Runs["many" + i]));
        Assert.Equal("5", connection.GetStateData(sum).Data["Result"]);
        Assert.Equal("1", connection.GetJobParameter(retried, "RetryCount"));
        await Reaches(failed, "Failed");
        Assert.Equal("no", monitor.FailedJobs(0, 5).Single().Value.ExceptionMessage);
        Assert.True(jobs.Delete(failed));

        var recurring = new RecurringJobManager(storage);
        recurring.AddOrUpdate("every second", () => Jobs.Run("recurring"), "* * * * * *");
        await Eventually.Holds(() => Jobs.Runs.GetValueOrDefault("recurring") >= 2, "two runs of a recurring job");
        recurring.RemoveIfExists("every second");
        Assert.Equal(2, monitor.Servers().Count);
        Assert.True(monitor.GetStatistics().Succeeded >= 45);

        using (connection.AcquireDistributedLock("resource", TimeSpan.FromSeconds(5)))
        {
            var late = await Task.Factory.StartNew(() =>
            {
                using var other = storage.GetConnection();
                return Record.Exception(() => other.AcquireDistributedLock("resource", TimeSpan.FromMilliseconds(300)));
            }, TaskCreationOptions.LongRunning);
            Assert.IsType<DistributedLockTimeoutException>(late);
        }
    }

    [Fact]
    public async Task JobsByTheDefaultStrategy()
    {
        // By default workers follow a change stream; without it they would wait for the next poll.
        var storage = new MongoStorage(Client, name, new MongoStorageOptions
        {
            QueuePollInterval = TimeSpan.FromHours(1), MigrationOptions = Options().MigrationOptions,
        });
        using var server = NewServer(storage, "default");
        var jobs = new BackgroundJobClient(storage);
        await Eventually.Holds(
            () => jobs.Enqueue(() => Jobs.Run("watched")) != null && Jobs.Runs.GetValueOrDefault("watched") >= 10,
            "ten jobs have run");
    }

    [Fact]
    public async Task TheStorageForCosmos()
    {
        var storage = new CosmosStorage(Client, name, new CosmosStorageOptions
        {
            CheckQueuedJobsStrategy = CheckQueuedJobsStrategy.Poll,
            QueuePollInterval = TimeSpan.FromMilliseconds(100),
            MigrationOptions = Options().MigrationOptions,
        });
        using var server = NewServer(storage, "cosmos");
        var id = new BackgroundJobClient(storage).Enqueue(() => Jobs.Run("cosmos"));
        await Eventually.Holds(() => Jobs.Runs.GetValueOrDefault("cosmos") == 1, id);
    }

    [Fact]
    public async Task JobsExpireByAnIndex()
    {
        // Hangfire's own cleaner looks once an hour.
        var options = Options();
        options.SupportsCappedCollection = false;
        options.CheckQueuedJobsStrategy = CheckQueuedJobsStrategy.Poll;
        var storage = new MongoStorage(Client, name, options);
        var graph = Client.GetDatabase(name).GetCollection<BsonDocument>("hangfire.jobGraph");
        graph.Indexes.DropOne("ExpireAt");
        graph.Indexes.CreateOne(new CreateIndexModel<BsonDocument>(
            "{ExpireAt: 1}", new CreateIndexOptions { ExpireAfter = TimeSpan.Zero }));
        using var server = NewServer(storage, "expiry");
        using var connection = storage.GetConnection();
        var id = new BackgroundJobClient(storage).Enqueue(() => Jobs.ShortLived("short"));
        await Eventually.Holds(() => Jobs.Runs.GetValueOrDefault("short") == 1, "the job has run");
        await Eventually.Holds(() => connection.GetJobData(id) == null, "the job has expired");
    }
}

public static class Jobs
{
    public static readonly ConcurrentDictionary<string, int> Runs = new();

    public static void Run(string key) => Runs.AddOrUpdate(key, 1, (_, runs) => runs + 1);

    public static int Sum(int a, int b) => a + b;

    [AutomaticRetry(Attempts = 1, DelaysInSeconds = [0])]
    public static void FailsOnce(string key)
    {
        Run(key);
        if (Runs[key] == 1) throw new InvalidOperationException("not yet");
    }

    [AutomaticRetry(Attempts = 0)]
    public static void Fails() => throw new InvalidOperationException("no");

    [Short]
    public static void ShortLived(string key) => Run(key);
}

/// <summary>Has jobs that are done kept for a second instead of a day.</summary>
public class ShortAttribute : JobFilterAttribute, IApplyStateFilter
{
    public void OnStateApplied(ApplyStateContext context, IWriteOnlyTransaction transaction) =>
        context.JobExpirationTimeout = TimeSpan.FromSeconds(1);

    public void OnStateUnapplied(ApplyStateContext context, IWriteOnlyTransaction transaction) { }
}
