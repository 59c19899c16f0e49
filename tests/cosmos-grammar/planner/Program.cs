// Asks the planner that the SDK for .NET carries for the plan of each query of a file (a JSON body a
// line), and writes the query and the answer, a JSON line each, to another file:
//
//     dotnet run -- CONFIGURATION QUERIES PLANS
//
// CONFIGURATION is a file with the queryEngineConfiguration of an account. The planner needs no server.
// It is no public interface of the SDK, and called as the SDK of this version calls it.

using System.Collections;
using System.Reflection;
using Microsoft.Azure.Cosmos;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

const BindingFlags Every =
    BindingFlags.Instance | BindingFlags.Static | BindingFlags.Public | BindingFlags.NonPublic;
// What a client that asks for plans says that it wants and can do.
string[] on = ["requireFormattableOrderByQuery", "allowNonValueAggregateQuery", "allowDCount"];

static string Messages(Exception? error) =>
    error == null ? "" : error.Message.Split("\n   at ")[0] + " | " + Messages(error.InnerException);

var configuration = new Dictionary<string, object>();
foreach (var (name, value) in JObject.Parse(File.ReadAllText(args[0])))
    configuration[name] = value!.ToObject<object>()!;
var providers = typeof(CosmosClient).Assembly.GetTypes().Single(t => t.Name == "QueryPartitionProvider");
var provider = Activator.CreateInstance(providers, Every, null, [configuration], null);
var method = providers.GetMethods(Every)
    .First(m => m.Name == "TryGetPartitionedQueryExecutionInfoInternal");
var parameters = method.GetParameters();
var keyType = parameters.Single(p => p.Name == "partitionKeyDefinition").ParameterType;
var key = Activator.CreateInstance(keyType, true)!;
((IList)keyType.GetProperty("Paths")!.GetValue(key)!).Add("/pk");

object? Argument(ParameterInfo parameter, string query) => parameter.Name switch
{
    "querySpecJsonString" => query,
    "partitionKeyDefinition" => key,
    _ when parameter.ParameterType == typeof(bool) => on.Contains(parameter.Name),
    _ when parameter.HasDefaultValue => parameter.DefaultValue,
    _ => parameter.ParameterType.IsValueType
        ? Activator.CreateInstance(parameter.ParameterType)
        : null,
};

object Plan(string query)
{
    try
    {
        var result = method.Invoke(provider, [.. parameters.Select(p => Argument(p, query))])!;
        object? Field(string name) => result.GetType().GetProperty(name)!.GetValue(result);
        return (bool)Field("Succeeded")!
            ? JToken.Parse(JsonConvert.SerializeObject(Field("Result")))
            : "ERROR " + Messages((Exception)Field("Exception")!);
    }
    catch (Exception error)
    {
        return "ERROR " + error.GetBaseException().Message;
    }
}

using var writer = new StreamWriter(args[2]);
foreach (var line in File.ReadLines(args[1]))
    writer.WriteLine(JsonConvert.SerializeObject(new { query = JToken.Parse(line), native = Plan(line) }));
